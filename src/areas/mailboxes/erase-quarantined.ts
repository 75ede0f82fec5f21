/** Erases messages of mailboxes that can't be taken, and whose header names an erased person. */
import { randomUUID } from 'node:crypto';
import { run, statement, type Executor } from '../../platform/db/statement.ts';
import { rememberDeleted } from '../emails/deleted-emails.ts';

/**
 * They count as deleted emails from now on, so they are not tried again. @param pattern see addressPattern
 *
 * @returns their identifiers as deleted emails
 */
export async function eraseQuarantined(trx: Executor, pattern: string): Promise<readonly string[]> {
  const found = await run(trx, FIND, { pattern });
  const messages = found.map((row) => ({ ...row, id: randomUUID() }));
  const threadId = randomUUID();
  await rememberDeleted(
    trx,
    messages.map(({ id, account_id }) => ({ id, accountId: account_id, threadId, identityKeys: [] })),
  );
  await run(trx, SET_ASIDE, {
    mailboxIds: messages.map(({ mailbox_id }) => mailbox_id),
    validities: messages.map(({ uid_validity }) => uid_validity),
    uids: messages.map(({ uid }) => uid),
    ids: messages.map(({ id }) => id),
  });
  return messages.map(({ id }) => id);
}

/**
 * Forgets the messages of an account that have no email, and its last error, which may quote its server. An account with the same id would
 * find them again.
 *
 * @returns how many were set aside
 */
export async function eraseWaiting(trx: Executor, accountId: string): Promise<number> {
  const [counted] = await run(trx, COUNT_SET_ASIDE, { accountId });
  await run(trx, DELETE_WAITING, { accountId });
  await run(trx, FORGET_ERRORS, { accountId });
  await run(trx, FORGET_MAILBOX_ERRORS, { accountId });
  return Number(counted?.messages ?? 0);
}

const COUNT_SET_ASIDE = statement(
  'count-set-aside-of-account',
  'select coalesce(sum(quarantined), 0)::bigint as messages from mailboxes where account_id = $accountId',
);

const DELETE_WAITING = statement(
  'delete-waiting-of-account',
  `delete from mailbox_messages m using mailboxes b
  where b.account_id = $accountId and m.mailbox_id = b.id and m.email_id is null`,
);

const FORGET_ERRORS = statement(
  'forget-account-errors',
  `update mailbox_accounts set last_error = null, last_error_kind = null, last_error_at = null, failing_since = null,
    notified_at = null, connected_at = null
  where account_id = $accountId`,
);

const FORGET_MAILBOX_ERRORS = statement(
  'forget-mailbox-errors',
  'update mailboxes set last_error = null, last_error_at = null where account_id = $accountId and last_error is not null',
);

const FIND = statement(
  'find-quarantined-to-erase',
  `select m.mailbox_id, m.uid_validity, m.uid, b.account_id
  from mailbox_messages m join mailboxes b on b.id = m.mailbox_id
  where m.email_id is null and lower(concat(m.header_summary, m.last_error)) ~ $pattern
  order by m.mailbox_id, m.uid_validity, m.uid for update of m`,
);

const SET_ASIDE = statement(
  'erase-quarantined',
  `update mailbox_messages m set email_id = n.id, header_summary = null, last_error = null, quarantined_at = null,
    quarantine_id = null, quarantine_delays = 0, arrival_digest = null
  from unnest($mailboxIds::uuid[], $validities::bigint[], $uids::bigint[], $ids::uuid[]) n (mailbox_id, uid_validity, uid, id)
  where m.mailbox_id = n.mailbox_id and m.uid_validity = n.uid_validity and m.uid = n.uid and m.email_id is null`,
);
