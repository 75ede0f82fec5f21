/**
 * The MCP server for one HTTP request (streamable HTTP without sessions): nothing is kept between two requests, so any process can answer
 * any of them. The SDK is loaded with the first request: most services never need it.
 */
import { readAnswer, targetOf, type ApiRequest, type RawAnswer } from './api-call.ts';
import { findUnstorable } from '../../core/storable-text.ts';
import type { McpServerOptions } from './create-mcp-server.ts';

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

/** The transport looks at method and headers only. */
const ANY_URL = 'http://localhost/mcp';

export function createMcpEndpoint(version: string): McpEndpoint {
  return async ({ headers, message, call, mayUse, caller }) => {
    const refused = refuseUnstorable(message);
    if (refused !== null) return refused;
    const [{ createMcpServer }, { WebStandardStreamableHTTPServerTransport: Transport }] = await Promise.all([
      import('./create-mcp-server.ts'),
      import('@modelcontextprotocol/sdk/server/webStandardStreamableHttp.js'),
    ]);
    const server = createMcpServer({
      call: async (one) => readAnswer(one, await call(one, targetOf(one))),
      mayUse,
      caller,
      version,
    });
    const transport = new Transport({ enableJsonResponse: true });
    try {
      await server.connect(transport);
      const request = new Request(ANY_URL, { method: 'POST', headers });
      const response = await transport.handleRequest(request, { parsedBody: message });
      return {
        status: response.status,
        headers: Object.fromEntries(response.headers),
        body: await response.text(),
      };
    } finally {
      await server.close();
    }
  };
}

/** JSON-RPC 2.0 §5.1. */
const INVALID_REQUEST = -32_600;

/**
 * The arguments of a tool are checked with the rest of them, and their error names the argument. Of anything else with NUL or half of a surrogate
 * pair, null: there is none.
 */
function refuseUnstorable(message: unknown): McpAnswer | null {
  const found = findUnstorable(withoutArguments(message));
  if (found === null) return null;
  const { id } = Object(message) as { readonly id?: unknown };
  const isId = (typeof id === 'string' && found !== 'id') || typeof id === 'number';
  const error = {
    code: INVALID_REQUEST,
    message: `${found} contains NUL or half of a surrogate pair`,
  };
  return {
    status: 400,
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ jsonrpc: '2.0', id: isId ? id : null, error }),
  };
}

function withoutArguments(message: unknown): unknown {
  const { params, ...rest } = Object(message) as { readonly params?: unknown };
  if (params === null || typeof params !== 'object' || Array.isArray(params)) return message;
  const { arguments: _checkedLater, ...others } = params as Readonly<Record<string, unknown>>;
  return { ...rest, params: others };
}
