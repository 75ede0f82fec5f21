/**
 * Deletes threads that an account no longer keeps. Whole threads, by their last email: a conversation is kept as long as
 * it goes on, and never in part.
 */
import { setTimeout as wait } from 'node:timers/promises';
import { DAY_MS } from '../../core/durations.ts';
import type { Clock, Logger } from '../base/basics.ts';
import { AT_ONCE, type DeleteEmailsPorts } from './delete-emails.ts';
import type { DeletionStore } from './delete-ports.ts';

/** How long an account keeps threads in which nothing happens. */
export interface RetentionRule {
  readonly accountId: string;
  readonly days: number;
}

export interface RetentionPorts extends DeleteEmailsPorts {
  readonly rules: readonly RetentionRule[];
  readonly clock: Clock;
  readonly logger: Logger;
}

/** Threads found in one query. */
const FOUND_AT_ONCE = 500;
/**
 * The pause after each thread leaves the database to others, in ms: a backlog of years takes days, without noticeable
 * load.
 */
const PAUSE_MS = 50;

/** A thread is quiet if its last email is from before this moment. */
export const quietSince = ({ days }: RetentionRule, clock: Clock): Date =>
  new Date(clock().getTime() - days * DAY_MS);

/** May be interrupted at any point. Several processes at once do no harm: a thread is deleted once. */
export async function deleteQuietThreads(ports: RetentionPorts, signal: AbortSignal): Promise<void> {
  for (const rule of ports.rules) {
    const since = quietSince(rule, ports.clock);
    const total = { threads: 0, emails: 0 };
    for (;;) {
      const threads = await ports.deletions.findQuiet(rule.accountId, since, FOUND_AT_ONCE);
      let deleted = 0;
      for (const id of threads) {
        if (signal.aborted) break;
        const emails = await deleteWhole(ports.deletions, id, since);
        if (emails > 0) deleted += 1;
        total.emails += emails;
        await wait(PAUSE_MS, undefined, { signal }).catch(() => undefined);
      }
      await ports.deleteFiles();
      total.threads += deleted;
      // An email that arrived meanwhile keeps its thread.
      if (signal.aborted || deleted === 0) break;
    }
    if (total.threads > 0) {
      ports.logger.info({ ...rule, ...total }, 'threads were deleted that are kept no longer');
    }
    if (signal.aborted) return;
  }
}

async function deleteWhole(deletions: DeletionStore, id: string, since: Date): Promise<number> {
  let total = 0;
  for (;;) {
    const deleted = await deletions.deleteSomeOfThread(id, AT_ONCE, since);
    if (typeof deleted !== 'number') return total;
    total += deleted;
    if (deleted < AT_ONCE) return total;
  }
}
