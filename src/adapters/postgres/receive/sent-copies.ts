/**
 * Emails that another program sent from an account, such as a clerk's mail program, known from their copy in the Sent
 * mailbox. The copy shows that a mail server took the email for all its recipients; the server's reply is unknown.
 */
import { sql, type Transaction } from 'kysely';
import type { SentCopy } from '../../../app/receive/inbound-ports.ts';
import { addrSpec, dedupeAddresses, sameMailbox } from '../../../core/address/address.ts';
import { normaliseAddress } from '../../../core/customer/rules.ts';
import type { Database } from '../db/database.ts';
import { lockSummariesOf } from '../emails/lock-summaries.ts';
import { clean, toView } from '../emails/received-values.ts';

/** `state_detail` of an email that this service did not send itself. */
export const SENT_COPY_DETAIL = 'sent by another program; known from its copy in the Sent mailbox';

/** The recipients but for the sender, normalised. */
export function counterpartiesOf({ from, to, cc, bcc }: SentCopy): readonly string[] {
  return [...to, ...cc, ...bcc]
    .filter((address) => from === null || !sameMailbox(address, from))
    .map((address) => normaliseAddress(toView(address).address));
}

/** Its recipients, each once, as far as their addresses can be read. */
export function takersOf({ to, cc, bcc }: SentCopy): readonly string[] {
  const readable = [...to, ...cc, ...bcc].filter(({ domain }) => domain !== '');
  return dedupeAddresses(readable).map((address) => clean(addrSpec(address)));
}

/** Returns the thread of an email that was recorded as a received one and is a sent one now; null for any other. */
export async function markAsSent(
  trx: Transaction<Database>,
  emailId: string,
  copy: SentCopy,
): Promise<string | null> {
  // Before its mark goes, with the change: marking a thread takes its locks in this order.
  await lockSummariesOf(trx, [emailId]);
  const turned = await trx
    .updateTable('emails')
    .set({
      direction: 'outbound',
      state: 'sent',
      state_detail: SENT_COPY_DETAIL,
      new_participant: false,
      own_customer: false,
      // Only the sender's own copy names them.
      bcc_addresses: JSON.stringify(copy.bcc.map(toView)),
    })
    .where('id', '=', emailId)
    .where('direction', '=', 'inbound')
    .returning('thread_id')
    .executeTakeFirst();
  if (turned === undefined) return null;
  await sql`
    insert into email_deliveries (email_id, ordinal, address, state)
    select ${emailId}, ordinality - 1, address, 'accepted'
    from unnest(${[...takersOf(copy)]}::text[]) with ordinality as a (address, ordinality)
    on conflict (email_id, ordinal) do nothing`.execute(trx);
  return turned.thread_id;
}
