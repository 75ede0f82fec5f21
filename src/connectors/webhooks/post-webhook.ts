/**
 * `PostWebhook` with node:https: one request, signed according to Standard Webhooks. Redirects are not followed, the answer is read up to a
 * bound and then cut, every step has a time limit, and only permitted addresses are connected to (public-addresses.ts). Nothing returned
 * from here contains a secret or the value of a header field.
 */
import http, { type ClientRequest, type IncomingMessage } from 'node:http';
import https from 'node:https';
import { isIP, type LookupFunction } from 'node:net';
import { Webhook } from 'standardwebhooks';
import type { Clock } from '../../platform/base/basics.ts';
import type { PostWebhook, WebhookAnswer, WebhookRequest } from '../../areas/webhooks/delivery-ports.ts';
import { parseRetryAfter } from '../../core/webhook/retry-plan.ts';
import { guardedLookup } from './guarded-lookup.ts';
import { plainHost, type TargetRules } from './public-addresses.ts';
import { resolveHost, type ResolveHost } from './resolve-host.ts';

/** The part of an answer that is kept. */
const KEPT_BYTES = 4096;
/** The part of an answer that is read, so that its connection can be reused. */
const MAX_ANSWER_BYTES = 64 * 1024;
/** From the head of an answer to its end, in ms: the status is all that counts. */
const BODY_MS = 2000;
/** Name lookup, connection and TLS, in ms. */
const CONNECT_MS = 10_000;
const MAX_HEAD_BYTES = 16 * 1024;
/** How long an unused connection is kept, in ms. */
const IDLE_MS = 15_000;
/** RFC 9110 §15.2.2: no request asks for it. Anything after it on the connection is not HTTP. */
const SWITCHING_PROTOCOLS = 101;

export interface WebhookPoster {
  readonly post: PostWebhook;
  close(): void;
}

export interface WebhookPosterOptions {
  readonly targets: TargetRules;
  /** Time from the beginning to the head of the answer. */
  readonly timeoutMs: number;
  readonly clock: Clock;
  /** Default: the name servers of the machine. */
  readonly resolve?: ResolveHost;
  /** Certificates of trusted authorities, in PEM; default: those of Node.js. */
  readonly ca?: string;
}

/** Connecting to the address is not permitted. */
class RefusedAddressError extends Error {}

export function createWebhookPoster(options: WebhookPosterOptions): WebhookPoster {
  const { targets, timeoutMs, clock, resolve = resolveHost, ca } = options;
  const agentOptions = { keepAlive: true, timeout: IDLE_MS, maxFreeSockets: 100 };
  const agents = {
    'http:': new http.Agent(agentOptions),
    'https:': new https.Agent(agentOptions),
  };

  /** Throws RefusedAddressError. */
  function checkAddress(address: string, host: string, isPlain: boolean): void {
    const isHostAllowed = targets.allowsHost(host);
    if (!isHostAllowed && !targets.allowsAddress(address)) {
      throw new RefusedAddressError(`${address} is not public, and not in WEBHOOK_ALLOW`);
    }
    if (isPlain && !isHostAllowed && !targets.isListed(address)) {
      throw new RefusedAddressError(`without TLS, only what WEBHOOK_ALLOW names is connected to`);
    }
  }

  const lookupFor = (isPlain: boolean): LookupFunction =>
    guardedLookup(resolve, (address, host) => checkAddress(address, host, isPlain));

  function open(request: WebhookRequest, at: Date, isAgain: boolean): ClientRequest {
    const url = new URL(request.url);
    const isPlain = url.protocol === 'http:';
    const host = plainHost(url.hostname);
    // Node.js calls the lookup function for names only.
    if (isIP(host) !== 0) checkAddress(host, host, isPlain);
    const body = Buffer.from(request.body);
    return (isPlain ? http : https)
      .request(url, {
        method: 'POST',
        // The second try uses a connection of its own: other kept ones may be closed as well.
        agent: isAgain ? false : agents[isPlain ? 'http:' : 'https:'],
        ...(ca === undefined ? {} : { ca }),
        lookup: lookupFor(isPlain),
        maxHeaderSize: MAX_HEAD_BYTES,
        headers: {
          ...request.secrets.headers,
          'content-type': 'application/json',
          'content-length': body.length,
          'user-agent': 'email-worker',
          'webhook-id': request.eventId,
          'webhook-timestamp': String(Math.floor(at.getTime() / 1000)),
          'webhook-signature': sign(request, at),
        },
      })
      .end(body);
  }

  /** The answer to one try. Rejects when there is no answer. */
  function exchange(request: WebhookRequest, at: Date, isAgain: boolean, signal: AbortSignal) {
    return new Promise<Omit<WebhookAnswer, 'startedAt' | 'durationMs' | 'error'> & { isStale?: boolean }>(
      (done, fail) => {
        const sent = open(request, at, isAgain);
        let isAnswered = false;
        // Rejects explicitly: Node.js does not promise an event after `destroy`.
        const end = (error: Error) => {
          clear();
          fail(error);
          sent.destroy(error);
        };
        const abort = () => end(toError(signal.reason));
        const timers = [
          setTimeout(() => end(new Error(`no answer within ${timeoutMs} ms`)), timeoutMs),
          setTimeout(() => {
            const { socket } = sent;
            if (socket === null || socket.connecting) end(new Error(`no connection within ${CONNECT_MS} ms`));
          }, CONNECT_MS),
        ];
        const clear = () => {
          for (const timer of timers) clearTimeout(timer);
          signal.removeEventListener('abort', abort);
        };
        sent.on('error', (error) => {
          clear();
          fail(
            Object.assign(error, { isStale: sent.reusedSocket && Object(error)['code'] === 'ECONNRESET' }),
          );
        });
        sent.once('response', (response) => {
          isAnswered = true;
          clear();
          readBeginning(response).then((text) => done(toAnswer(response, text)), fail);
          if (response.statusCode === SWITCHING_PROTOCOLS) response.destroy();
        });
        // Node.js emits no `response` for an answer 101 that names a protocol.
        sent.once('upgrade', (response, socket) => {
          clear();
          socket.destroy();
          done(toAnswer(response, ''));
        });
        // Comes after all other events. Without any of them there was no answer; after a response its text is still being read.
        sent.once('close', () => {
          clear();
          if (!isAnswered) fail(new Error('the connection was closed without an answer'));
        });
        if (signal.aborted) abort();
        else signal.addEventListener('abort', abort, { once: true });
      },
    );
  }

  function toAnswer({ statusCode: status = 0, headers }: IncomingMessage, text: string) {
    return { status, retryAfterMs: parseRetryAfter(headers['retry-after'], clock()), text };
  }

  async function post(request: WebhookRequest, signal: AbortSignal): Promise<WebhookAnswer> {
    const startedAt = clock();
    const from = performance.now();
    const record = (answer: Pick<WebhookAnswer, 'status' | 'error' | 'retryAfterMs' | 'text'>) => ({
      startedAt,
      durationMs: performance.now() - from,
      ...answer,
    });
    for (let attempt = 1; ; attempt += 1) {
      try {
        return record({ error: null, ...(await exchange(request, startedAt, attempt > 1, signal)) });
      } catch (error) {
        signal.throwIfAborted();
        // A kept connection that the endpoint closed at this moment says nothing about the endpoint itself.
        if (attempt === 1 && Object(error)['isStale'] === true) continue;
        return record({ status: null, retryAfterMs: null, text: '', error: describe(error) });
      }
    }
  }

  return {
    post,
    close() {
      for (const agent of Object.values(agents)) agent.destroy();
    },
  };
}

/** One signature for each valid secret, the newest first. */
function sign({ secrets: { secrets }, eventId, body }: WebhookRequest, at: Date): string {
  return secrets
    .filter(({ until }) => until === null || until > at)
    .map(({ secret }) => new Webhook(secret).sign(eventId, at, body))
    .join(' ');
}

/**
 * The part of the text that is kept. The rest is read up to a bound and for a while, so that the connection can be reused; otherwise it is
 * cut.
 */
function readBeginning(response: IncomingMessage): Promise<string> {
  return new Promise((resolve) => {
    const pieces: Buffer[] = [];
    let kept = 0;
    let bytes = 0;
    const end = () => {
      clearTimeout(timer);
      resolve(toText(Buffer.concat(pieces)));
    };
    const timer = setTimeout(() => {
      end();
      response.destroy();
    }, BODY_MS);
    response.on('data', (piece: Buffer) => {
      const wanted = piece.subarray(0, KEPT_BYTES - kept);
      if (wanted.length > 0) pieces.push(Buffer.from(wanted));
      kept += wanted.length;
      bytes += piece.length;
      if (bytes > MAX_ANSWER_BYTES) response.destroy();
    });
    // An answer that is cut off, by the endpoint or here, causes an error that changes nothing.
    response.on('error', () => undefined);
    response.once('close', end);
  });
}

/** Text that PostgreSQL can store: without NUL, and without half a character at its end. */
const toText = (bytes: Buffer): string =>
  new TextDecoder().decode(bytes, { stream: true }).replaceAll('\0', '\u{fffd}');

const toError = (error: unknown): Error => (error instanceof Error ? error : new Error(String(error)));

/** In words, with a code that the operator can look up. */
function describe(error: unknown): string {
  // When several addresses were tried.
  const [first] = error instanceof AggregateError ? (error.errors as unknown[]) : [error];
  const { message, code } = Object(first ?? error) as { message?: string; code?: string };
  const text = message === undefined || message === '' ? String(code ?? 'no connection') : message;
  return text.replaceAll(/[\u0000-\u001f\u007f]+/g, ' ').slice(0, 500);
}
