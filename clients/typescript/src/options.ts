/** The options of a client and of a single request. */

export interface ClientOptions {
  /** The address of the service, such as `https://mail.example.com`; a path before `/api` is kept. */
  readonly url: string | URL;
  /** `API_SECRET` of the service. It is sent to `url` and nowhere else: redirects are not followed. */
  readonly secret: string;
  /** Carries out the requests, for proxies or tests. Default: the platform's `fetch`. */
  readonly fetch?: ((request: Request) => Promise<Response>) | undefined;
  /** How long one try may take, in ms, until the end of the answer, or of a download until its beginning. Default 60,000. */
  readonly timeoutMs?: number | undefined;
  /** How often a request is repeated after a temporary failure, where a repeat is safe. 0 to 10, default 3. */
  readonly retries?: number | undefined;
  /**
   * The longest wait before a repeat that the service may ask for by `Retry-After`, in ms, as when the caller has used up its share of
   * requests. For a longer one the error is thrown at once. Default 60,000.
   */
  readonly maxWaitMs?: number | undefined;
}

export interface RequestOptions {
  /** Ends the request and the waits between its repeats. The method throws the reason of the signal. */
  readonly signal?: AbortSignal | undefined;
  /** Default: the client's. */
  readonly timeoutMs?: number | undefined;
  /** Default: the client's. */
  readonly retries?: number | undefined;
  /** Default: the client's. */
  readonly maxWaitMs?: number | undefined;
  /** In browsers: the request goes on when the page that makes it is left. Its body may have at most 64 KiB. Default false. */
  readonly keepalive?: boolean | undefined;
}

/** For a change that counts only for what was read. */
export interface VersionOptions extends RequestOptions {
  /** Fails when this is not the version, such as with `webhook_changed`; not retried then. Default: any version. */
  readonly version?: number | undefined;
}

export interface SendOptions extends RequestOptions {
  /**
   * 1 to 256 visible ASCII characters, the same for every request about the same email, such as `invoice-4711`. Default: a new random key
   * for each call, kept over its retries. null: no key; then the email is sent even while the database of the service is unavailable (the
   * result is `partial`), and nothing is retried.
   */
  readonly idempotencyKey?: string | null | undefined;
  /** Only put the email into the queue; the result is `queued`. Default false. `send_at` also queues. */
  readonly queue?: boolean | undefined;
}

/** A check sends nothing, so it has no key. */
export type CheckOptions = Omit<SendOptions, 'idempotencyKey'>;

/** The names of RequestOptions. */
const REQUEST_OPTIONS = [
  'signal',
  'timeoutMs',
  'retries',
  'maxWaitMs',
  'keepalive',
] as const satisfies (keyof RequestOptions)[];

/**
 * Throws TypeError for an option that the call does not have: a misspelt one would be ignored, and for example another email sent.
 * @param further names of options beside those of every request
 * @internal
 */
export function refuseUnknownOptions(options: object, further: readonly string[] = []): void {
  const known: readonly string[] = [...REQUEST_OPTIONS, ...further];
  const unknown = Object.keys(options).find((name) => !known.includes(name));
  if (unknown !== undefined) throw new TypeError(`unknown option ${unknown}; known are ${known.join(', ')}`);
}

/** @internal The version apart from the options that every request has. Throws TypeError. */
export function readVersion({ version, ...options }: VersionOptions): {
  readonly header: { readonly header?: { readonly 'If-Match': string } };
  readonly options: RequestOptions & { readonly repeatable: boolean };
} {
  if (version !== undefined && !(Number.isInteger(version) && version > 0))
    throw new TypeError('version must be a whole number from 1');
  return {
    header: version === undefined ? {} : { header: { 'If-Match': `"${version}"` } },
    options: { ...options, repeatable: version === undefined },
  };
}

/** @internal */
export interface Limits {
  readonly timeoutMs: number;
  readonly retries: number;
  readonly maxWaitMs: number;
}

const DEFAULT_LIMITS: Limits = { timeoutMs: 60_000, retries: 3, maxWaitMs: 60_000 };
/** The largest time that the timers of all platforms take: 31 bits. */
const MAX_TIMEOUT_MS = 2 ** 31 - 1;
/** The waits of ten retries add up to about a minute. */
const MAX_RETRIES = 10;

/**
 * Checks the options; absent ones are taken from `defaults`. Throws TypeError.
 * @internal
 */
export function readLimits(
  options: Pick<RequestOptions, 'timeoutMs' | 'retries' | 'maxWaitMs'>,
  defaults: Limits = DEFAULT_LIMITS,
): Limits {
  const {
    timeoutMs = defaults.timeoutMs,
    retries = defaults.retries,
    maxWaitMs = defaults.maxWaitMs,
  } = options;
  if (!(Number.isInteger(timeoutMs) && timeoutMs > 0 && timeoutMs <= MAX_TIMEOUT_MS))
    throw new TypeError(`timeoutMs must be a whole number from 1 to ${MAX_TIMEOUT_MS}`);
  if (!(Number.isInteger(retries) && retries >= 0 && retries <= MAX_RETRIES))
    throw new TypeError(`retries must be a whole number from 0 to ${MAX_RETRIES}`);
  if (!(Number.isInteger(maxWaitMs) && maxWaitMs >= 0 && maxWaitMs <= MAX_TIMEOUT_MS))
    throw new TypeError(`maxWaitMs must be a whole number from 0 to ${MAX_TIMEOUT_MS}`);
  return { timeoutMs, retries, maxWaitMs };
}

/**
 * The URL without a trailing slash. Throws TypeError.
 * @internal
 */
export function readUrl(value: string | URL): string {
  let url: URL;
  try {
    url = new URL(value);
  } catch {
    // The platform's error repeats the value, which may contain a password.
    throw new TypeError('url must be an absolute URL such as https://mail.example.com');
  }
  if (url.protocol !== 'https:' && url.protocol !== 'http:')
    throw new TypeError('url must be http: or https:');
  if (url.username !== '' || url.password !== '' || url.search !== '' || url.hash !== '')
    throw new TypeError('url must have no user, password, query or fragment');
  return url.href.replace(/\/+$/, '');
}

/**
 * Throws TypeError without the value: the platform's own error would repeat it.
 * @internal
 */
export function readSecret(value: string): string {
  if (typeof value !== 'string' || !/^[!-~]+$/.test(value))
    throw new TypeError('secret must be the API_SECRET of the service: visible ASCII characters');
  return value;
}
