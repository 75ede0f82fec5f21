/** Finds the sent email of which a message in the Sent mailbox is a copy, even when the relay replaced the Message-ID. */
import { toSentContent } from '../send/sent-content.ts';
import { domainsOf, sendsAs } from '../../core/accounts/sender-addresses.ts';
import { ServiceError } from '../../core/errors.ts';
import { secondsOf, type MessageIdentity } from '../../core/message/identity.ts';
import { isOwnMessageId } from '../../core/message/message-id.ts';
import type { CopyContent } from '../../core/message/copy-content.ts';
import type { SentContent } from '../../core/message/sent-copy.ts';
import { deleteFiles } from '../../platform/files/delete-files.ts';
import type { InboundStore } from './inbound-ports.ts';
import type { KnownEmail } from '../emails/find-recorded.ts';
import type { MessageReader } from '../../platform/reading/reading-ports.ts';
import type { Account, Clock } from '../../platform/base/basics.ts';
import { isDirect } from '../send/claim.ts';
import type { Journal } from '../send/journal-ports.ts';
import { compareCopies, type CompareCopiesPorts } from './variants.ts';

export interface MatchSentCopyPorts extends CompareCopiesPorts {
  readonly store: Pick<InboundStore, 'awaitSends' | 'findSends' | 'adoptCopy'>;
  /** null when another process has it. */
  readonly journal: Pick<Journal, 'keys' | 'read'> | null;
  readonly clock: Clock;
  readonly accounts: ReadonlyMap<string, Account>;
}

/** How long a send may be under way, in ms: mail servers may take 10 minutes for their answer (RFC 5321 §4.5.3.2.6). */
const UNRECORDED_SEND_MS = 15 * 60_000;

/** Other copies may take the same email at the same moment; each such race has a winner. */
const MAX_TRIES = 10;

/** True if an address of the account is one of those in From, `local@domain` each. Any sender can write it there. */
export function isFromAccount(
  { accounts }: Pick<MatchSentCopyPorts, 'accounts'>,
  accountId: string,
  from: readonly string[],
): boolean {
  const account = accounts.get(accountId);
  if (account === undefined) return false;
  return from.some((address) => sendsAs(account, address));
}

/**
 * A copy of a sent email may come back before the email itself is recorded: while the service waits for the mail server's
 * answer, or while the database is unavailable. The copy has to be taken again once the email is known. When the journal
 * is not accessible, any recent message of ours may be such a copy. Throws `busy`.
 */
export async function refuseUnrecordedSend(
  ports: Pick<MatchSentCopyPorts, 'journal' | 'accounts' | 'clock' | 'reader'>,
  accountId: string,
  { messageId }: MessageIdentity,
  copy: CopyContent,
  isSentCopy: boolean,
): Promise<void> {
  // Mail from any other address can't be a copy, so the journal is not searched for it.
  if (!isFromAccount(ports, accountId, copy.from)) return;
  const { journal, clock, reader } = ports;
  if (journal === null) {
    if (copy.date !== null && clock().getTime() - copy.date.getTime() < UNRECORDED_SEND_MS)
      throw new ServiceError('busy');
    return;
  }
  for (const key of journal.keys()) {
    const record = isDirect(key) ? journal.read(key)?.attempt.email?.record : undefined;
    if (record?.accountId !== accountId) continue;
    const isIt =
      record.messageId === messageId || (isSentCopy && (await isCopyOf(reader, copy, toSentContent(record))));
    if (isIt) throw new ServiceError('busy');
  }
}

/**
 * Finds the sent email of which a Sent copy with an unknown Message-ID is a copy, and records this Message-ID for it.
 * null when it was not sent from here.
 */
export async function adoptRewrittenCopy(
  ports: MatchSentCopyPorts,
  accountId: string,
  { messageId }: MessageIdentity,
  copy: CopyContent,
): Promise<KnownEmail | null> {
  const account = ports.accounts.get(accountId);
  // The relay kept the Message-ID: the email is not recorded yet, or another service sent it. It is no other email of
  // ours.
  if (account === undefined || domainsOf(account).some((domain) => isOwnMessageId(messageId, domain)))
    return null;
  for (let attempt = 1; attempt <= MAX_TRIES; attempt += 1) {
    const candidates = await ports.store.findSends(accountId, copy);
    if (candidates.length === 0) return null;
    const choice = await ports.reader.read('choice', { copy: withoutMore(copy), candidates });
    // A copy that can't be compared is a separate email.
    if (choice.kind === 'failed' || choice.value === null) return null;
    const adopted = await ports.store.adoptCopy(choice.value, messageId);
    if (adopted === null) continue;
    await deleteFiles(ports, adopted.orphans);
    if (adopted.hasAbsorbed) await compareCopies(ports, adopted.id);
    return adopted;
  }
  throw new ServiceError('busy');
}

async function isCopyOf(reader: MessageReader, copy: CopyContent, sent: SentContent): Promise<boolean> {
  // Nearly every send that is under way is another email, with another second in its Date.
  if (secondsOf(copy.date) !== secondsOf(sent.date)) return false;
  const result = await reader.read('isCopy', { copy: withoutMore(copy), sent });
  return result.kind === 'read' && result.value;
}

/** Only the compared fields, without the rest of the message. */
function withoutMore(copy: CopyContent): CopyContent {
  const { date, from, to, cc, bcc, subject, inReplyTo, text, html, attachmentDigests, originalIds } = copy;
  return { date, from, to, cc, bcc, subject, inReplyTo, text, html, attachmentDigests, originalIds };
}
