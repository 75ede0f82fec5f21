/** One tool of the MCP server: its name, its input and its result, the rights that it needs, and its requests to the API. */
import type { z } from 'zod';
import type { Right } from '../../core/keys/rights.ts';
import type { ApiAnswer, ApiCall } from './api-call.ts';

/** The effect of a tool on existing data: before some effects, programs ask the user. */
export type Effect = 'none' | 'changes' | 'destroys' | 'sends';

/** Refuses fields that it does not name, in nested objects as well. */
type Strict = z.ZodObject<z.ZodRawShape, z.core.$strict>;

export interface Tool<Input extends Strict = Strict, Output extends Strict = Strict> {
  readonly name: string;
  readonly title: string;
  readonly description: string;
  /** All rights of the operations that the tool calls: a key that lacks one is not offered the tool. */
  readonly rights: readonly Right[];
  readonly effect: Effect;
  readonly input: Input;
  readonly output: Output;
  /** Turns a 2xx answer into a result for the model. Throws `ApiRefusal` for other answers, and `ServiceError` for a bad input. */
  run(call: ApiCall, input: z.infer<Input>, context: ToolContext): Promise<z.infer<Output>>;
}

export interface ToolContext {
  /** The same for every call of this tool by this caller with the same input: see `idempotency.ts`. */
  readonly derivedKey: string;
}

/** Keeps the types of input and result for `run`, and erases them for the list of all tools. */
export function defineTool<Input extends Strict, Output extends Strict>(tool: Tool<Input, Output>): Tool {
  return tool as unknown as Tool;
}

/** The API refused the request. */
export class ApiRefusal extends Error {
  readonly answer: ApiAnswer;

  constructor(answer: ApiAnswer) {
    super(`the API answered ${answer.status}`);
    this.answer = answer;
  }
}

/** The body of a 2xx answer. */
export function bodyOf<T>(answer: ApiAnswer): T {
  if (answer.status < 200 || answer.status > 299) throw new ApiRefusal(answer);
  return answer.json as T;
}
