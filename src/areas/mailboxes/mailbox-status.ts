/** `MailboxStatusStore` on PostgreSQL. Triggers maintain the counts, see migrations/0001_schema/mailboxes.ts. */
import type { Pool } from 'pg';
import { accountIdsOf } from '../../platform/base/account-filter.ts';
import type { LeftOutReason } from '../../core/mailbox/capture.ts';
import type { MailboxStatusStore, QuarantinedMessage, ReadingStatus } from './mailbox-status-ports.ts';
import { countSentCopies } from './count-sent-copies.ts';
import { columnsOf, jsonObject, type JsonOf } from '../../platform/db/json.ts';
import { run, statement, statements, type RowOf } from '../../platform/db/statement.ts';
import { inTransaction } from '../../platform/db/transaction.ts';
import { digestOf, rereadMailboxes } from './mailbox-records.ts';

export function createMailboxStatusStore(pool: Pool): MailboxStatusStore {
  return {
    async readStatus(accountId) {
      return (await run(pool, READ_STATUS, { accountId })).map(toStatus);
    },

    countSentCopies: (accountId) => countSentCopies(pool, accountId),

    async listQuarantine(request) {
      const { after, limit } = request;
      const accountIds = accountIdsOf(request);
      const list = LIST_QUARANTINE.of({ ofAccounts: accountIds !== null, isNext: after !== null });
      const values = { limit, accountIds, afterDate: after?.date ?? null, afterId: after?.id ?? null };
      return (await run(pool, list, values)).map(toQuarantined);
    },

    async retryQuarantined(id) {
      const [row] = await run(pool, RETRY, { id });
      return row === undefined ? null : toQuarantined(row);
    },

    async findLeftOut({ messageIds, ...filter }) {
      const digests = messageIds.map(digestOf);
      const accountIds = accountIdsOf(filter);
      const rows = await run(pool, LEFT_OUT.of({ ofAccounts: accountIds !== null }), { digests, accountIds });
      return rows.map(({ account_id: accountId, path, left_out: reason, left_out_at: at }) => ({
        accountId,
        path,
        reason,
        at,
      }));
    },

    resync: (accountId) => inTransaction(pool, (client) => rereadMailboxes(client, accountId)),
  };
}

function toStatus(row: RowOf<typeof READ_STATUS>): ReadingStatus {
  const { last_error: reason, last_error_kind: kind, last_error_at: at } = row;
  return {
    accountId: row.account_id,
    owner: row.owner,
    lastAttemptAt: row.last_attempt_at,
    nextAttemptAt: row.next_attempt_at,
    lastError: reason === null || kind === null || at === null ? null : { kind, reason, at },
    mailboxes: row.mailboxes.map((mailbox) => ({
      path: mailbox.path,
      specialUse: mailbox.special_use,
      lastSuccessAt: toDate(mailbox.last_success_at),
      lagMs: mailbox.lag_ms,
      lastError:
        mailbox.last_error === null || mailbox.last_error_at === null
          ? null
          : { reason: mailbox.last_error, at: new Date(mailbox.last_error_at) },
      leftAt: toDate(mailbox.left_at),
      counts: {
        messages: mailbox.messages,
        recorded: mailbox.recorded,
        waiting: mailbox.waiting,
        quarantined: mailbox.quarantined,
        expunged: mailbox.expunged,
        leftOut: toLeftOut(mailbox),
      },
    })),
  };
}

const toLeftOut = (counts: JsonOf<typeof MAILBOX>): Readonly<Record<LeftOutReason, number>> => ({
  address: counts.left_out_address,
  subject: counts.left_out_subject,
  internal: counts.left_out_internal,
  private: counts.left_out_private,
  stranger: counts.left_out_stranger,
});

const toDate = (text: string | null): Date | null => (text === null ? null : new Date(text));

function toQuarantined(row: RowOf<typeof RETRY>): QuarantinedMessage {
  const { header_summary: summary } = row;
  return {
    id: row.quarantine_id,
    accountId: row.account_id,
    path: row.path,
    uidValidity: Number(row.uid_validity),
    uid: Number(row.uid),
    subject: summary?.subject ?? null,
    from: summary?.from ?? null,
    date: toDate(summary?.date ?? null),
    sizeBytes: summary?.size_bytes ?? null,
    reason: row.last_error ?? '',
    tries: row.tries,
    firstSeenAt: row.seen_at,
    quarantinedAt: row.quarantined_at,
    nextTryAt: row.next_try_at,
  };
}

const MAILBOX = jsonObject('mailbox-json', {
  from: 'mailboxes b',
  columns: {
    ...columnsOf('b', 'path', 'special_use', 'last_success_at', 'last_error', 'last_error_at', 'left_at'),
    ...columnsOf('b', 'messages', 'recorded', 'waiting', 'quarantined', 'expunged'),
    ...columnsOf(
      'b',
      'left_out_address',
      'left_out_subject',
      'left_out_internal',
      'left_out_private',
      'left_out_stranger',
    ),
    lag_ms: '(extract(epoch from now() - b.last_success_at) * 1000)::bigint',
  },
});

/** An expired lease has no owner, whichever process had it. */
const READ_STATUS = statement(
  'mailbox-status',
  `select a.account_id, case when a.lease_until > now() then a.owner end as owner, a.last_attempt_at,
    a.next_attempt_at, a.last_error, a.last_error_kind, a.last_error_at,
    ${MAILBOX.array('where b.account_id = a.account_id', 'b.left_at is not null, b.special_use, b.path')} as mailboxes
  from mailbox_accounts a where $accountId::text is null or a.account_id = $accountId order by a.account_id`,
).narrow<{ mailboxes: readonly JsonOf<typeof MAILBOX>[] }>();

const QUARANTINED = `m.quarantine_id, b.account_id, b.path, m.uid_validity, m.uid, m.header_summary, m.last_error,
  m.tries, m.seen_at, m.quarantined_at, m.next_try_at`;
const SET_ASIDE = 'm.quarantined_at is not null and m.expunged_at is null';

const LIST_QUARANTINE = statements(
  'quarantine',
  { ofAccounts: [false, true], isNext: [false, true] },
  ({ ofAccounts, isNext }) => `
    select ${QUARANTINED} from mailbox_messages m join mailboxes b on b.id = m.mailbox_id
    where ${SET_ASIDE} ${ofAccounts ? 'and b.account_id = any ($accountIds::text[])' : ''}
      ${isNext ? 'and (m.quarantined_at, m.quarantine_id) < ($afterDate, $afterId)' : ''}
    order by m.quarantined_at desc, m.quarantine_id desc limit $limit`,
).narrow<{ quarantine_id: string; quarantined_at: Date }>();

/** As long as Message-IDs are kept, whatever is still there of others. */
const LEFT_OUT = statements(
  'left-out-messages',
  { ofAccounts: [false, true] },
  ({ ofAccounts }) => `
    select b.account_id, b.path, m.left_out, m.left_out_at
    from mailbox_messages m join mailboxes b on b.id = m.mailbox_id
    where m.message_id_digest = any ($digests::bytea[]) and m.left_out_at >= now() - interval '30 days'
      ${ofAccounts ? 'and b.account_id = any ($accountIds::text[])' : ''}
    order by m.left_out_at desc, b.account_id, b.path limit 100`,
).narrow<{ left_out: LeftOutReason; left_out_at: Date }>();

const RETRY = statement(
  'retry-quarantined',
  `update mailbox_messages m set next_try_at = now(), quarantine_delays = 0 from mailboxes b
  where m.quarantine_id = $id and ${SET_ASIDE} and b.id = m.mailbox_id
  returning ${QUARANTINED}`,
).narrow<{ quarantine_id: string; quarantined_at: Date }>();
