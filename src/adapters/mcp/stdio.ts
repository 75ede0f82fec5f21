/**
 * The tools of a running service for the program that started this process, over standard input and output: every message is handed to
 * `/mcp` of the service, and its answer back. So the service alone decides which tools the key has and what they take.
 */
import { once } from 'node:events';
import { StdioServerTransport } from '@modelcontextprotocol/sdk/server/stdio.js';
import type { JSONRPCMessage } from '@modelcontextprotocol/sdk/types.js';
import { TIMEOUT_MS } from './call-over.ts';

export interface StdioOptions {
  /** Address of the service, such as `http://127.0.0.1:3000`. */
  readonly url: URL;
  /** A key, or the API secret. */
  readonly token: string;
  readonly signal: AbortSignal;
}

/** JSON-RPC 2.0: errors of a server are -32099 to -32000. */
const NO_ANSWER = -32_000;

/** Resolves when the parent program closes its end, or `signal` is aborted. Throws when it takes no more answers. */
export async function serveStdio({ url, token, signal }: StdioOptions): Promise<void> {
  const target = `${url.href.replace(/\/$/, '')}/mcp`;
  const transport = new StdioServerTransport();
  const broken = new Promise<never>((_, reject) => {
    // The SDK's transports have no other way.
    // eslint-disable-next-line unicorn/prefer-add-event-listener
    transport.onmessage = (message) => {
      answer(target, token, message)
        .then((reply) => (reply === null ? undefined : transport.send(reply)))
        .catch(reject);
    };
  });
  await transport.start();
  const ended = once(process.stdin, 'end');
  await (signal.aborted ? null : Promise.race([ended, once(signal, 'abort'), broken]));
  await transport.close();
}

/** Never throws: the program must get an answer to every request. */
async function answer(
  target: string,
  token: string,
  message: JSONRPCMessage,
): Promise<JSONRPCMessage | null> {
  try {
    return await ask(target, token, message);
  } catch (error) {
    return toError(message, `the service did not answer: ${String(error)}`);
  }
}

/** null for what has no answer, such as a notification. */
async function ask(target: string, token: string, message: JSONRPCMessage): Promise<JSONRPCMessage | null> {
  const response = await fetch(target, {
    method: 'POST',
    headers: {
      authorization: `Bearer ${token}`,
      accept: 'application/json, text/event-stream',
      'content-type': 'application/json',
    },
    body: JSON.stringify(message),
    // The token must go to this service only.
    redirect: 'error',
    signal: AbortSignal.timeout(TIMEOUT_MS),
  });
  const text = await response.text();
  const body: unknown = text === '' ? null : JSON.parse(text);
  if (body === null && response.ok) return null;
  if (body !== null && typeof body === 'object' && 'jsonrpc' in body) return body as JSONRPCMessage;
  const { code = 'unexpected_response', error = '' } = Object(body) as { code?: string; error?: string };
  return toError(message, `${response.status} ${code}: ${error}`);
}

function toError(message: JSONRPCMessage, text: string): JSONRPCMessage | null {
  if (!('id' in message) || !('method' in message)) return null;
  return { jsonrpc: '2.0', id: message.id, error: { code: NO_ANSWER, message: text } };
}
