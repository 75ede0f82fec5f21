/**
 * Fetches what strangers name, by HTTP. Only permitted addresses are connected to, also by redirects; nothing of this machine goes along;
 * time, redirects and headers are bounded here, and the size of the answer by `readBounded`.
 */
import { setMaxListeners } from 'node:events';
import http, { type IncomingMessage } from 'node:http';
import https from 'node:https';
import { isIP, type LookupFunction } from 'node:net';
import { isTextPort } from '../../core/edge/text-ports.ts';

const MAX_REDIRECTS = 3;
const MAX_HEAD_BYTES = 16 * 1024;
/** Answers before the answer (1xx), which a server could send without end. */
const MAX_INTERIM = 10;

export interface PublicFetchOptions<T> {
  /** What is fetched, in the singular, for the log. */
  readonly what: string;
  /** Resolves names to permitted addresses only. */
  readonly lookup: LookupFunction;
  /** Throws for an address that may not be connected to. */
  readonly checkAddress: (address: string) => void;
  readonly headers: Readonly<Record<string, string>>;
  /** For one answer, with its redirects, in ms. */
  readonly timeoutMs: number;
  /** The address to which a redirect leads; null: it may not be followed. */
  readonly toTarget: (address: string) => string | null;
  /** Throws UnusableAnswer, and when the signal is aborted. */
  readonly read: (response: IncomingMessage, signal: AbortSignal) => Promise<T>;
  /** Certificates of trusted authorities, in PEM; default: those of Node.js. */
  readonly ca?: string;
}

export type Fetched<T> =
  | { readonly kind: 'fetched'; readonly value: T }
  /** `isSlow`: nothing came within the time. `detail`: for the log. */
  | { readonly kind: 'none'; readonly isSlow: boolean; readonly detail: string };

/** The answer is not what was asked for. The message is for the log, without an address beyond its host. */
export class UnusableAnswer extends Error {}

export function createPublicFetcher<T>(
  options: PublicFetchOptions<T>,
): (address: string, stopping: AbortSignal) => Promise<Fetched<T>> {
  const { what, lookup, checkAddress, headers, timeoutMs, toTarget, read, ca } = options;

  function ask(address: string, signal: AbortSignal): Promise<IncomingMessage> {
    const url = new URL(address);
    const host = url.hostname.replace(/^\[|\]$/g, '');
    if (isTextPort(url.port)) throw new UnusableAnswer(`port ${url.port} is no web server's`);
    // Node.js calls the lookup function for names only.
    if (isIP(host) !== 0) checkAddress(host);
    const settings = {
      // A connection of its own each time: a kept one would join what different readers ask for.
      agent: false,
      lookup,
      maxHeaderSize: MAX_HEAD_BYTES,
      headers,
      signal,
      ...(ca === undefined ? {} : { ca }),
    };
    return new Promise((resolve, reject) => {
      let interim = 0;
      const request = (url.protocol === 'http:' ? http : https).request(url, settings);
      request
        .on('information', () => {
          interim += 1;
          if (interim > MAX_INTERIM) request.destroy(new UnusableAnswer('too many interim answers'));
        })
        .once('response', (response) => {
          // An answer that is cut off, here or by its server, also fails its reader.
          response.on('error', () => undefined);
          resolve(response);
        })
        .once('upgrade', (_, socket) => {
          socket.destroy();
          reject(new UnusableAnswer('the server changes the protocol'));
        })
        .on('error', reject)
        .once('close', () => reject(new UnusableAnswer('the connection was closed without an answer')))
        .end();
    });
  }

  async function fetchWithin(start: string, signal: AbortSignal): Promise<T> {
    let address = start;
    for (let redirects = 0; redirects <= MAX_REDIRECTS; redirects += 1) {
      const response = await ask(address, signal);
      try {
        const target = redirectOf(response, address, toTarget);
        if (target === null) return await read(response, signal);
        address = target;
      } finally {
        // Whatever was not read of the answer ends with its connection.
        response.destroy();
      }
    }
    throw new UnusableAnswer(`more than ${MAX_REDIRECTS} redirects`);
  }

  return async (address, stopping): Promise<Fetched<T>> => {
    const ending = new AbortController();
    const stop = () => ending.abort();
    let isSlow = false;
    const timer = setTimeout(() => {
      isSlow = true;
      stop();
    }, timeoutMs);
    // Each fetch listens, which Node.js would report as a leak.
    setMaxListeners(0, stopping);
    stopping.addEventListener('abort', stop, { once: true });
    try {
      stopping.throwIfAborted();
      return { kind: 'fetched', value: await fetchWithin(address, ending.signal) };
    } catch (error) {
      return { kind: 'none', isSlow, detail: isSlow ? `no ${what} within ${timeoutMs} ms` : describe(error) };
    } finally {
      clearTimeout(timer);
      stopping.removeEventListener('abort', stop);
    }
  };
}

/** null: the answer is no redirect. Throws UnusableAnswer for one that may not be followed. */
function redirectOf(
  { statusCode = 0, headers }: IncomingMessage,
  from: string,
  toTarget: (address: string) => string | null,
): string | null {
  if (![301, 302, 303, 307, 308].includes(statusCode)) return null;
  const { location = '' } = headers;
  const target = URL.canParse(location, from) ? toTarget(new URL(location, from).href) : null;
  if (target === null) throw new UnusableAnswer('a redirect to what is not fetched');
  return target;
}

/** Throws UnusableAnswer. @param onBytes what was read so far; may throw, so that no more is read */
export async function readBounded(
  response: IncomingMessage,
  maxBytes: number,
  signal: AbortSignal,
  onBytes: (bytes: number, pieces: readonly Buffer[]) => void = () => undefined,
): Promise<Buffer> {
  const { statusCode = 0, headers } = response;
  if (statusCode !== 200) throw new UnusableAnswer(`status ${statusCode}`);
  const encoding = headers['content-encoding'] ?? 'identity';
  if (encoding.toLowerCase() !== 'identity') throw new UnusableAnswer('a compressed answer');
  if (Number(headers['content-length'] ?? 0) > maxBytes) throw tooLarge(maxBytes);
  const pieces: Buffer[] = [];
  let bytes = 0;
  // Without its own signal, a stream that was aborted before it is read would not end.
  signal.throwIfAborted();
  for await (const piece of response as AsyncIterable<Buffer>) {
    bytes += piece.length;
    if (bytes > maxBytes) throw tooLarge(maxBytes);
    pieces.push(piece);
    onBytes(bytes, pieces);
  }
  return Buffer.concat(pieces);
}

const tooLarge = (maxBytes: number) => new UnusableAnswer(`more than ${maxBytes} bytes`);

/** Without what the server has written: a message of Node.js may quote the answer. */
function describe(error: unknown): string {
  // When several addresses were tried.
  const [first] = error instanceof AggregateError ? (error.errors as unknown[]) : [error];
  if (first instanceof UnusableAnswer) return first.message;
  const { code, name } = Object(first ?? error) as { code?: unknown; name?: unknown };
  return String(code ?? name ?? 'no connection');
}
