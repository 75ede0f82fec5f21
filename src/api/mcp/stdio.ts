/**
 * The tools of a running service for the program that started this process, over standard input and output: every message is handed to
 * `/mcp` of the service, and its answer back. So the service alone decides which tools the key has and what they take.
 */
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { TIMEOUT_MS } from './call-over.ts';
import { isMessage, PARSE_ERROR, SERVER_ERROR, toError, type Answer, type Message } from './json-rpc.ts';

export interface StdioOptions {
  /** Address of the service, such as `http://127.0.0.1:3000`. */
  readonly url: URL;
  /** A key, or the API secret. */
  readonly token: string;
  readonly signal: AbortSignal;
}

/** Resolves when the parent program closes its end, or `signal` is aborted. Throws when it takes no more answers. */
export async function serveStdio({ url, token, signal }: StdioOptions): Promise<void> {
  const target = `${url.href.replace(/\/$/, '')}/mcp`;
  // One message in a line, both ways.
  const lines = createInterface({ input: process.stdin, crlfDelay: Infinity });
  const broken = new Promise<never>((_, reject) => {
    process.stdout.once('error', reject);
    lines.on('line', (line) => {
      answerLine(target, token, line)
        .then((reply) => reply !== null && process.stdout.write(`${JSON.stringify(reply)}\n`))
        .catch(reject);
    });
  });
  const ended = once(lines, 'close');
  await (signal.aborted ? null : Promise.race([ended, once(signal, 'abort'), broken]));
  lines.close();
}

async function answerLine(target: string, token: string, line: string): Promise<Answer | null> {
  let message: unknown;
  try {
    message = JSON.parse(line);
  } catch {
    return toError(PARSE_ERROR, 'the line is no JSON');
  }
  if (!isMessage(message)) return toError(PARSE_ERROR, 'the line is no message of JSON-RPC 2.0');
  return answer(target, token, message);
}

/** Never throws: the program must get an answer to every request. */
async function answer(target: string, token: string, message: Message): Promise<Answer | null> {
  try {
    return await ask(target, token, message);
  } catch (error) {
    return withoutAnswer(message, `the service did not answer: ${String(error)}`);
  }
}

/** null for what has no answer, such as a notification. */
async function ask(target: string, token: string, message: Message): Promise<Answer | null> {
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
  if (body !== null && typeof body === 'object' && 'jsonrpc' in body) return body as Answer;
  const { code = 'unexpected_response', error = '' } = Object(body) as { code?: string; error?: string };
  return withoutAnswer(message, `${response.status} ${code}: ${error}`);
}

function withoutAnswer({ id, method }: Message, text: string): Answer | null {
  return id === undefined || method === undefined ? null : toError(SERVER_ERROR, text, id);
}
