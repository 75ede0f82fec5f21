/**
 * Compares the mailboxes of an account with the record of them, message by message: UIDs and Message-IDs. Works beside a
 * service that reads the same mailboxes: whatever looks wrong is checked once more, since both sides may have changed.
 */
import { auditMessage, type AuditedMessage, type AuditFinding } from '../../core/mailbox/audit.ts';
import type { CaptureRules } from '../../core/mailbox/capture.ts';
import { toUidSet } from '../../core/mailbox/uid-set.ts';
import type { MessageId } from '../../core/message/message-id.ts';
import type { AuditedMailbox, MailboxAuditStore, MailboxRepair } from './mailbox-audit.ts';
import {
  MailboxError,
  type MailboxInfo,
  type MailboxSession,
  type MailboxSource,
  type MessageSummary,
  type Uid,
} from './mailbox-ports.ts';
import { mailboxesToRead } from './read-account.ts';
import { hasDrafts } from './sync-mailbox.ts';
import { readHeaders } from '../../platform/reading/read-received.ts';
import type { MessageReader } from '../../platform/reading/reading-ports.ts';

export interface AuditPorts {
  readonly source: MailboxSource;
  readonly store: MailboxAuditStore;
  readonly reader: MessageReader;
}

export interface AuditRequest {
  readonly accountId: string;
  readonly capture: Pick<CaptureRules, 'folders'> | null;
  /** Also repair the findings. */
  readonly repair: boolean;
  readonly signal: AbortSignal;
}

export interface MailboxAudit {
  readonly path: string;
  /** `other_uids`: its UIDVALIDITY differs from when it was last read, or it was never read. */
  readonly kind: 'compared' | 'other_uids';
  /** Its messages that are to be read. */
  readonly messages: number;
  /** Messages still to be taken. */
  readonly waiting: number;
  readonly quarantined: number;
  readonly findings: ReadonlyMap<AuditFinding, readonly WrongMessage[]>;
}

export interface WrongMessage {
  readonly uid: Uid;
  /** The email that it is recorded to have, if that exists. */
  readonly emailId: string | null;
}

type Wrong = WrongMessage & { readonly finding: AuditFinding };

/** UIDs compared in one step, and requested at once. */
const STEP = 500;
const HIGHEST_UID = 0xffff_ffff;

/** Yields a result for each mailbox. Throws `MailboxError` and `ServiceError`. */
export async function* auditAccount(
  { source, store, reader }: AuditPorts,
  { accountId, capture, repair, signal }: AuditRequest,
): AsyncGenerator<MailboxAudit> {
  const session = await source.connect(accountId, signal);
  const cut = () => {
    // The close below reports its failures.
    session.close().catch(() => undefined);
  };
  signal.addEventListener('abort', cut, { once: true });
  try {
    for (const info of mailboxesToRead(await session.listMailboxes(), capture)) {
      const audit = await auditMailbox({ session, store, reader, signal }, accountId, info);
      if (repair && audit.mailbox !== null && audit.result.findings.size > 0) {
        await store.repair(audit.mailbox.id, audit.uidValidity, toRepair(audit.result.findings));
      }
      yield audit.result;
    }
  } finally {
    signal.removeEventListener('abort', cut);
    await session.close();
  }
}

async function auditMailbox(
  ports: Pick<Comparison, 'session' | 'store' | 'reader' | 'signal'>,
  accountId: string,
  info: MailboxInfo,
): Promise<{ result: MailboxAudit; mailbox: AuditedMailbox | null; uidValidity: number }> {
  const { session, store } = ports;
  const { path } = info;
  const { uidValidity, exists } = await session.open(path, null);
  const mailbox = await store.findMailbox(accountId, path);
  const { waiting = 0, quarantined = 0 } = mailbox ?? {};
  const counts = { path, waiting, quarantined };
  if (mailbox === null || mailbox.progress.uidValidity !== uidValidity) {
    const result = { ...counts, kind: 'other_uids', messages: exists, findings: new Map() } as const;
    return { result, mailbox: null, uidValidity };
  }
  const compare = { ...ports, mailbox, uidValidity };
  const listed = await session.listUids(1, mailbox.progress.since, hasDrafts(info));
  const suspicious = await findWrong(compare, listed, null);
  // Both sides may have changed between the two reads; a real fault is still found by the second.
  const findings =
    suspicious.size === 0
      ? suspicious
      : await findWrong(compare, await listAgain(session, info, mailbox), new Set(suspicious.keys()));
  const byFinding = new Map<AuditFinding, WrongMessage[]>();
  for (const [uid, { finding, emailId }] of findings) {
    if (suspicious.get(uid)?.finding !== finding) continue;
    const messages = byFinding.get(finding);
    if (messages === undefined) byFinding.set(finding, [{ uid, emailId }]);
    else messages.push({ uid, emailId });
  }
  const { uidNext } = mailbox.progress;
  const unseen = uidNext === null ? 0 : listed.filter((uid) => uid >= uidNext).length;
  const result = {
    ...counts,
    kind: 'compared',
    messages: listed.length,
    waiting: waiting + unseen,
    findings: byFinding,
  } as const;
  return { result, mailbox, uidValidity };
}

async function listAgain(
  session: MailboxSession,
  info: MailboxInfo,
  { progress }: AuditedMailbox,
): Promise<readonly Uid[]> {
  const { path } = info;
  const { uidValidity } = await session.open(path, null);
  if (uidValidity !== progress.uidValidity) {
    throw new MailboxError('refused', `the UIDVALIDITY of ${path} changed during the audit`);
  }
  return await session.listUids(1, progress.since, hasDrafts(info));
}

interface Comparison {
  readonly session: MailboxSession;
  readonly store: MailboxAuditStore;
  readonly reader: MessageReader;
  readonly mailbox: AuditedMailbox;
  readonly uidValidity: number;
  readonly signal: AbortSignal;
}

/** @param only null: all */
async function findWrong(
  { session, store, reader, mailbox, uidValidity, signal }: Comparison,
  listed: readonly Uid[],
  only: ReadonlySet<Uid> | null,
): Promise<ReadonlyMap<Uid, Wrong>> {
  const { id, progress } = mailbox;
  const wrong = new Map<Uid, Wrong>();
  const isWanted = (uid: Uid) => only === null || only.has(uid);
  for (let start = 0, first = 1; first <= HIGHEST_UID; start += STEP) {
    signal.throwIfAborted();
    const step = listed.slice(start, start + STEP);
    const last = start + STEP < listed.length ? (step.at(-1) ?? first) : HIGHEST_UID;
    const messages = await store.readMessages(id, uidValidity, first, last);
    const known = new Map(messages.map((message) => [message.uid, message]));
    const present = new Set(step);
    // A message that the service has not read yet is not missing.
    const isNew = (uid: Uid) => progress.uidNext !== null && uid >= progress.uidNext && !known.has(uid);
    const uids = [...new Set([...known.keys(), ...step])].filter((uid) => isWanted(uid) && !isNew(uid));
    const messageIds = await readMessageIds(
      session,
      reader,
      uids.filter((uid) => hasEmail(known.get(uid), present)),
    );
    for (const uid of uids) {
      const message = known.get(uid) ?? null;
      const finding = auditMessage({
        known: message,
        isInMailbox: present.has(uid),
        messageId: messageIds.get(uid) ?? null,
      });
      const email = message?.email ?? null;
      const emailId = email === null || email === 'lost' ? null : email.id;
      if (finding !== null) wrong.set(uid, { uid, emailId, finding });
    }
    first = last + 1;
  }
  return wrong;
}

function hasEmail(message: AuditedMessage | undefined, present: ReadonlySet<Uid>): boolean {
  return message !== undefined && present.has(message.uid) && !message.isGone && message.email !== null;
}

async function readMessageIds(
  session: MailboxSession,
  reader: MessageReader,
  uids: readonly Uid[],
): Promise<ReadonlyMap<Uid, MessageId>> {
  const result = new Map<Uid, MessageId>();
  if (uids.length === 0) return result;
  const summaries: MessageSummary[] = [];
  for await (const summary of session.fetchSummaries(uids, 'trace')) summaries.push(summary);
  const headers = await readHeaders(
    reader,
    summaries.map(({ header }) => header),
  );
  for (const [index, { uid }] of summaries.entries()) {
    const messageId = headers[index]?.identity?.messageId;
    if (messageId !== undefined) result.set(uid, messageId);
  }
  return result;
}

function toRepair(findings: MailboxAudit['findings']): MailboxRepair {
  const of = (...kinds: readonly AuditFinding[]) =>
    toUidSet(kinds.flatMap((kind) => findings.get(kind) ?? []).map(({ uid }) => uid));
  return { take: of('missing', 'lost', 'other'), present: of('marked_gone'), gone: of('not_marked') };
}
