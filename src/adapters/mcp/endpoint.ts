/**
 * The MCP server for one HTTP request (streamable HTTP without sessions): nothing is kept between two requests, so any process can answer
 * any of them. The SDK is loaded with the first request: most services never need it.
 */
import { readAnswer, targetOf, type ApiRequest, type RawAnswer } from './api-call.ts';
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
