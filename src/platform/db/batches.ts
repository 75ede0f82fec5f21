/** Collects items that arrive while a write is under way, so that one round trip and one commit serve many. */
import { outsideRequest } from '../base/request-scope.ts';
import { ServiceError } from '../../core/errors.ts';
import { isUnreachable } from './pool.ts';
import { tracedStatements } from './statement-spans.ts';

export interface BatchLimits {
  /** The name that traces give to the wait for the write. */
  readonly name: string;
  /** Most items in one write: beyond some number a larger batch gains nothing and only makes the first item wait. */
  readonly items: number;
  /** Most bytes in one write, unless it has a single item; bounds the memory of a batch. */
  readonly bytes: number;
  /**
   * When the database can't be reached, all waiting callers fail at once, instead of each batch after its own timeout. Not for work that is
   * worth another try as long as a caller waits.
   */
  readonly failTogether: boolean;
  /** Writes (or reads) under way at the same moment. Default: 1. */
  readonly atOnce?: number;
  /**
   * Items that arrive in one turn of the event loop form one batch, which begins at the end of the turn. Default: false, the first item
   * begins alone.
   */
  readonly collectsTurn?: boolean;
  /**
   * Items that arrive within this time, in ms, form one batch: for items that no caller waits for. Default: the first item begins alone.
   */
  readonly gatherMs?: number;
}

/**
 * Returns the function that has one item written. By default one write is under way at a time: with two at once, the batches of sends were
 * smaller, and each send cost the server a quarter more. The function rejects as `write` does; when the database refuses a batch, each item
 * is written alone, so that a refused item does not take the others with it.
 *
 * @param write gets at least one item; resolves with one result per item, in their order, each of which may still be pending
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
      // A batch serves many callers, so it belongs to no request.
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
