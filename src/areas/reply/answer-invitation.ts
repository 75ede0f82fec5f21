/** The answer to an invitation: what of a send follows from the email with the invitation, and what stands against an answer. */
import { sendsAs } from '../../core/accounts/sender-addresses.ts';
import { addrSpec, formatMailbox } from '../../core/address/address.ts';
import { isSameAddress, toReply } from '../../core/calendar/compose-answer.ts';
import { isCancelled, isFromOrganizer, type Invitation } from '../../core/calendar/invitation.ts';
import { ServiceError } from '../../core/errors.ts';
import { formatMessageId } from '../../core/message/message-id.ts';
import type { ReplyLanguage } from '../../core/reply/quote.ts';
import { INVITATION_ANSWERS } from '../../core/texts.ts';
import type { Account } from '../../platform/base/basics.ts';
import { MAX_SENT_SUBJECT_CHARS } from '../../platform/base/limits.ts';
import type { EmailDetail } from '../emails/email-ports.ts';
import type { SendRequest } from '../send/use-cases.ts';
import type { InvitationAnswer } from './use-cases.ts';

type Derived =
  | 'to'
  | 'cc'
  | 'subject'
  | 'textBody'
  | 'htmlBody'
  | 'from'
  | 'invitation'
  | 'accountId'
  | 'threadId'
  | 'inReplyTo'
  | 'answeredEmailId';

/**
 * Throws `no_invitation`, `invitation_cancelled`, `invitation_replaced`, `not_invited`, and `organizer_not_sender`: the sender chose the
 * organizer in the calendar, so an answer to another address than the sender's has to be confirmed by naming it.
 */
export function answerInvitation(
  email: EmailDetail,
  account: Account,
  { status, comment, organizer: confirmed }: InvitationAnswer,
  language: ReplyLanguage,
): Pick<SendRequest, Derived> {
  const invitation = requireOpen(email);
  const { organizer } = invitation;
  const ours = addrSpec(account.from);
  const attendees = invitation.attendees.map(({ address }) => address);
  const own = attendees.some((address) => isSameAddress(address, ours))
    ? ours
    : attendees.find((address) => sendsAs(account, address));
  if (own === undefined) throw new ServiceError('not_invited', { values: { value: ours } });
  const isConfirmed = confirmed !== null && isSameAddress(confirmed, organizer.address);
  // A wrong confirmation is refused where none is needed, too.
  const needsNone = confirmed === null && isFromOrganizer(invitation, email.from.address, verdictOf(email));
  if (!isConfirmed && !needsNone) {
    throw new ServiceError('organizer_not_sender', { values: { value: organizer.address } });
  }
  const summary = invitation.summary === '' ? email.subject : invitation.summary;
  const line = INVITATION_ANSWERS[language][status].replace('{summary}', () => summary.replace(/\s+/g, ' '));
  return {
    to: [formatMailbox(organizer)],
    cc: [],
    subject: line.slice(0, MAX_SENT_SUBJECT_CHARS).toWellFormed(),
    textBody: comment === null ? line : `${comment}\n\n${line}`,
    htmlBody: null,
    from: own === ours ? null : own,
    invitation: toReply(invitation, { status, attendee: own, comment }),
    accountId: email.accountId,
    threadId: email.threadId,
    inReplyTo: formatMessageId(email.messageId),
    answeredEmailId: email.id,
  };
}

const verdictOf = ({ authentication }: EmailDetail) => authentication?.verdict ?? null;

/** An invitation that waits for answers, with what an answer needs. */
function requireOpen(
  email: EmailDetail,
): Invitation & { readonly organizer: NonNullable<Invitation['organizer']> } {
  const view = email.invitation;
  if (view === null || email.direction !== 'inbound') throw new ServiceError('no_invitation');
  const { event, replacedBy } = view;
  if (isCancelled(event) || replacedBy?.method === 'cancel') throw new ServiceError('invitation_cancelled');
  const { organizer } = event;
  if (event.method !== 'request' || event.uid === null || organizer === null || organizer.address === '') {
    throw new ServiceError('no_invitation');
  }
  if (replacedBy !== null) {
    throw new ServiceError('invitation_replaced', { values: { value: replacedBy.emailId } });
  }
  return { ...event, organizer };
}
