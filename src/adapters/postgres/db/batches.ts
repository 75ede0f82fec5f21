/** Collects what comes while a write is under way, so that one round trip and one commit serve many. */
import { outsideRequest } from '../../../app/base/request-scope.ts';
import { ServiceError } from '../../../core/errors.ts';
import { isUnreachable } from './pool.ts';
import { tracedStatements } from './statement-spans.ts';

export interface BatchLimits {
  /** What traces call the wait for the write. */
  readonly name: string;
  /** Items in one write at most: beyond some number a larger batch gains nothing and only makes the first one wait. */
  readonly items: number;
  /** Bytes in one write at most, but for a single item; bounds the memory of a batch. */
  readonly bytes: number;
  /**
   * When the database can't be reached, all waiting callers are told at once, instead of each batch after its own
   * timeout. Not for work that is worth another try as long as a caller waits.
   */
  readonly failTogether: boolean;
  /** Writes (or reads) under way at the same moment. Default: 1. */
  readonly atOnce?: number;
  /** What comes in one turn of the event loop is in one batch, which begins at its end. Default: false, the first one begins alone. */
  readonly collectsTurn?: boolean;
  /** What comes within this time is in one batch, in ms: for items that no caller waits for. Default: the first one begins alone. */
  readonly gatherMs?: number;
}

/**
 * Returns the function that has one item written. One write at a time: of sends, two at once made smaller ones, and cost the
 * server a quarter more for each. It rejects as `write` does; when that refuses several items, each is written alone,
 * so that one which the database refuses does not take the others with it.
 *
 * @param write gets at least one item; resolves with one result for each, in their order, which need not be there yet
 */
export function createBatches<T, R>(
  limits: BatchLimits,
  bytesOf: (item: T) => number,
  write: (items: readonly T[]) => Promise<readonly (R | Promise<R>)[]>,
): (item: T) => Promise<R> {
  const waiting: Waiting<T, R>[] = [];
  const atOnce = limits.atOnce ?? 1;
  let writing = 0;
  let gathering: NodeJS.Timeout | undefined;

  function start(): void {
    while (writing < atOnce && waiting.length > 0) {
      writing += 1;
      // Of many callers, and of none alone.
      outsideRequest(() => writeBatch(takeBatch())).then(goOn, goOn);
    }
  }

  function goOn(): void {
    writing -= 1;
    if (limits.gatherMs === undefined) start();
    else if (waiting.length > 0) gather(limits.gatherMs);
  }

  function gather(ms: number): void {
    gathering ??= setTimeout(() => {
      gathering = undefined;
      start();
    }, ms);
  }

  function takeBatch(): readonly Waiting<T, R>[] {
    let count = 0;
    let bytes = 0;
    for (const { item } of waiting) {
      bytes += bytesOf(item);
      if (count > 0 && (count >= limits.items || bytes > limits.bytes)) break;
      count += 1;
    }
    return waiting.splice(0, count);
  }

  async function writeBatch(batch: readonly Waiting<T, R>[]): Promise<void> {
    try {
      const results = await write(batch.map(({ item }) => item));
      for (const [index, { resolve }] of batch.entries()) resolve(results[index] as R | Promise<R>);
    } catch (error) {
      if (batch.length === 1 || isAboutAll(error)) {
        const isForAll = limits.failTogether && isUnreachable(error);
        const told = isForAll ? [...batch, ...waiting.splice(0)] : batch;
        for (const { reject } of told) reject(error);
        return;
      }
      for (const item of batch) await writeBatch([item]);
    }
  }

  return (item) => {
    const written = new Promise<R>((resolve, reject) => {
      waiting.push({ item, resolve, reject });
      if (limits.gatherMs !== undefined) gather(limits.gatherMs);
      else if (limits.collectsTurn !== true) start();
      else if (waiting.length === 1) setImmediate(start);
    });
    return tracedStatements(() => [limits.name], written);
  };
}

interface Waiting<T, R> {
  readonly item: T;
  readonly resolve: (result: R | Promise<R>) => void;
  readonly reject: (error: unknown) => void;
}

function isAboutAll(error: unknown): boolean {
  return error instanceof ServiceError && error.code === 'database_unavailable';
}
