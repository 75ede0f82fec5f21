/**
 * Deletes threads that an account no longer keeps. Whole threads, by their last email: a conversation is kept as long as
 * it goes on, and never in part. The database decides by its clock what is due, and bounds what is deleted in an hour; more needs an
 * operator who confirms it.
 */
import { setTimeout as wait } from 'node:timers/promises';
import { invalidRequest } from '../../core/errors.ts';
import { keyIdOf, type Caller } from '../../core/keys/caller.ts';
import type { Logger } from '../../platform/base/basics.ts';
import { AT_ONCE, type DeleteEmailsPorts } from './delete-emails.ts';
import type { RequireCertainty } from '../../platform/files/file-ports.ts';
import type { DueThreads, Retention, RetentionRule, RetentionStore } from './retention-store.ts';

export interface RetentionPorts extends Pick<DeleteEmailsPorts, 'deleteFiles' | 'requireCertainty'> {
  readonly retention: RetentionStore;
  /** Those of the accounts now. */
  readonly rules: () => readonly RetentionRule[];
  readonly logger: Logger;
}

/** Threads found in one query. */
const FOUND_AT_ONCE = 500;
/**
 * The pause after each thread leaves the database to others, in ms: a backlog of years takes days, without noticeable
 * load.
 */
const PAUSE_MS = 50;

/**
 * May be interrupted at any point. Several processes at once do no harm: a thread is deleted once. Throws what `RequireCertainty`
 * throws.
 *
 * @returns what stays due for now because it exceeds the bound; null: nothing
 */
export async function deleteQuietThreads(
  ports: RetentionPorts,
  signal: AbortSignal,
): Promise<readonly DueThreads[] | null> {
  const { retention, rules, logger } = ports;
  for (const rule of rules()) {
    const total = { threads: 0, emails: 0 };
    const isHeld = await deleteUnder(ports, rule, total, signal);
    if (total.threads > 0) logger.info({ ...rule, ...total }, 'threads were deleted by retention');
    if (signal.aborted) return null;
    if (!isHeld) continue;
    const due = await countDue(ports);
    await retention.hold(due);
    logger.warn({ due }, 'more threads are due than may be deleted in an hour; an operator can confirm them');
    return due;
  }
  await retention.release();
  return null;
}

/** True: the hour has no more room. */
async function deleteUnder(
  { retention, deleteFiles, requireCertainty }: RetentionPorts,
  rule: RetentionRule,
  total: { threads: number; emails: number },
  signal: AbortSignal,
): Promise<boolean> {
  for (;;) {
    await requireCertainty();
    const threads = await retention.findQuiet(rule, FOUND_AT_ONCE);
    let deleted = 0;
    let isHeld = false;
    for (const id of threads) {
      if (signal.aborted) break;
      const emails = await deleteWhole(retention, requireCertainty, id, rule);
      isHeld = emails === 'held';
      if (emails === 'held') break;
      if (emails > 0) deleted += 1;
      total.emails += emails;
      await wait(PAUSE_MS, undefined, { signal }).catch(() => undefined);
    }
    await deleteFiles();
    total.threads += deleted;
    // An email that arrived meanwhile keeps its thread.
    if (isHeld || signal.aborted || deleted === 0) return isHeld;
  }
}

async function deleteWhole(
  retention: RetentionStore,
  requireCertainty: RequireCertainty,
  id: string,
  { days }: RetentionRule,
): Promise<number | 'held'> {
  let total = 0;
  for (;;) {
    await requireCertainty();
    const deleted = await retention.deleteSomeQuiet(id, { days, limit: AT_ONCE, isFirst: total === 0 });
    if (deleted === 'held' && total === 0) return 'held';
    if (typeof deleted !== 'number') return total;
    total += deleted;
    if (deleted < AT_ONCE) return total;
  }
}

export async function countDue({
  retention,
  rules,
}: Pick<RetentionPorts, 'retention' | 'rules'>): Promise<readonly DueThreads[]> {
  const due: DueThreads[] = [];
  for (const rule of rules()) due.push(await retention.countQuiet(rule));
  return due;
}

export const emailsOf = (due: readonly DueThreads[]): number =>
  due.reduce((sum, { emails }) => sum + emails, 0);

export type ConfirmRetention = ReturnType<typeof createRetention>;

export function createRetention(
  ports: Pick<RetentionPorts, 'retention' | 'rules' | 'requireCertainty'> & { readonly wake: () => void },
) {
  const read = async (): Promise<Retention> => {
    const due = await countDue(ports);
    return { ...(await ports.retention.readHour()), due };
  };
  return {
    /** What is due by the accounts' rules, and what may be deleted of it in this hour. */
    read,
    /**
     * Lets so many emails go beyond the bound, within a day; a dry run changes nothing and returns the same. Throws `invalid_request` for more
     * than are due, and what `RequireCertainty` throws.
     */
    async confirm(
      caller: Caller,
      { emails, dryRun }: { readonly emails: number; readonly dryRun: boolean },
    ): Promise<Retention> {
      const before = await read();
      const dueEmails = emailsOf(before.due);
      if (emails > dueEmails) throw invalidRequest('too_large', { field: 'emails', limit: dueEmails });
      if (dryRun) return before;
      await ports.requireCertainty();
      await ports.retention.confirm(emails, keyIdOf(caller));
      ports.wake();
      return { ...(await ports.retention.readHour()), due: before.due };
    },
  };
}
