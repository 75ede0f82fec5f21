/** Messages of mailboxes whose emails are removed because of rules: from then on they are left out, as if they had come after the rules. */
import type { LeftOutReason } from '../../core/mailbox/capture.ts';
import { run, statement, type Executor, type RowOf } from '../../platform/db/statement.ts';
import { digestOf } from './mailbox-records.ts';

export type MessageOfEmail = RowOf<typeof FIND>;

/** The messages of emails, also by identifiers that lead to them. Call it before the emails are deleted. */
export function messagesOfEmails(
  executor: Executor,
  emailIds: readonly string[],
): Promise<readonly MessageOfEmail[]> {
  return run(executor, FIND, { emailIds });
}

/** Call it after the emails are deleted. @param reasonOf for the email of a message */
export async function leaveOutMessages(
  executor: Executor,
  messages: readonly MessageOfEmail[],
  reasonOf: (emailId: string) => { readonly reason: LeftOutReason; readonly messageId: string | null },
): Promise<void> {
  const reasons = messages.map(({ email_id: emailId }) => reasonOf(emailId));
  await run(executor, LEAVE_OUT, {
    mailboxIds: messages.map(({ mailbox_id: id }) => id),
    validities: messages.map(({ uid_validity: validity }) => validity),
    uids: messages.map(({ uid }) => uid),
    reasons: reasons.map(({ reason }) => reason),
    digests: reasons.map(({ messageId }) => digestOf(messageId)),
  });
}

const FIND = statement(
  'messages-of-emails',
  `select m.mailbox_id, m.uid_validity, m.uid, n.email_id
  from (
    select id, id as email_id from unnest($emailIds::uuid[]) id
    union all
    select a.id, a.email_id from email_aliases a where a.email_id = any ($emailIds::uuid[])
  ) n
  join mailbox_messages m on m.email_id = n.id
  order by m.mailbox_id, m.uid_validity, m.uid`,
).narrow<{ email_id: string }>();

const LEAVE_OUT = statement(
  'leave-out-recorded-messages',
  `update mailbox_messages m set email_id = null, arrival_digest = null, left_out = r.reason, left_out_at = now(),
    message_id_digest = r.digest, answers_since = null, judge_again_at = null
  from unnest($mailboxIds::uuid[], $validities::bigint[], $uids::bigint[], $reasons::text[], $digests::bytea[])
    r (mailbox_id, uid_validity, uid, reason, digest)
  where m.mailbox_id = r.mailbox_id and m.uid_validity = r.uid_validity and m.uid = r.uid and m.email_id is not null`,
);
