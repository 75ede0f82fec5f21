/** `MailboxStatusStore` on PostgreSQL. The counts are kept by triggers, see migrations/0001_schema/mailboxes.ts. */
import type { Pool } from 'pg';
import { accountIdsOf } from '../../../app/base/account-filter.ts';
import type {
  MailboxStatusStore,
  QuarantinedMessage,
  ReadingStatus,
} from '../../../app/mailboxes/mailbox-status-ports.ts';
import { countSentCopies } from '../sent-copies/sent-copies.ts';
import { run, statement, statements, type RowOf } from '../db/statement.ts';

export function createMailboxStatusStore(pool: Pool): MailboxStatusStore {
  return {
    async readStatus() {
      return (await run(pool, READ_STATUS)).map(toStatus);
    },

    countSentCopies: () => countSentCopies(pool),

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
  };
}

/** Dates as text, as in JSON. */
interface MailboxJson {
  path: string;
  special_use: string | null;
  last_success_at: string | null;
  lag_ms: number | null;
  last_error: string | null;
  last_error_at: string | null;
  left_at: string | null;
  messages: number;
  recorded: number;
  waiting: number;
  quarantined: number;
  expunged: number;
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

/** An expired lease has no owner, whichever process had it. */
const READ_STATUS = statement(
  'mailbox-status',
  `select a.account_id, case when a.lease_until > now() then a.owner end as owner, a.last_attempt_at,
    a.next_attempt_at, a.last_error, a.last_error_kind, a.last_error_at,
    coalesce((
      select json_agg(json_build_object('path', b.path, 'special_use', b.special_use,
        'last_success_at', b.last_success_at,
        'lag_ms', (extract(epoch from now() - b.last_success_at) * 1000)::bigint,
        'last_error', b.last_error, 'last_error_at', b.last_error_at, 'left_at', b.left_at,
        'messages', b.messages, 'recorded', b.recorded, 'waiting', b.waiting, 'quarantined', b.quarantined,
        'expunged', b.expunged) order by b.left_at is not null, b.special_use, b.path)
      from mailboxes b where b.account_id = a.account_id
    ), '[]') as mailboxes
  from mailbox_accounts a order by a.account_id`,
).narrow<{ mailboxes: readonly MailboxJson[] }>();

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
