/** The MCP server for the program that started this process, over standard input and output; it calls a service by HTTP. */
import { once } from 'node:events';
import { StdioServerTransport } from '@modelcontextprotocol/sdk/server/stdio.js';
import { callOver } from './call-over.ts';
import { createMcpServer } from './create-mcp-server.ts';

export interface StdioOptions {
  /** Address of the service, such as `http://127.0.0.1:3000`. */
  readonly url: URL;
  /** A key, or the API secret. */
  readonly token: string;
  readonly version: string;
  readonly signal: AbortSignal;
}

/** Resolves when the parent program closes its end, or `signal` is aborted. */
export async function serveStdio({ url, token, version, signal }: StdioOptions): Promise<void> {
  const server = createMcpServer({ call: callOver(url, token), mayUse: null, version });
  await server.connect(new StdioServerTransport());
  const ended = once(process.stdin, 'end');
  await (signal.aborted ? null : Promise.race([ended, once(signal, 'abort')]));
  await server.close();
}
