/** The changes that `rethread --dry-run` reports. */
import type pg from 'pg';
import { createRethreadStore } from '../../src/areas/threads/rethread-store.ts';
import { rethread } from '../../src/areas/threads/rethread.ts';

/** For all accounts; empty when the threads are right. */
export async function dryRethread(pool: pg.Pool): Promise<readonly unknown[]> {
  const changes: unknown[] = [];
  const { moved, merged, messageIds } = await rethread(createRethreadStore(pool), {
    dryRun: true,
    signal: new AbortController().signal,
    onChanges: (change) => changes.push(change),
    onProgress: () => undefined,
  });
  if (changes.length === 0 && moved + merged + messageIds > 0)
    throw new Error('changes that were not reported');
  return changes;
}
