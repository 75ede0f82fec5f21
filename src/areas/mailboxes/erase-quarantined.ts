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
