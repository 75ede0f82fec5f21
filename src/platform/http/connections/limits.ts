/**
 * Every bound of the HTTP edge, with its unit and its reason. All are whole numbers greater than zero.
 */

const KIB = 1024;
const MIB = 1024 * KIB;

export interface HttpLimits {
  /** Decoded bytes of all attachments of one request. Default 25 MiB, the limit of large mail providers. */
  readonly maxAttachmentBytes: number;
  /** Bytes of a request body as sent. Default: twice `maxAttachmentBytes`, for Base64 and escapes, plus `maxTextBytes`. */
  readonly maxBodyBytes: number;
  /** Bytes of one received message. Default 50 MiB: the largest that mail providers accept, Base64 included. */
  readonly maxInboundBytes: number;
  /** Bytes of a request body without its long attachments; they are kept in memory. Default 10 MiB. */
  readonly maxTextBytes: number;
  /** Base64 longer than this is written to a file while it arrives, in characters. Default 64 KiB. */
  readonly maxInlineContentBytes: number;
  /** Bodies above this need one of the `maxLargeBodies` slots, in bytes. Default 256 KiB. */
  readonly smallBodyBytes: number;
  /** Requests with a large body at the same moment; more get 503 `busy`. Default 32. */
  readonly maxLargeBodies: number;
  /** Attachments of one request. Default 200. */
  readonly maxAttachments: number;
  /** Objects, arrays and list separators of one body: a megabyte of `[[[` must not turn into gigabytes. Default 50,000. */
  readonly maxJsonElements: number;
  /** Nesting of one body; the deepest valid one has 3. Default 32. */
  readonly maxJsonDepth: number;
  /** Fields of one object in a body; those of templates' variables have names of the caller's choice. Default 1,000. */
  readonly maxJsonFields: number;
  /** Time without a byte of the body after which the request is aborted, in milliseconds. Default 30 s. */
  readonly bodyIdleTimeoutMs: number;
  /** Answers sent piece by piece at the same moment, some 3 MB of memory each; more get 503 `busy`. Default 32. */
  readonly maxLargeAnswers: number;
  /** Time without progress after which a client that reads a large answer or a file is cut off, in milliseconds. Default 60 s. */
  readonly answerIdleTimeoutMs: number;
  /** Time for a whole request to arrive, in milliseconds. Default 300 s, 25 MiB at 1 Mbit/s. */
  readonly requestTimeoutMs: number;
  /** Time for all headers to arrive, in milliseconds. Default 20 s. */
  readonly headersTimeoutMs: number;
  /** Time for the TLS handshake, in milliseconds. Default 10 s. */
  readonly handshakeTimeoutMs: number;
  /** Time that an idle connection is kept, in milliseconds. Default 72 s: longer than the 60 s of usual proxies. */
  readonly keepAliveTimeoutMs: number;
  /**
   * Bytes that are read and dropped after the last answer of a connection, so that a client that is still sending gets the answer. Default
   * 256 MiB: larger bodies are sent by mistake or in bad faith.
   */
  readonly lingerBytes: number;
  /** Time limit for that, in milliseconds. Default 30 s, as nginx. */
  readonly lingerTimeoutMs: number;
  /** Silence that ends the connection sooner, in milliseconds. Default 5 s, as nginx. */
  readonly lingerIdleMs: number;
  /**
   * Connections at the same moment; one more pushes out the oldest that never had a valid secret. Default 500: some hundred times the need
   * of one program, and half of the 1,024 files that a process may open where limits are low.
   */
  readonly maxConnections: number;
  /** Requests of one key within a minute; more get 429. Default 6,000: a hundred a second, which no page and few programs need. */
  readonly ratePerMinute: number;
  /** Requests of one key under way at the same moment; more get 429. Default 32. */
  readonly maxAtOnce: number;
  /** Requests that wait for events at the same moment, including streams; more get 503 `busy`. Default 100. */
  readonly maxEventReaders: number;
  /** Length of path and query together, in characters. Default 4,096. */
  readonly maxUrlLength: number;
  /** All headers and the request line, in bytes. Default 16 KiB, as Node.js. */
  readonly maxHeaderBytes: number;
  /**
   * Header fields of one request; more get 431. Default 200: browsers and proxies together send 10 to 60, and Apache takes 100. Node.js
   * silently drops fields beyond its own limit of 1,000, so a request with very many would lose its `Idempotency-Key`.
   */
  readonly maxHeaders: number;
  /** Time for which a readiness answer is reused, in milliseconds; each check costs an SMTP login. Default 2 s. */
  readonly readinessMaxAgeMs: number;
}

/** Fills in the defaults. Throws TypeError for anything but whole numbers greater than zero. */
export function createHttpLimits(overrides: Partial<HttpLimits> = {}): HttpLimits {
  const maxAttachmentBytes = overrides.maxAttachmentBytes ?? 25 * MIB;
  const maxTextBytes = overrides.maxTextBytes ?? 10 * MIB;
  const limits: HttpLimits = {
    maxAttachmentBytes,
    maxTextBytes,
    maxInboundBytes: 50 * MIB,
    maxBodyBytes: 2 * maxAttachmentBytes + maxTextBytes,
    maxInlineContentBytes: 64 * KIB,
    smallBodyBytes: 256 * KIB,
    maxLargeBodies: 32,
    maxAttachments: 200,
    maxJsonElements: 50_000,
    maxJsonDepth: 32,
    maxJsonFields: 1000,
    bodyIdleTimeoutMs: 30_000,
    maxLargeAnswers: 32,
    answerIdleTimeoutMs: 60_000,
    requestTimeoutMs: 300_000,
    headersTimeoutMs: 20_000,
    handshakeTimeoutMs: 10_000,
    keepAliveTimeoutMs: 72_000,
    maxConnections: 500,
    maxEventReaders: 100,
    ratePerMinute: 6000,
    maxAtOnce: 32,
    lingerBytes: 256 * MIB,
    lingerTimeoutMs: 30_000,
    lingerIdleMs: 5000,
    maxUrlLength: 4096,
    maxHeaderBytes: 16 * KIB,
    maxHeaders: 200,
    readinessMaxAgeMs: 2000,
    ...overrides,
  };
  for (const [name, value] of Object.entries(limits)) {
    // 0, NaN and strings must not disable a limit.
    if (!Number.isSafeInteger(value) || value <= 0) {
      throw new TypeError(
        `HTTP limit ${name} must be a whole number greater than zero, not ${String(value)}`,
      );
    }
  }
  return Object.freeze(limits);
}
