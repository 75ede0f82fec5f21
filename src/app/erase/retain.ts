/**
 * Deletes threads that an account keeps no longer. Whole threads, by the last email in them: a conversation is kept as long as
 * it goes on, and never by half.
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

/** Threads that are looked for together. */
const FOUND_AT_ONCE = 500;
/** After each thread the database is left to others, in ms: so a backlog of years takes days, without a load that is felt. */
const PAUSE_MS = 50;

/** Before this moment the last email of a thread is old. */
export const quietSince = ({ days }: RetentionRule, clock: Clock): Date =>
  new Date(clock().getTime() - days * DAY_MS);

/** May be interrupted anywhere. Several processes at once do no harm: a thread is deleted once. */
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
      // An email that came meanwhile keeps its thread.
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
