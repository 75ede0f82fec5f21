/** Whether a received email may be answered in an absence, as it is recorded. */
import { absenceRecipient, type AbsenceFacts } from '../../core/absence/absence-recipient.ts';
import type { MailSource } from '../../core/message/mail-source.ts';
import { readReceivedDate } from '../../core/message/received-date.ts';
import { readUnsubscribeSubject } from '../../core/unsubscribe/mailto.ts';
import type { Account } from '../../platform/base/basics.ts';
import type { AbsenceRequest } from './absence-ports.ts';

export interface ArrivedEmail extends Omit<AbsenceFacts, 'account'> {
  readonly account: Account;
  /** null: not known, so that it may be old. */
  readonly source: MailSource | null;
  /** When its mailbox got it; null: not known. */
  readonly mailboxGotItAt: Date | null;
}

/** null: it gets no answer. Asked for every received email, so an account without an absence costs nothing. */
export function absenceRequest(email: ArrivedEmail): AbsenceRequest | null {
  if ((email.account.outOfOffice ?? null) === null) return null;
  const arrival = arrivalOf(email);
  // Mail to a link of ours asks for something that was carried out.
  if (arrival === null || readUnsubscribeSubject(email.message.subject) !== null) return null;
  const address = absenceRecipient(email);
  return address === null ? null : { address, ...arrival };
}

/** null: it is old mail, or may be. A folder besides INBOX may be that of spam. */
function arrivalOf({
  source,
  message,
  mailboxGotItAt,
}: ArrivedEmail): Omit<AbsenceRequest, 'address'> | null {
  // Programs put mail of any age into mailboxes, and hand it in.
  const relayedAt = readReceivedDate(message.fields);
  switch (source?.way) {
    case 'smtp':
    case 'lmtp':
      return { arrivedAt: relayedAt, isOfMailbox: false };
    case 'imap':
      return mailboxGotItAt === null || source.place?.toUpperCase() !== 'INBOX'
        ? null
        : { arrivedAt: isOld(relayedAt, mailboxGotItAt) ? relayedAt : mailboxGotItAt, isOfMailbox: true };
    case 'http':
      return relayedAt === null ? null : { arrivedAt: relayedAt, isOfMailbox: false };
    default:
      return null;
  }
}

/** True for mail that was put into the mailbox long after a mail server had relayed it. */
const isOld = (relayedAt: Date | null, mailboxGotItAt: Date): boolean =>
  relayedAt !== null && mailboxGotItAt.getTime() - relayedAt.getTime() > OLD_MS;

/** Longer than mail is on its way within the mail servers of a company. */
const OLD_MS = 6 * 3_600_000;
