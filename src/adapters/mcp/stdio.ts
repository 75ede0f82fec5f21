/** The MCP server for the program that started this process, over standard input and output; it asks a service by HTTP. */
import { once } from 'node:events';
import { StdioServerTransport } from '@modelcontextprotocol/sdk/server/stdio.js';
import { targetOf, type ApiCall } from './api-call.ts';
import { createMcpServer } from './create-mcp-server.ts';

export interface StdioOptions {
  /** Of the service, such as `http://127.0.0.1:3000`. */
  readonly url: URL;
  /** A key, or the API secret. */
  readonly token: string;
  readonly version: string;
  readonly signal: AbortSignal;
}

/** A send may take as long as the mail server does. */
const TIMEOUT_MS = 120_000;

/** Resolves when the other program closes its end, or `signal` is aborted. */
export async function serveStdio({ url, token, version, signal }: StdioOptions): Promise<void> {
  const server = createMcpServer({ call: callOver(url, token), mayUse: null, version });
  await server.connect(new StdioServerTransport());
  const ended = once(process.stdin, 'end');
  await (signal.aborted ? null : Promise.race([ended, once(signal, 'abort')]));
  await server.close();
}

function callOver(url: URL, token: string): ApiCall {
  return async (request) => {
    const { method, body, idempotencyKey, ifMatch } = request;
    const response = await fetch(new URL(targetOf(request), url), {
      method,
      headers: {
        authorization: `Bearer ${token}`,
        ...(body === undefined ? {} : { 'content-type': 'application/json' }),
        ...(idempotencyKey === undefined ? {} : { 'idempotency-key': idempotencyKey }),
        ...(ifMatch === undefined ? {} : { 'if-match': ifMatch }),
      },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      // The token goes to this service alone.
      redirect: 'error',
      signal: AbortSignal.timeout(TIMEOUT_MS),
    });
    const text = await response.text();
    return { status: response.status, json: text === '' ? null : JSON.parse(text) };
  };
}
