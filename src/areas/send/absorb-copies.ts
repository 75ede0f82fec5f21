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
import { run, statement, type Executor, type RowOf } from '../../platform/db/statement.ts';
import { addAliases } from '../emails/email-aliases.ts';
import { lockSummariesOf } from '../emails/lock-summaries.ts';
import { mergeVariants } from '../emails/variants.ts';
import { deleteEmailRows } from '../emails/write-emails.ts';
import { giveMessagesTo } from './merged-messages.ts';
import { moveAnchors } from '../threads/place-emails.ts';
import { matchReportsAgain } from './report-rows.ts';

/** A record that came first, and its thread. */
export type Copy = RowOf<typeof FIND_COPIES>;

/** The records of the account that have one of the identity keys of the email. */
export function findCopies(
  executor: Executor,
  accountId: string,
  emailId: string,
  identityKeys: readonly string[],
): Promise<readonly Copy[]> {
  const keys = identityKeys.map((key) => Buffer.from(key, 'hex'));
  return run(executor, FIND_COPIES, { accountId, emailId, keys });
}

/** Deletes the copies; `emailId`, which exists, takes their place. Called by place-among-copies.ts alone. */
export async function absorbCopies(
  executor: Executor,
  emailId: string,
  copies: readonly Copy[],
): Promise<RecordedSend> {
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
  `select e.id, e.thread_id, array(select a.storage_path from email_attachments a where a.email_id = e.id) as paths
  from emails e
  where e.account_id = $accountId and e.identity_key = any($keys::bytea[]) and e.id <> $emailId`,
).narrow<{ paths: string[] }>();
