/** Messages of mailboxes whose record was merged into another email. */
import { run, statement, type Executor } from '../../platform/db/statement.ts';

export async function giveMessagesTo(
  executor: Executor,
  emailId: string,
  mergedIds: readonly string[],
): Promise<void> {
  await run(executor, GIVE, { emailId, mergedIds });
}

const GIVE = statement(
  'give-messages-to-email',
  'update mailbox_messages set email_id = $emailId where email_id = any($mergedIds::uuid[])',
);
