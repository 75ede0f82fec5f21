/** Decides when a request is repeated, and after how long. */
import type { EmailWorkerError } from './errors.ts';

/** The first wait is at most this long; each further one at most twice the one before. */
const FIRST_BACKOFF_MS = 500;
const MAX_BACKOFF_MS = 8_000;

/** The request was not carried out, or its repeat has the same effect. 502 and 504 come from a proxy. */
const TEMPORARY_STATUSES: ReadonlySet<number | null> = new Set([408, 429, 502, 503, 504]);
const TEMPORARY_CODES: ReadonlySet<string> = new Set([
  'connection_failed',
  'timeout',
  'idempotency_in_progress',
]);

/**
 * The wait before the repeat after `failure`, in ms; null: it is not repeated. `repeats` counts the repeats so far. A failure that asks for
 * a longer wait than `maxWaitMs` is not repeated: the caller knows better what to do meanwhile. A request that is not
 * `repeatable` may have had its effect before its answer was lost, so only a 429 is repeated, which the service sends before it does
 * anything.
 */
export function retryDelayMs(
  failure: EmailWorkerError,
  { repeatable, repeats, maxWaitMs }: { repeatable: boolean; repeats: number; maxWaitMs: number },
): number | null {
  const { code, status, retryAfterMs } = failure;
  // The secret is wrong, and each repeat would count as another guess.
  if (code === 'too_many_failed_logins') return null;
  const isTemporary = TEMPORARY_CODES.has(code) || TEMPORARY_STATUSES.has(status);
  if (!(repeatable ? isTemporary : status === 429)) return null;
  // Jitter: callers that failed together must not all retry at the same moment.
  const backoff = Math.min(MAX_BACKOFF_MS, FIRST_BACKOFF_MS * 2 ** repeats) * (0.5 + Math.random() / 2);
  if (retryAfterMs === null) return backoff;
  const wait = Math.max(backoff, retryAfterMs + Math.random() * FIRST_BACKOFF_MS);
  return retryAfterMs > maxWaitMs ? null : wait;
}

/** Throws the signal's reason when it is aborted. */
export async function sleep(ms: number, signal: AbortSignal | undefined): Promise<void> {
  signal?.throwIfAborted();
  await new Promise<void>((resolve, reject) => {
    const end = (): void => {
      clearTimeout(timer);
      signal?.removeEventListener('abort', abort);
    };
    const abort = (): void => {
      end();
      reject(signal?.reason as Error);
    };
    const timer = setTimeout(() => {
      end();
      resolve();
    }, ms);
    signal?.addEventListener('abort', abort);
  });
}
