/**
 * The running service, for commands that use its API: with the rights of the key, in the audit log, and with the guarantees of a send.
 * Requests that are safe to repeat are repeated when the answer is lost.
 */
import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import type { ApiAnswer, ApiRequest } from '../../api/mcp/api-call.ts';
import { callOver } from '../../api/mcp/call-over.ts';
import type { Config } from '../../config/config.ts';
import { checkConfigured } from '../../service/open-certificates.ts';
import { UsageError, type CommandContext } from '../command.ts';
import { formatError } from '../../core/causes.ts';
import { parseUrl } from '../values.ts';

/** Options of the commands that call the service through `openApi`. */
export const API_OPTIONS = {
  url: {
    type: 'string',
    value: 'url',
    meaning:
      'URL of the service. Default: EMAIL_WORKER_URL, or the address in this configuration. EMAIL_WORKER_KEY is the key; by ' +
      'default the API secret, but only for the service of this configuration.',
  },
  json: { type: 'boolean', meaning: 'Prints JSON as the API returns it, one object a line.' },
} as const;

/** The service did not do what the command asked for. */
export class ApiError extends Error {
  override readonly name = 'ApiError';
  /** The code of the service's error; null when the service did not answer. */
  readonly code: string | null;
  /** True if another try may succeed. */
  readonly passing: boolean;

  constructor(code: string | null, message: string, passing = false) {
    super(message);
    this.code = code;
    this.passing = passing;
  }
}

export interface ServiceApi {
  /** The body of the answer. Throws `ApiError`. A GET is repeated after a passing failure, and so is a request with an idempotency key. */
  ask<T>(request: ApiRequest): Promise<T>;
  /** The items of a list, read page by page, at most `limit`. `field` is the API's name for them. */
  list<T>(request: ApiListing): AsyncIterable<T>;
}

export interface ApiListing {
  readonly path: string;
  readonly query?: ApiRequest['query'];
  readonly field: string;
  readonly limit: number;
}

/** The waits before each repeat of a request, in ms. */
const REPEAT_AFTER_MS = [500, 1000, 2000] as const;
/** From a proxy, or from the service while it starts or stops. */
const PASSING_STATUSES: ReadonlySet<number> = new Set([429, 502, 503, 504]);
const MAX_PAGE = 100;

/** @param url the value of `--url` */
export async function openApi(
  url: string | undefined,
  { config, signal }: Pick<CommandContext, 'config' | 'signal'>,
): Promise<ServiceApi> {
  const target = await findTarget(url, config);
  const call = callOver(target.url, target.token, signal);

  async function ask<T>(request: ApiRequest): Promise<T> {
    const mayRepeat = request.method === 'GET' || request.idempotencyKey !== undefined;
    for (let repeats = 0; ; repeats += 1) {
      const outcome = await attempt(request);
      if (!(outcome instanceof ApiError)) return outcome as T;
      const delay = REPEAT_AFTER_MS[repeats];
      if (!mayRepeat || !outcome.passing || delay === undefined) throw outcome;
      await wait(delay, undefined, { signal });
    }
  }

  async function attempt(request: ApiRequest): Promise<unknown> {
    let answer: ApiAnswer;
    try {
      answer = await call(request);
    } catch (error) {
      signal.throwIfAborted();
      return noAnswer(target.url, error);
    }
    const { status, json } = answer;
    if (status >= 200 && status < 300 && typeof json === 'object') return json;
    return toError(target.url, answer);
  }

  return {
    ask,
    async *list<T>({ path: listPath, query = {}, field, limit }: ApiListing) {
      let left = limit;
      let cursor: string | undefined;
      do {
        const page = await ask<Readonly<Record<string, unknown>>>({
          method: 'GET',
          path: listPath,
          query: { ...query, limit: Math.min(left, MAX_PAGE), cursor },
        });
        const items = page[field];
        if (!Array.isArray(items)) throw notOurs(target.url);
        yield* items as readonly T[];
        left -= items.length;
        cursor = typeof page['next_cursor'] === 'string' ? page['next_cursor'] : undefined;
      } while (cursor !== undefined && left > 0);
    },
  };
}

interface Target {
  readonly url: URL;
  readonly token: string;
}

/** The secret of this configuration goes to its own service and to no other address. */
async function findTarget(named: string | undefined, config: Config): Promise<Target> {
  const url = named === undefined ? config.commands.serviceUrl : parseUrl('--url', named);
  const { serviceKey } = config.commands;
  if (url === null) return { url: ownUrl(config), token: serviceKey ?? (await ownSecret(config)) };
  if (serviceKey === null)
    throw new UsageError('EMAIL_WORKER_KEY is not set: it names the key to ask that service with');
  return { url, token: serviceKey };
}

/** The address at which the service of this configuration listens, seen from this machine. Throws UsageError when it can't be known. */
export function ownUrl({ host, port, tls }: Pick<Config, 'host' | 'port' | 'tls'>): URL {
  if (port === 0) throw new UsageError('PORT is 0, so name the service with --url');
  // Only the name in its certificate is certain to be right.
  const name = tls === null ? null : checkConfigured(tls).name;
  if (tls !== null) return new URL(`https://${name ?? '127.0.0.1'}:${port}`);
  const reached = host === '0.0.0.0' ? '127.0.0.1' : host === '::' ? '::1' : host;
  return new URL(`http://${reached.includes(':') ? `[${reached}]` : reached}:${port}`);
}

async function ownSecret({ apiSecrets, dataDir }: Config): Promise<string> {
  const [configured] = apiSecrets;
  if (configured !== undefined) return configured;
  const file = path.join(dataDir, 'api-secret');
  try {
    return (await readFile(file, 'utf8')).trim();
  } catch (error) {
    const isMissing = error instanceof Error && 'code' in error && error.code === 'ENOENT';
    const why = isMissing
      ? 'the service makes it at its first start; start it, or set EMAIL_WORKER_KEY'
      : 'run the command as the user of the service, or set EMAIL_WORKER_KEY';
    throw new ApiError(null, `there is no API secret to read in ${file}: ${why}`);
  }
}

/** No process listens at that address, so another try would not find one either. */
function isRefused(error: unknown): boolean {
  const cause = error instanceof Error ? error.cause : undefined;
  return cause instanceof Error && 'code' in cause && cause.code === 'ECONNREFUSED';
}

function noAnswer(url: URL, error: unknown): ApiError {
  if (isRefused(error)) {
    return new ApiError(
      null,
      `no service answers at ${url.origin}: start it, or name it with --url or EMAIL_WORKER_URL`,
    );
  }
  if (error instanceof SyntaxError) return notOurs(url);
  return new ApiError(null, `${url.origin} did not answer: ${formatError(error)}`, true);
}

const notOurs = (url: URL): ApiError =>
  new ApiError(null, `what answers at ${url.origin} is not this service; is the address right?`);

function toError(url: URL, { status, json }: ApiAnswer): ApiError {
  const { error, code, details, id, problems } = Object(json) as Readonly<Record<string, unknown>>;
  if (typeof error !== 'string' || typeof code !== 'string') return notOurs(url);
  const more = typeof details === 'string' ? ` (${details})` : '';
  const others = Array.isArray(problems) ? problems.slice(1).map(toMore).join('') : '';
  const recorded = typeof id === 'string' ? `; the email is ${id}` : '';
  const passing =
    code === 'idempotency_in_progress' || (PASSING_STATUSES.has(status) && code !== 'too_many_failed_logins');
  return new ApiError(code, `${code}: ${error}${more}${recorded}${others}`, passing);
}

/** One more mistake of the same request. */
const toMore = (problem: unknown): string => {
  const { code, error } = Object(problem) as Readonly<Record<string, unknown>>;
  return `; ${String(code)}: ${String(error)}`;
};
