/** JSON-RPC 2.0 for a server that keeps nothing between two messages: what a client sends, and what it gets for it. */

export const INVALID_REQUEST = -32_600;
export const METHOD_NOT_FOUND = -32_601;
export const INVALID_PARAMS = -32_602;
export const INTERNAL_ERROR = -32_603;
export const PARSE_ERROR = -32_700;
/** The first of the codes that a server may define. */
export const SERVER_ERROR = -32_000;

export type Params = Readonly<Record<string, unknown>>;
export type Id = string | number;

export interface Message {
  readonly jsonrpc: '2.0';
  /** Missing: a notification, which has no answer. */
  readonly id?: Id;
  /** Missing: an answer to a request that this server never makes. */
  readonly method?: string;
  readonly params?: Params;
}

export interface Answer {
  readonly jsonrpc: '2.0';
  /** null: the id could not be read. */
  readonly id: Id | null;
  readonly result?: unknown;
  readonly error?: { readonly code: number; readonly message: string };
}

/** The answer to a request that is refused. */
export class RpcError extends Error {
  readonly code: number;

  constructor(code: number, message: string) {
    super(message);
    this.name = 'RpcError';
    this.code = code;
  }
}

export type Methods = Readonly<Record<string, (params: Params) => unknown>>;

export const toError = (code: number, message: string, id: Id | null = null): Answer => ({
  jsonrpc: '2.0',
  id,
  error: { code, message },
});

export const isObject = (value: unknown): boolean =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

export function isMessage(value: unknown): value is Message {
  if (!isObject(value)) return false;
  const { jsonrpc, id, method, params, result, error } = value as Readonly<Record<string, unknown>>;
  const isId = typeof id === 'string' || Number.isSafeInteger(id);
  if (jsonrpc !== '2.0' || (id !== undefined && !isId)) return false;
  if (method === undefined) return isId && (result !== undefined || error !== undefined);
  return typeof method === 'string' && (params === undefined || isObject(params));
}

/** null for what has no answer. */
export async function answerMessage(message: Message, methods: Methods): Promise<Answer | null> {
  const { id, method, params = {} } = message;
  if (id === undefined || method === undefined) return null;
  const run = Object.hasOwn(methods, method) ? methods[method] : undefined;
  if (run === undefined) return toError(METHOD_NOT_FOUND, 'Method not found', id);
  try {
    return { jsonrpc: '2.0', id, result: await run(params) };
  } catch (error) {
    const code = error instanceof RpcError ? error.code : INTERNAL_ERROR;
    return toError(code, error instanceof Error ? error.message : String(error), id);
  }
}
