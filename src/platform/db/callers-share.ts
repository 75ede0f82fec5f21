/**
 * A part of the connections of a pool: callers' requests together hold at most that many, and the rest is left for mail that arrives and goes
 * out. However much callers ask for, and however slow it is, mail finds a connection. Callers take turns for the share, and none holds all of
 * it: statements that do not come to an end leave a connection for the next caller as well.
 */
import type { Pool, PoolClient } from 'pg';
import { FairQueue } from '../base/fair-queue.ts';

export interface CallersShareOptions {
  /** Connections at the same moment; at least 1. */
  readonly most: number;
  /** How long to wait for one, in ms; afterwards it is as if the pool had none. */
  readonly patienceMs: number;
  /** The caller that the work under way is for; undefined: not known. */
  readonly asker: () => string | undefined;
}

/** Connections that callers may hold of a pool of this size: of 10, mail has 4 that they can't take. */
export const callersShareOf = (size: number): number => Math.max(1, size - Math.ceil(size / 3));

/** Connections of such a share that one caller may hold: of 6, the others have 2 that it can't take. */
export const callerShareOf = (most: number): number => callersShareOf(most);

interface Waiting {
  /** False: it no longer waits. */
  readonly begin: () => boolean;
}

/** Of a caller that is not known. */
const UNKNOWN = '';

export function createCallersShare(pool: Pool, { most, patienceMs, asker }: CallersShareOptions): Pool {
  const waiting = new FairQueue<Waiting>();
  const mostOfOne = callerShareOf(most);
  /** By caller; without those that hold none. */
  const heldBy = new Map<string, number>();
  let held = 0;

  /** Those that are not known are many. */
  const mayHold = (caller: string) => caller === UNKNOWN || (heldBy.get(caller) ?? 0) < mostOfOne;

  function take(caller: string): void {
    held += 1;
    heldBy.set(caller, (heldBy.get(caller) ?? 0) + 1);
  }

  function end(caller: string): void {
    held -= 1;
    const left = (heldBy.get(caller) ?? 0) - 1;
    if (left > 0) heldBy.set(caller, left);
    else heldBy.delete(caller);
    for (let next = waiting.take(mayHold); next !== null; next = waiting.take(mayHold)) {
      if (next.begin()) return;
    }
  }

  function turn(caller: string): Promise<void> {
    return new Promise((resolve, reject) => {
      let isOver = false;
      const timer = setTimeout(() => {
        isOver = true;
        // As the pool itself says it.
        reject(new Error('timeout exceeded when trying to connect'));
      }, patienceMs);
      const begin = () => {
        if (isOver) return false;
        clearTimeout(timer);
        take(caller);
        resolve();
        return true;
      };
      waiting.push(caller, { begin });
    });
  }

  /** Resolves when there is room; the function that it returns gives it back. */
  async function begin(): Promise<() => void> {
    const caller = asker() ?? UNKNOWN;
    if (held < most && mayHold(caller)) take(caller);
    else await turn(caller);
    return () => end(caller);
  }

  const query = async (...args: Parameters<Pool['query']>): Promise<unknown> => {
    const end = await begin();
    try {
      return await pool.query(...args);
    } finally {
      end();
    }
  };

  const connect = async (): Promise<PoolClient> => {
    const end = await begin();
    let client: PoolClient;
    try {
      client = await pool.connect();
    } catch (error) {
      end();
      throw error;
    }
    const giveBack = client.release;
    client.release = (destroy) => {
      client.release = giveBack;
      end();
      giveBack(destroy);
    };
    return client;
  };

  return Object.assign(Object.create(pool) as Pool, { query, connect });
}
