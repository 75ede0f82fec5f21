/** What is known of a sender, for core/delivery/writer.ts, as parts of statements; and the judgement of an email that is read again. */
import { judgeWriter } from '../../core/delivery/writer.ts';
import type { AutomaticMail } from '../../core/delivery/automatic.ts';
import type { MessageId } from '../../core/message/message-id.ts';
import type { InboundLink } from '../../core/thread/place-inbound.ts';
import { run, statement, type Executor } from '../../platform/db/statement.ts';
import { writeWriter } from '../emails/write-emails.ts';

/** The Message-IDs that the email names as those that it answers. */
export const answeredIds = (links: readonly InboundLink[]): readonly MessageId[] =>
  links
    .filter(({ rule }) => rule === 'in_reply_to' || rule === 'references')
    .map(({ messageId }) => messageId);

/** An array of the subjects of the sent emails with these Message-IDs; null for none. */
export const answeredSubjects = (accountId: string, messageIds: string): string => `(
  select jsonb_agg(distinct answered.subject) from (
    select sent.subject from emails sent
    where sent.account_id = ${accountId} and sent.message_id = any (${messageIds}) and sent.direction = 'outbound'
    union all
    select sent.subject from emails sent
    where sent.account_id = ${accountId} and sent.relay_message_id = any (${messageIds}) and sent.direction = 'outbound'
  ) answered
)`;

/** True for an address, lower-case, to which the account wrote, once that was learned. */
export const isWrittenTo = (accountId: string, address: string): string => `exists (
  select from known_addresses k where k.account_id = ${accountId} and k.address = ${address} and k.is_written_to
)`;

/** Judges a received email again, with what is known now. */
export async function judgeAgain(executor: Executor, emailId: string): Promise<void> {
  const [row] = await run(executor, READ, { emailId });
  if (row === undefined) return;
  const facts = {
    answeredSubjects: row.answered_subjects ?? [],
    isKnownSender: row.is_written_to || row.has_customer,
  };
  await writeWriter(executor, emailId, judgeWriter(row.automatic, facts));
}

const READ = statement(
  'read-writer-facts',
  `select e.automatic, e.customer_source is not null as has_customer,
    ${answeredSubjects('e.account_id', 'e.in_reply_to || e.reference_ids')} as answered_subjects,
    ${isWrittenTo('e.account_id', `lower(e.from_address ->> 'address')`)} as is_written_to
  from emails e where e.id = $emailId and e.direction = 'inbound'`,
).narrow<{
  automatic: AutomaticMail | null;
  has_customer: boolean;
  answered_subjects: string[] | null;
  is_written_to: boolean;
}>();
