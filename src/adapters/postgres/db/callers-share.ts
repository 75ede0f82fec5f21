/**
 * A part of the connections of a pool: callers' requests together hold at most that many, and the rest is left for mail that arrives and goes
 * out. However much callers ask for, and however slow it is, mail finds a connection. Callers take turns for the share.
 */
import type { Pool, PoolClient } from 'pg';
import { FairQueue } from '../../../app/base/fair-queue.ts';

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

interface Waiting {
  /** False: it no longer waits. */
  readonly begin: () => boolean;
}

export function createCallersShare(pool: Pool, { most, patienceMs, asker }: CallersShareOptions): Pool {
  const waiting = new FairQueue<Waiting>();
  const anyone = () => true;
  let held = 0;

  function end(): void {
    for (let next = waiting.take(anyone); next !== null; next = waiting.take(anyone)) {
      if (next.begin()) return;
    }
    held -= 1;
  }

  function turn(): Promise<void> {
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
        resolve();
        return true;
      };
      waiting.push(asker() ?? '', { begin });
    });
  }

  /** Resolves when there is room; `end` gives it back. */
  async function begin(): Promise<void> {
    if (held >= most) return turn();
    held += 1;
  }

  const query = async (...args: Parameters<Pool['query']>): Promise<unknown> => {
    await begin();
    try {
      return await pool.query(...args);
    } finally {
      end();
    }
  };

  const connect = async (): Promise<PoolClient> => {
    await begin();
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
