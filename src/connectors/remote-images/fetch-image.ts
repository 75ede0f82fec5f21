/**
 * `FetchImage` with node:https. Only permitted addresses are connected to, also by redirects; nothing of the reader or of this machine goes
 * along; time and size are bounded while the answer arrives, and its bytes decide whether it is an image. Nothing of the answer is passed on
 * but the bytes. An SVG is none: it can run scripts and load more.
 */
import { setMaxListeners } from 'node:events';
import http, { type IncomingMessage } from 'node:http';
import https from 'node:https';
import { isIP, type LookupFunction } from 'node:net';
import type { FetchedImage, FetchImage } from '../../areas/emails/remote-image-ports.ts';
import { isTextPort } from '../../core/edge/text-ports.ts';
import { rasterImageType, SIGNATURE_BYTES } from '../../core/html/image-type.ts';
import { toProxied } from '../../core/html/proxied-images.ts';

/** Of one image, with its redirects, in ms. */
const TIMEOUT_MS = 10_000;
/** More than any image that a mail should show. */
const MAX_IMAGE_BYTES = 5 * 1024 * 1024;
const MAX_REDIRECTS = 3;
const MAX_HEAD_BYTES = 16 * 1024;
/** Answers before the answer (1xx), which a server could send without end. */
const MAX_INTERIM = 10;

/**
 * The same for all readers. Without compression: an answer that grows when it is decoded has no use for images. Some servers give pictures
 * only to what looks like a browser.
 */
const HEADERS = {
  'user-agent': 'Mozilla/5.0 (compatible; image-proxy)',
  accept: 'image/avif,image/webp,image/png,image/jpeg,image/gif,image/*;q=0.8',
  'accept-encoding': 'identity',
};

export interface ImageFetcherOptions {
  /** Resolves names to permitted addresses only. */
  readonly lookup: LookupFunction;
  /** Throws for an address that may not be connected to. */
  readonly checkAddress: (address: string) => void;
  /** Default: 10 s. */
  readonly timeoutMs?: number;
  /** Default: 5 MiB. */
  readonly maxBytes?: number;
  /** Certificates of trusted authorities, in PEM; default: those of Node.js. */
  readonly ca?: string;
}

/** The answer is not what was asked for. The message is for the log, without an address beyond its host. */
class UnusableAnswer extends Error {}

export function createImageFetcher(options: ImageFetcherOptions): FetchImage {
  const { lookup, checkAddress, timeoutMs = TIMEOUT_MS, maxBytes = MAX_IMAGE_BYTES, ca } = options;

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
      headers: HEADERS,
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

  async function fetchWithin(start: string, signal: AbortSignal): Promise<Buffer> {
    let address = start;
    for (let redirects = 0; redirects <= MAX_REDIRECTS; redirects += 1) {
      const response = await ask(address, signal);
      try {
        const target = redirectOf(response, address);
        if (target === null) return await readImage(response, maxBytes, signal);
        address = target;
      } finally {
        // Whatever was not read of the answer ends with its connection.
        response.destroy();
      }
    }
    throw new UnusableAnswer(`more than ${MAX_REDIRECTS} redirects`);
  }

  return async (address, stopping): Promise<FetchedImage> => {
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
      return { kind: 'image', bytes: await fetchWithin(address, ending.signal) };
    } catch (error) {
      return { kind: 'none', isSlow, detail: isSlow ? `no image within ${timeoutMs} ms` : describe(error) };
    } finally {
      clearTimeout(timer);
      stopping.removeEventListener('abort', stop);
    }
  };
}

/** null: the answer is no redirect. Throws UnusableAnswer for one that may not be followed. */
function redirectOf({ statusCode = 0, headers }: IncomingMessage, from: string): string | null {
  if (![301, 302, 303, 307, 308].includes(statusCode)) return null;
  const { location = '' } = headers;
  const target = URL.canParse(location, from) ? toProxied(new URL(location, from).href) : null;
  if (target === null) throw new UnusableAnswer('a redirect to what is not fetched');
  return target;
}

/** Throws UnusableAnswer. Reads no more than is needed to know that the answer is no image, or too large. */
async function readImage(response: IncomingMessage, maxBytes: number, signal: AbortSignal): Promise<Buffer> {
  const { statusCode = 0, headers } = response;
  if (statusCode !== 200) throw new UnusableAnswer(`status ${statusCode}`);
  const encoding = headers['content-encoding'] ?? 'identity';
  if (encoding.toLowerCase() !== 'identity') throw new UnusableAnswer('a compressed answer');
  if (Number(headers['content-length'] ?? 0) > maxBytes) throw tooLarge(maxBytes);
  const pieces: Buffer[] = [];
  let bytes = 0;
  let isChecked = false;
  // Without its own signal, a stream that was aborted before it is read would not end.
  signal.throwIfAborted();
  for await (const piece of response as AsyncIterable<Buffer>) {
    bytes += piece.length;
    if (bytes > maxBytes) throw tooLarge(maxBytes);
    pieces.push(piece);
    if (!isChecked && bytes >= SIGNATURE_BYTES) {
      requireImage(Buffer.concat(pieces));
      isChecked = true;
    }
  }
  const all = Buffer.concat(pieces);
  requireImage(all);
  return all;
}

function requireImage(start: Buffer): void {
  if (rasterImageType(start) === null) throw new UnusableAnswer('no raster image');
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
