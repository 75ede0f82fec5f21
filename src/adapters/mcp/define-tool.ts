/** One tool of the MCP server: its name, what it takes, which right it needs, and what it asks the API. */
import type { ZodRawShape, z } from 'zod';
import type { Right } from '../../core/keys/rights.ts';
import type { ApiAnswer, ApiCall } from './api-call.ts';

/** What a tool does to what is there: programs ask a person before some. */
export type Effect = 'none' | 'changes' | 'destroys' | 'sends';

export interface Tool<Shape extends ZodRawShape = ZodRawShape> {
  readonly name: string;
  readonly title: string;
  readonly description: string;
  /** Of the operation that it asks: a key without it is not offered the tool. */
  readonly right: Right;
  readonly effect: Effect;
  readonly input: Shape;
  /** What an answer of 2xx means for the model. Throws `ApiRefusal` for others. */
  run(call: ApiCall, input: z.infer<z.ZodObject<Shape>>): Promise<object>;
}

/** Keeps the type of the input for `run`, and loses it for the list of all tools. */
export function defineTool<Shape extends ZodRawShape>(tool: Tool<Shape>): Tool {
  return tool as unknown as Tool;
}

/** The API said no. */
export class ApiRefusal extends Error {
  readonly answer: ApiAnswer;

  constructor(answer: ApiAnswer) {
    super(`the API answered ${answer.status}`);
    this.answer = answer;
  }
}

/** The body of an answer of 2xx. */
export function bodyOf<T>(answer: ApiAnswer): T {
  if (answer.status < 200 || answer.status > 299) throw new ApiRefusal(answer);
  return answer.json as T;
}
