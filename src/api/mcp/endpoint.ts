/**
 * The MCP server for one HTTP request (streamable HTTP without sessions): nothing is kept between two requests, so any process can answer
 * any of them. The tools are loaded with the first request: most services never need them.
 */
import { readAnswer, targetOf, type ApiRequest, type RawAnswer } from './api-call.ts';
import { findUnstorable } from '../../core/storable-text.ts';
import type { McpServerOptions } from './create-mcp-server.ts';
import { answerMessage, INVALID_REQUEST, isMessage, SERVER_ERROR, toError, type Id } from './json-rpc.ts';

export interface McpAnswer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

export interface McpRequest extends Pick<McpServerOptions, 'mayUse' | 'caller'> {
  /** `target`: path and query. */
  readonly call: (request: ApiRequest, target: string) => Promise<RawAnswer>;
  readonly headers: Readonly<Record<string, string>>;
  /** The body, as parsed JSON. */
  readonly message: unknown;
}

export type McpEndpoint = (request: McpRequest) => Promise<McpAnswer>;

/** Messages in one request; the newest version of the protocol allows one alone. */
const MAX_MESSAGES = 100;

export function createMcpEndpoint(version: string): McpEndpoint {
  return async ({ headers, message, call, mayUse, caller }) => {
    const refused = refuseUnstorable(message) ?? refuseHeaders(headers);
    if (refused !== null) return refused;
    const messages = Array.isArray(message) ? message : [message];
    if (messages.length > MAX_MESSAGES)
      return refuse(400, INVALID_REQUEST, `more than ${MAX_MESSAGES} messages at once`);
    if (messages.length === 0 || !messages.every(isMessage))
      return refuse(400, INVALID_REQUEST, 'the body is no message of JSON-RPC 2.0');
    if (messages.length > 1 && messages.some(({ method }) => method === 'initialize'))
      return refuse(400, INVALID_REQUEST, 'initialize comes alone');
    const { createMcpServer, PROTOCOL_VERSIONS } = await import('./create-mcp-server.ts');
    const asked = headers['mcp-protocol-version'];
    if (asked !== undefined && messages[0]?.method !== 'initialize' && !PROTOCOL_VERSIONS.includes(asked))
      return refuse(
        400,
        SERVER_ERROR,
        `unsupported protocol version; these are: ${PROTOCOL_VERSIONS.join(', ')}`,
      );
    const methods = createMcpServer({
      call: async (one) => readAnswer(one, await call(one, targetOf(one))),
      mayUse,
      caller,
      version,
    });
    const answers = await Promise.all(messages.map((one) => answerMessage(one, methods)));
    const given = answers.filter((answer) => answer !== null);
    if (given.length === 0) return { status: 202, headers: {}, body: '' };
    return toAnswer(200, Array.isArray(message) ? given : given[0]);
  };
}

const toAnswer = (status: number, json: unknown): McpAnswer => ({
  status,
  headers: { 'content-type': 'application/json' },
  body: JSON.stringify(json),
});

const refuse = (status: number, code: number, text: string, id: Id | null = null): McpAnswer =>
  toAnswer(status, toError(code, text, id));

/** Streamable HTTP: a client takes both types, and sends JSON. */
function refuseHeaders({ accept = '', 'content-type': type = '' }: McpRequest['headers']): McpAnswer | null {
  if (!accept.includes('application/json') || !accept.includes('text/event-stream'))
    return refuse(406, SERVER_ERROR, 'Accept must name application/json and text/event-stream');
  if (type.split(';')[0]?.trim().toLowerCase() !== 'application/json')
    return refuse(415, SERVER_ERROR, 'Content-Type must be application/json');
  return null;
}

/**
 * The arguments of a tool are checked with the rest of them, and their error names the argument. Of anything else with NUL or half of a surrogate
 * pair, null: there is none.
 */
function refuseUnstorable(message: unknown): McpAnswer | null {
  const found = findUnstorable(withoutArguments(message));
  if (found === null) return null;
  const { id } = Object(message) as { readonly id?: unknown };
  const isId = (typeof id === 'string' && found !== 'id') || typeof id === 'number';
  return refuse(400, INVALID_REQUEST, `${found} contains NUL or half of a surrogate pair`, isId ? id : null);
}

function withoutArguments(message: unknown): unknown {
  const { params, ...rest } = Object(message) as { readonly params?: unknown };
  if (params === null || typeof params !== 'object' || Array.isArray(params)) return message;
  const { arguments: _checkedLater, ...others } = params as Readonly<Record<string, unknown>>;
  return { ...rest, params: others };
}
