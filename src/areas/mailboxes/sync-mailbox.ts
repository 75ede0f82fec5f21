/**
 * Brings the record of one mailbox up to date: opens it, records arrived and removed messages, and takes waiting messages
 * for a short while, the newest first. It is called until nothing is left and checks the mailbox each time, so that mail
 * that arrives during a long first reading comes before the rest of it.
 */
import { DAY_MS } from '../../core/durations.ts';
import type { CaptureRules } from '../../core/mailbox/capture.ts';
import { compareUids, planSync, sinceOf, type MailboxProgress } from '../../core/mailbox/sync-plan.ts';
import { NO_UIDS, piecesOf, toUidSet } from '../../core/mailbox/uid-set.ts';
import {
  FIRST_SYNC_DAYS,
  MailboxError,
  type MailboxInfo,
  type MailboxSession,
  type OpenedMailbox,
} from './mailbox-ports.ts';
import type { GenerationRef, KnownMailboxRecord } from './mailbox-record-ports.ts';
import type { Limit } from '../../platform/base/limit.ts';
import { traced } from '../../platform/base/tracing.ts';
import type { Clock } from '../../platform/base/basics.ts';
import { takeSlice, type MailboxKind, type TakeMessagesPorts } from './take-messages.ts';

export interface SyncMailboxPorts extends TakeMessagesPorts {
  readonly clock: Clock;
  /** How many accounts fetch messages at the same moment. */
  readonly fetchLimit: Limit;
}

/** A mailbox of a session that is being read. */
export interface ReadMailbox {
  readonly owner: string;
  readonly accountId: string;
  readonly record: KnownMailboxRecord;
  readonly kind: MailboxKind;
  /** As in the database; moves on with each look. */
  progress: MailboxProgress;
  /** When a known message of it may be taken, by `performance.now()`. At first: now. */
  nextTryAt: number;
}

export interface SyncOptions {
  /** Messages that the server received before are left out; null: FIRST_SYNC_DAYS before the mailbox is first read. */
  readonly since: Date | null;
  /** True for an address of the account, in lower case. */
  readonly isOwn: (address: string) => boolean;
  /** null: everything is recorded. */
  readonly capture: CaptureRules | null;
  readonly signal: AbortSignal;
  /** No further messages are begun after this; aborted with `signal` as well. */
  readonly leave: AbortSignal;
  /** Called when messages were recorded. */
  readonly onProgress: () => void;
}

/** How long messages are taken before the mailbox is checked again, in ms: new mail waits no longer than that. */
const TAKE_MS = 2000;
/** Between two looks for messages that have become due, in ms. */
const MIN_RETRY_MS = 250;
/** UIDs recorded in one statement: some tenths of a second. */
const PIECE_UIDS = 20_000;

/**
 * Returns true when there is more to take now. Throws errors of the session and of the database, and a signal's reason.
 */
export function syncMailbox(
  ports: SyncMailboxPorts,
  session: MailboxSession,
  mailbox: ReadMailbox,
  options: SyncOptions,
): Promise<boolean> {
  const attributes = {
    'email_worker.account': mailbox.accountId,
    'email_worker.mailbox': mailbox.record.id,
  };
  return traced(
    { name: 'look at mailbox', kind: 'client', attributes },
    () => lookAndTake(ports, session, mailbox, options),
    (left) => ({ attributes: { 'email_worker.more_to_take': left } }),
  );
}

async function lookAndTake(
  ports: SyncMailboxPorts,
  session: MailboxSession,
  mailbox: ReadMailbox,
  options: SyncOptions,
): Promise<boolean> {
  const { signal, leave } = options;
  const lookedAt = performance.now();
  const { generation, changed } = await look(ports, session, mailbox, options);
  if (changed || lookedAt >= mailbox.nextTryAt) {
    // Until the pass sets a better time.
    mailbox.nextTryAt = lookedAt;
    const left = await ports.fetchLimit.run(
      async (onActivity) => {
        const until = performance.now() + TAKE_MS;
        const from = {
          session,
          mailbox: generation,
          path: mailbox.record.path,
          kind: mailbox.kind,
          isOwn: options.isOwn,
          capture: options.capture,
          signal,
          onActivity,
          onTaken: options.onProgress,
          isOver: () => leave.aborted || performance.now() >= until,
        };
        for (;;) {
          leave.throwIfAborted();
          if ((await takeSlice(ports, from)) === 0) return false;
          onActivity();
          if (performance.now() >= until) return true;
        }
      },
      { signal: leave },
    );
    if (left) return true;
  }
  const { nextTryMs } = await ports.records.concludePass(generation, performance.now() - lookedAt);
  mailbox.nextTryAt = nextTryMs === null ? Infinity : performance.now() + Math.max(nextTryMs, MIN_RETRY_MS);
  return false;
}

/** Records the current state of the server. */
async function look(
  { records, clock }: SyncMailboxPorts,
  session: MailboxSession,
  mailbox: ReadMailbox,
  options: SyncOptions,
): Promise<{ generation: GenerationRef; changed: boolean }> {
  const { progress, record, owner, accountId } = mailbox;
  const { uidValidity, highestModSeq } = progress;
  const opened = await session.open(
    record.path,
    uidValidity === null ? null : { uidValidity, highestModSeq },
  );
  const generation = { owner, accountId, mailboxId: record.id, uidValidity: opened.uidValidity };
  const since = sinceOf(progress, firstDay(progress, options.since, clock));
  const vanished = opened.vanished === null ? null : toUidSet(opened.vanished);
  const plan = planSync(progress, { ...opened, vanished }, since);

  if (plan.kind !== 'nothing') {
    const from = plan.kind === 'compare' ? 1 : plan.from;
    const listed = toUidSet(await session.listUids(from, since, hasDrafts(record)));
    if (plan.kind === 'compare' && hasDrafts(record)) refuseEmptyList(opened, listed.length, since);
    const changes =
      plan.kind === 'compare'
        ? compareUids(await records.readUids(record.id, opened.uidValidity), listed)
        : { arrived: listed, gone: plan.gone };
    if (changes.gone.length > 0)
      await records.recordChanges(generation, { arrived: NO_UIDS, gone: changes.gone });
    for (const arrived of piecesOf(changes.arrived, PIECE_UIDS)) {
      await records.recordChanges(generation, { arrived, gone: NO_UIDS });
    }
  }
  const reached: MailboxProgress = {
    uidValidity: opened.uidValidity,
    uidNext: opened.uidNext,
    exists: opened.exists,
    highestModSeq: opened.highestModSeq,
    since,
  };
  if (plan.kind !== 'nothing' || reached.highestModSeq !== progress.highestModSeq) {
    await records.recordProgress(generation, reached);
  }
  mailbox.progress = reached;
  return { generation, changed: plan.kind !== 'nothing' };
}

/**
 * Gmail's All Mail has drafts, too, a new one after each save. In INBOX and Sent, where programs may leave the flag at what was sent, and
 * in the mailbox for drafts, all is read.
 */
export const hasDrafts = ({ specialUse }: Pick<MailboxInfo, 'specialUse'>): boolean =>
  specialUse !== null && WITH_DRAFTS.has(specialUse.toLowerCase());
const WITH_DRAFTS: ReadonlySet<string> = new Set(['\\inbox', '\\sent', '\\drafts']);

function firstDay(progress: MailboxProgress, configured: Date | null, clock: Clock): Date | null {
  if (configured !== null) return configured;
  if (progress.uidValidity !== null) return progress.since;
  return new Date((Math.floor(clock().getTime() / DAY_MS) - FIRST_SYNC_DAYS) * DAY_MS);
}

/** With an empty list, every known message would be taken as gone. */
function refuseEmptyList({ exists }: OpenedMailbox, listed: number, since: Date | null): void {
  if (listed > 0 || exists === 0 || since !== null) return;
  throw new MailboxError('refused', `the server lists no message of ${exists}`);
}
