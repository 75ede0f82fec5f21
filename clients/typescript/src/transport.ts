/**
 * Carries out requests: the secret, a time-out for each try, repeats where they are safe, and errors of one class. openapi-fetch checks
 * paths and types against the description of the service.
 */
import createApi, { type Client as Api } from 'openapi-fetch';
import { EmailWorkerError, readError, type ErrorFields } from './errors.ts';
import type { paths } from './generated/openapi.ts';
import {
  readLimits,
  readSecret,
  readUrl,
  refuseUnknownOptions,
  type ClientOptions,
  type Limits,
  type RequestOptions,
} from './options.ts';
import { Pages } from './pages.ts';
import { retryDelayMs, sleep } from './retry.ts';
import type { Input } from './types.ts';

/** The values that each try passes to openapi-fetch. */
export type Attempt = {
  readonly signal: AbortSignal;
  readonly fetch: (request: Request) => Promise<Response>;
  readonly keepalive?: true;
};

/** The value that openapi-fetch returns. */
interface Answer {
  readonly data?: unknown;
  readonly error?: unknown;
  readonly response: Response;
}

export interface Call extends RequestOptions {
  /** True if a repeat has the same effect as one request. */
  readonly repeatable: boolean;
  /** Part of the error. */
  readonly idempotencyKey?: string | null;
  /** True if the body of an answer that is no success is a valid answer all the same. */
  readonly isAnswer?: (body: unknown, status: number) => boolean;
}

export class Transport {
  readonly api: Api<paths>;
  readonly #fetch: (request: Request) => Promise<Response>;
  readonly #limits: Limits;

  constructor(options: ClientOptions) {
    refuseUnknownOptions(options, ['url', 'secret', 'fetch']);
    const { fetch } = options;
    this.#limits = readLimits(options);
    this.#fetch = fetch === undefined ? (request) => globalThis.fetch(request) : (request) => fetch(request);
    this.api = createApi<paths>({
      baseUrl: readUrl(options.url),
      headers: { Authorization: `Bearer ${readSecret(options.secret)}` },
      // Never to another origin, and without the credentials that a browser adds by itself. `manual` rather than `error`: neither follows,
      // but `error` looks like a broken connection.
      redirect: 'manual',
      credentials: 'omit',
    });
  }

  /** The body of a successful answer. */
  async json<A extends Answer>(
    call: Call,
    request: (attempt: Attempt) => Promise<A>,
  ): Promise<NonNullable<A['data']>> {
    const { data, response } = await this.answer(call, request);
    if (data === undefined)
      throw new EmailWorkerError(readError(data, response), call.idempotencyKey ?? null);
    return data as NonNullable<A['data']>;
  }

  /** A list, read with one `request` for each page. */
  pages<Query extends { cursor?: string }, Data extends { next_cursor: string | null }, Item>(
    filter: Input<Query>,
    options: RequestOptions,
    request: (attempt: Attempt, query: Query) => Promise<Answer & { readonly data?: Data }>,
    itemsOf: (data: Data) => readonly Item[],
  ): Pages<Item> {
    return new Pages(filter.cursor ?? undefined, async (cursor) => {
      const query = plain<Query>({ ...filter, cursor });
      const data = await this.json({ ...options, repeatable: true }, (attempt) => request(attempt, query));
      return { items: itemsOf(data), nextCursor: data.next_cursor };
    });
  }

  /** A success; its `data` is undefined when it has no body. Throws EmailWorkerError, or the reason of the signal. */
  async answer<A extends Answer>(
    call: Call,
    request: (attempt: Attempt) => Promise<A>,
  ): Promise<{ readonly data: A['data']; readonly response: Response }> {
    const limits = readLimits(call, this.#limits);
    for (let repeats = 0; ; repeats++) {
      const outcome = await this.#try(limits.timeoutMs, call, request);
      if ('response' in outcome) return outcome as { data: A['data']; response: Response };
      const failure = new EmailWorkerError(outcome, call.idempotencyKey ?? null);
      const { retries, maxWaitMs } = limits;
      const attempt = { repeatable: call.repeatable, repeats, maxWaitMs };
      const delay = repeats < retries ? retryDelayMs(failure, attempt) : null;
      if (delay === null) throw failure;
      await sleep(delay, call.signal);
    }
  }

  async #try(
    timeoutMs: number,
    { signal, isAnswer, keepalive }: Call,
    request: (attempt: Attempt) => Promise<Answer>,
  ): Promise<{ readonly data: unknown; readonly response: Response } | ErrorFields> {
    signal?.throwIfAborted();
    const timeout = new AbortController();
    const timer = setTimeout(() => timeout.abort(), timeoutMs);
    let isSent = false;
    try {
      const { data, error, response } = await request({
        ...(keepalive === true ? { keepalive } : {}),
        signal: signal === undefined ? timeout.signal : AbortSignal.any([signal, timeout.signal]),
        fetch: (sent) => {
          isSent = true;
          return this.#fetch(sent);
        },
      });
      if (response.ok) return { data, response };
      return isAnswer?.(error, response.status) === true
        ? { data: error, response }
        : readError(error, response);
    } catch (cause) {
      // The request could not even be made, for example because its arguments can't be encoded: the caller has to correct it.
      if (!isSent) throw cause;
      signal?.throwIfAborted();
      if (timeout.signal.aborted)
        return { code: 'timeout', text: `No answer within ${timeoutMs} ms.`, cause };
      if (cause instanceof SyntaxError)
        return { code: 'unexpected_response', text: 'The answer is not JSON. Is the URL right?', cause };
      return { code: 'connection_failed', text: 'The service did not answer.', cause };
    } finally {
      clearTimeout(timer);
    }
  }
}

/** A caller's input in the type of the API: encoding leaves out undefined values. */
export function plain<T>(input: Input<T>): T {
  return input as T;
}

/** A value for a path. Throws TypeError for a value that would lead to another operation. */
export function segment(name: string, value: string): string {
  if (typeof value !== 'string' || value === '' || value === '.' || value === '..')
    throw new TypeError(`${name} must be a text that names something`);
  return value;
}
