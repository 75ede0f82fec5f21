/**
 * Merges copies of a sent email that were recorded before it was known that they are copies: because the email itself was recorded later,
 * or because the relay had replaced its Message-ID. The sent email stays, with the identifier that its sender got; the identifiers of the
 * copies become its aliases, their contents its variants. Whether they really are copies is decided when they are compared
 * (areas/receive/variants.ts), after the commit, because that reads the raw message.
 *
 * This is a part of the transaction that records the email or its Message-ID, and not a use case: the lock on that Message-ID keeps another
 * copy from being recorded in between.
 */
import type { RecordedSend } from './outbound-ports.ts';
import { relinkCustomers } from '../customers/relink-customers.ts';
import { run, statement, type Executor } from '../../platform/db/statement.ts';
import { addAliases } from '../emails/email-aliases.ts';
import { lockSummariesOf } from '../emails/lock-summaries.ts';
import { mergeVariants } from '../emails/variants.ts';
import { deleteEmailRows } from '../emails/write-emails.ts';
import { giveMessagesTo } from './merged-messages.ts';
import { moveAnchors } from '../threads/place-emails.ts';
import { matchReportsAgain } from './report-rows.ts';

/**
 * Deletes the records of the account that have one of the identity keys; `emailId`, which exists, takes their place.
 */
export async function absorbCopies(
  executor: Executor,
  accountId: string,
  emailId: string,
  identityKeys: readonly string[],
): Promise<RecordedSend> {
  const keys = identityKeys.map((key) => Buffer.from(key, 'hex'));
  const copies = await run(executor, FIND_COPIES, { accountId, emailId, keys });
  if (copies.length === 0) return { cameBack: false, orphans: [] };
  const ids = copies.map(({ id }) => id);
  await lockSummariesOf(executor, ids);
  await addAliases(executor, emailId, ids);
  await giveMessagesTo(executor, emailId, ids);
  await moveAnchors(executor, emailId, ids);
  // Reports about a copy are matched again, to the sent email and its recipients.
  await matchReportsAgain(executor, ids);
  const orphans = await mergeVariants(executor, emailId, ids);
  await relinkCustomers(executor, await deleteEmailRows(executor, ids));
  return { cameBack: true, orphans: [...copies.flatMap(({ paths }) => paths), ...orphans] };
}

const FIND_COPIES = statement(
  'find-recorded-copies',
  `select e.id, array(select a.storage_path from email_attachments a where a.email_id = e.id) as paths
  from emails e
  where e.account_id = $accountId and e.identity_key = any($keys::bytea[]) and e.id <> $emailId`,
).narrow<{ paths: string[] }>();
