/** `MailboxStatusStore` on PostgreSQL. Triggers maintain the counts, see migrations/0001_schema/mailboxes.ts. */
import type { Pool } from 'pg';
import { accountIdsOf } from '../../platform/base/account-filter.ts';
import type { MailboxStatusStore, QuarantinedMessage, ReadingStatus } from './mailbox-status-ports.ts';
import { countSentCopies } from './count-sent-copies.ts';
import { columnsOf, jsonObject, type JsonOf } from '../../platform/db/json.ts';
import { run, statement, statements, type RowOf } from '../../platform/db/statement.ts';
import { inTransaction } from '../../platform/db/transaction.ts';
import { endReading } from './mailbox-leases.ts';
import { forgetProgress } from './mailbox-records.ts';

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

    resync: (accountId) =>
      inTransaction(pool, async (client) => {
        // First: then the reading under way can't record its progress again, and the next one waits for the end of this transaction.
        await endReading(client, accountId);
        await forgetProgress(client, accountId);
      }),
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
      },
    })),
  };
}

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

const RETRY = statement(
  'retry-quarantined',
  `update mailbox_messages m set next_try_at = now(), quarantine_delays = 0 from mailboxes b
  where m.quarantine_id = $id and ${SET_ASIDE} and b.id = m.mailbox_id
  returning ${QUARANTINED}`,
).narrow<{ quarantine_id: string; quarantined_at: Date }>();
