/**
 * Turns the server's replies into the transport's result: one outcome for each recipient (RFC 5321 §4.2.1), and whether a later try may
 * help. A message counts as refused only when it is certain that no recipient got it.
 */
import type { Envelope, TransportResult } from '../../areas/send/transport-ports.ts';
import { classifyReply, formatReply } from '../../core/delivery/reply.ts';
import type { RecipientOutcome, Reply } from '../../core/delivery/states.ts';
import type { MessageId } from '../../core/message/message-id.ts';

/** The recipients that RCPT refused, with the reply; null when the reply was not valid. */
export type RefusedRecipients = ReadonlyMap<string, Reply | null>;

export const NONE_REFUSED: RefusedRecipients = new Map();

/**
 * The server took the message: recipients not refused before get the reply to the end of DATA.
 *
 * @param relayMessageId the Message-ID that this reply gives for the message; null when it gives none
 */
export function toAccepted(
  envelope: Envelope,
  reply: Reply,
  refused: RefusedRecipients,
  relayMessageId: MessageId | null,
): TransportResult {
  const recipients = toOutcomes(envelope, refused, { state: 'accepted', reply });
  const missed = recipients.filter((recipient) => recipient.state !== 'accepted').length;
  const partial = missed === 0 ? '' : `; ${missed} of ${recipients.length} recipients refused`;
  return { kind: 'accepted', recipients, reply, detail: `${formatReply(reply)}${partial}`, relayMessageId };
}

/**
 * The message was certainly not taken. Recipients without an answer of their own share the deciding reply; if there is none, or it is
 * not 5yz, they may be tried again. `temporary` as soon as one recipient may be tried again.
 *
 * @param state the meaning of the deciding reply when its class does not give it: a session that could not be set up says
 *   nothing about the message
 */
export function toRefused(
  envelope: Envelope,
  failure: { readonly reply: Reply | null; readonly detail: string },
  refused: RefusedRecipients = NONE_REFUSED,
  state: 'deferred' | 'rejected' = rejects(failure.reply) ? 'rejected' : 'deferred',
): TransportResult {
  const recipients = toOutcomes(envelope, refused, { state, reply: failure.reply });
  return {
    kind: 'refused',
    temporary: recipients.some((recipient) => recipient.state === 'deferred'),
    recipients,
    reply: failure.reply,
    detail: failure.detail,
    relayMessageId: null,
  };
}

/** The end of the message may have reached the server and no valid reply arrived: the outcome is unknown. */
export function toUnknown(envelope: Envelope, detail: string, refused: RefusedRecipients): TransportResult {
  const recipients = toOutcomes(envelope, refused, { state: 'unknown', reply: null });
  return { kind: 'unknown', recipients, reply: null, detail, relayMessageId: null };
}

function toOutcomes(
  envelope: Envelope,
  refused: RefusedRecipients,
  others: Omit<RecipientOutcome, 'address'>,
): readonly RecipientOutcome[] {
  return envelope.rcptTo.map((address) => {
    const reply = refused.get(address);
    if (reply === undefined) return { address, ...others };
    return { address, state: rejects(reply) ? 'rejected' : 'deferred', reply };
  });
}

function rejects(reply: Reply | null): boolean {
  return reply !== null && classifyReply(reply) === 'rejected';
}
