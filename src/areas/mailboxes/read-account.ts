/**
 * Reads the mailboxes of one account over one connection, until it breaks or the reading is stopped: INBOX, the Sent mailbox and the others
 * of the account first, then INBOX whenever the server reports a change, and all from time to time anyway.
 */
import { isDeepStrictEqual } from 'node:util';
import { isCaptured, type CaptureRules } from '../../core/mailbox/capture.ts';
import { MailboxError, type MailboxInfo, type MailboxSession } from './mailbox-ports.ts';
import type { MailboxRecords } from './mailbox-record-ports.ts';
import { reasonOf } from './take-messages.ts';
import { syncMailbox, type ReadMailbox, type SyncMailboxPorts } from './sync-mailbox.ts';

export interface ReadAccountPorts extends SyncMailboxPorts {
  readonly records: MailboxRecords;
}

export interface ReadAccountOptions {
  readonly owner: string;
  readonly accountId: string;
  /** See `SyncOptions`. */
  readonly since: Date | null;
  /** See `MailboxAccount`. */
  readonly isOwn: (address: string) => boolean;
  readonly capture: CaptureRules | null;
  /** How long a mailbox may go without being checked, in ms. */
  readonly pollMs: number;
  /** Ends the reading, whatever is under way: the caller closes the session. */
  readonly signal: AbortSignal;
  /** Ends the reading after the messages in hand; aborted with `signal` as well. */
  readonly leave: AbortSignal;
  /**
   * Called before each wait: returns a signal that ends this wait, because of `leave` or to have everything checked now.
   */
  readonly beginWait: () => AbortSignal;
  /** Called when messages were recorded. */
  readonly onProgress: () => void;
}

interface Visited extends ReadMailbox {
  /** When it was last checked, by `performance.now()`; null: not yet. */
  lookedAt: number | null;
}

/**
 * Ends only by throwing: the errors of the session, `LeaseLost`, `ServiceError`, the reason of `signal` or `leave`. The
 * caller closes the session, at once when `signal` is aborted.
 */
export async function readAccount(
  ports: ReadAccountPorts,
  session: MailboxSession,
  options: ReadAccountOptions,
): Promise<never> {
  const { leave } = options;
  let listed = await listToRead(session, options);
  let listedAt = performance.now();
  let mailboxes = await openListed(ports, listed, [], options);
  let inbox = firstOf(mailboxes);

  const due = new Set(mailboxes);
  let opened: Visited | null = null;
  for (;;) {
    if (hasOthers(options.capture) && performance.now() - listedAt >= options.pollMs) {
      leave.throwIfAborted();
      const now = await listToRead(session, options);
      listedAt = performance.now();
      if (!isDeepStrictEqual(now, listed)) {
        listed = now;
        mailboxes = await openListed(ports, listed, mailboxes, options);
        inbox = firstOf(mailboxes);
        for (const mailbox of due) if (!mailboxes.includes(mailbox)) due.delete(mailbox);
        for (const mailbox of mailboxes) if (mailbox.lookedAt === null) due.add(mailbox);
      }
    }
    // INBOX first, when there may be much to take; last, when it only has to be open for the wait.
    const round: readonly Visited[] = inbox.lookedAt === null ? mailboxes : mailboxes.toReversed();
    for (const mailbox of round) {
      leave.throwIfAborted();
      if (!due.has(mailbox)) continue;
      opened = mailbox;
      if (!(await visit(ports, session, mailbox, inbox, options))) due.delete(mailbox);
    }
    for (const mailbox of mailboxes) if (isDue(mailbox, options.pollMs)) due.add(mailbox);
    if (due.size === 0 && opened === inbox) {
      for (const mailbox of await waitForWork(session, mailboxes, inbox, options)) due.add(mailbox);
    } else {
      due.add(inbox);
    }
  }
}

const listToRead = async (
  session: MailboxSession,
  { capture }: ReadAccountOptions,
): Promise<readonly MailboxInfo[]> => mailboxesToRead(await session.listMailboxes(), capture);

/** Mailboxes may come and go, but for INBOX and Sent. */
const hasOthers = (capture: CaptureRules | null): boolean => capture !== null && capture.folders.length > 0;

/** @param known these stay as they are */
async function openListed(
  { records }: ReadAccountPorts,
  listed: readonly MailboxInfo[],
  known: readonly Visited[],
  { owner, accountId, capture }: ReadAccountOptions,
): Promise<readonly Visited[]> {
  const opened = await records.openMailboxes(owner, accountId, listed, capture);
  return opened.map((record): Visited => {
    const same = known.find(
      (one) => one.record.id === record.id && one.record.specialUse === record.specialUse,
    );
    if (same !== undefined) return same;
    return {
      owner,
      accountId,
      record,
      kind: record.specialUse === INBOX ? 'inbox' : record.specialUse === SENT ? 'sent' : 'other',
      progress: record.progress,
      lookedAt: null,
      nextTryAt: -Infinity,
    };
  });
}

function firstOf([inbox]: readonly Visited[]): Visited {
  if (inbox === undefined) throw new MailboxError('refused', 'the account has no INBOX');
  return inbox;
}

const INBOX = '\\Inbox';
const SENT = '\\Sent';

/** A mailbox is opened at least every `pollMs`: with more of them, looking would take longer than that. */
const MAX_OTHER_MAILBOXES = 100;

/** INBOX, then the Sent mailbox if there is one, then those that the rules name. */
export function mailboxesToRead(
  listed: readonly MailboxInfo[],
  capture: Pick<CaptureRules, 'folders'> | null,
): readonly MailboxInfo[] {
  // PostgreSQL can't store NUL, and no real mailbox has one.
  const mailboxes = listed.filter(({ path }) => !path.includes('\0'));
  const always = [INBOX, SENT].flatMap((use) =>
    mailboxes.filter(({ specialUse }) => specialUse === use).slice(0, 1),
  );
  const { folders = [] } = capture ?? {};
  const others = mailboxes.filter((mailbox) => !always.includes(mailbox) && isCaptured(folders, mailbox));
  return [...always, ...others.slice(0, MAX_OTHER_MAILBOXES)];
}

function isDue({ lookedAt, nextTryAt }: Visited, pollMs: number): boolean {
  const now = performance.now();
  return lookedAt === null || now - lookedAt >= pollMs || now >= nextTryAt;
}

/** Returns true when there is more to take. A mailbox other than INBOX that can't be read does not stop the others. */
async function visit(
  ports: ReadAccountPorts,
  session: MailboxSession,
  mailbox: Visited,
  inbox: Visited,
  { since, isOwn, capture, signal, leave, onProgress }: ReadAccountOptions,
): Promise<boolean> {
  mailbox.lookedAt = performance.now();
  const { owner, accountId, record } = mailbox;
  try {
    return await syncMailbox(ports, session, mailbox, { since, isOwn, capture, signal, leave, onProgress });
  } catch (error) {
    if (!(error instanceof MailboxError) || signal.aborted) throw error;
    await ports.records.noteMailboxFailure({ owner, accountId, mailboxId: record.id }, reasonOf(error));
    if (error.kind !== 'refused' || mailbox === inbox) throw error;
    ports.logger.warn({ err: error, accountId, path: record.path }, 'a mailbox could not be read');
    mailbox.nextTryAt = Infinity;
    return false;
  }
}

/** Waits, with INBOX open; returns the mailboxes to look at next. */
async function waitForWork(
  session: MailboxSession,
  mailboxes: readonly Visited[],
  inbox: Visited,
  { pollMs, leave, beginWait }: ReadAccountOptions,
): Promise<readonly Visited[]> {
  const now = performance.now();
  const next = Math.min(
    ...mailboxes.map(({ lookedAt, nextTryAt }) => Math.min((lookedAt ?? now) + pollMs, nextTryAt)),
  );
  const reason = await session.waitForChange(Math.max(1, next - now), beginWait());
  leave.throwIfAborted();
  if (reason === 'changed') return [inbox];
  if (reason === 'stopped') {
    for (const mailbox of mailboxes) mailbox.nextTryAt = -Infinity;
    return mailboxes;
  }
  return mailboxes.filter((mailbox) => isDue(mailbox, pollMs));
}
