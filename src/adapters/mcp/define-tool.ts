/** One tool of the MCP server: its name, its input, the right it needs, and its requests to the API. */
import type { ZodRawShape, z } from 'zod';
import type { Right } from '../../core/keys/rights.ts';
import type { ApiAnswer, ApiCall } from './api-call.ts';

/** The effect of a tool on existing data: before some effects, programs ask the user. */
export type Effect = 'none' | 'changes' | 'destroys' | 'sends';

export interface Tool<Shape extends ZodRawShape = ZodRawShape> {
  readonly name: string;
  readonly title: string;
  readonly description: string;
  /** The right of the operation that the tool calls: a key without it is not offered the tool. */
  readonly right: Right;
  readonly effect: Effect;
  readonly input: Shape;
  /** Turns a 2xx answer into a result for the model. Throws `ApiRefusal` for other answers. */
  run(call: ApiCall, input: z.infer<z.ZodObject<Shape>>): Promise<object>;
}

/** Keeps the type of the input for `run`, and erases it for the list of all tools. */
export function defineTool<Shape extends ZodRawShape>(tool: Tool<Shape>): Tool {
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
