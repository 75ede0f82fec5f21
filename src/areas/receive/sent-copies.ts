/**
 * Emails that another program sent from an account, such as a clerk's mail program, known from their copy in the Sent mailbox. The copy
 * shows that a mail server took the email for all its recipients; the server's reply is unknown.
 */
import type { SentCopy } from './inbound-ports.ts';
import { addrSpec, dedupeAddresses, sameMailbox } from '../../core/address/address.ts';
import { normaliseAddress } from '../../core/customer/rules.ts';
import type { Executor } from '../../platform/db/statement.ts';
import { turnIntoSent } from '../emails/write-emails.ts';
import { addTakers } from '../send/send-states.ts';
import { toStorable } from '../../core/storable-text.ts';
import { toView } from '../emails/received-values.ts';

/** `state_detail` of an email that this service did not send itself. */
export const SENT_COPY_DETAIL = 'sent by another program; known from its copy in the Sent mailbox';

/** The recipients without the sender, normalised. */
export function counterpartiesOf({ from, to, cc, bcc }: SentCopy): readonly string[] {
  return [...to, ...cc, ...bcc]
    .filter((address) => from === null || !sameMailbox(address, from))
    .map((address) => normaliseAddress(toView(address).address));
}

/** The recipients, each once, as far as their addresses can be parsed. */
export function takersOf({ to, cc, bcc }: SentCopy): readonly string[] {
  const readable = [...to, ...cc, ...bcc].filter(({ domain }) => domain !== '');
  return dedupeAddresses(readable).map((address) => toStorable(addrSpec(address)));
}

/** Returns the thread of an email that was recorded as received and is now a sent one; null for any other. */
export async function markAsSent(
  executor: Executor,
  emailId: string,
  copy: SentCopy,
): Promise<string | null> {
  const threadId = await turnIntoSent(executor, emailId, copy.bcc, SENT_COPY_DETAIL);
  if (threadId !== null) await addTakers(executor, emailId, takersOf(copy));
  return threadId;
}
