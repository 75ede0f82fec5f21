/** `MailboxStatusStore` on PostgreSQL. The counts are kept by triggers, see migration 0015. */
import type { Pool } from 'pg';
import type {
  MailboxStatusStore,
  QuarantinedMessage,
  QuarantineQuery,
  ReadingStatus,
} from '../../../app/mailboxes/mailbox-status-ports.ts';
import type { AccountFailure } from '../../../core/mailbox/retry.ts';
import type { HeaderSummaryJson } from './mailbox-records.ts';
import { createNamedQuery } from '../db/named-query.ts';

export function createMailboxStatusStore(pool: Pool): MailboxStatusStore {
  const query = createNamedQuery(pool);
  return {
    async readStatus() {
      return (await query<StatusRow>('mailbox-status', READ_STATUS, [])).map(toStatus);
    },

    async listQuarantine(request) {
      const { name, text, values } = listQuarantine(request);
      return (await query<QuarantineRow>(name, text, values)).map(toQuarantined);
    },

    async retryQuarantined(id) {
      const [row] = await query<QuarantineRow>('retry-quarantined', RETRY, [id]);
      return row === undefined ? null : toQuarantined(row);
    },
  };
}

interface StatusRow {
  account_id: string;
  owner: string | null;
  last_attempt_at: Date | null;
  next_attempt_at: Date | null;
  last_error: string | null;
  last_error_kind: AccountFailure | null;
  last_error_at: Date | null;
  /** Dates as text, as in JSON. */
  mailboxes: readonly {
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
  }[];
}

function toStatus(row: StatusRow): ReadingStatus {
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

interface QuarantineRow {
  quarantine_id: string;
  account_id: string;
  path: string;
  uid_validity: string;
  uid: string;
  header_summary: HeaderSummaryJson | null;
  last_error: string | null;
  tries: number;
  seen_at: Date;
  quarantined_at: Date;
  next_try_at: Date;
}

function toQuarantined(row: QuarantineRow): QuarantinedMessage {
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
const READ_STATUS = `
  select a.account_id, case when a.lease_until > now() then a.owner end as owner, a.last_attempt_at,
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
  from mailbox_accounts a order by a.account_id`;

const QUARANTINED = `m.quarantine_id, b.account_id, b.path, m.uid_validity, m.uid, m.header_summary, m.last_error,
  m.tries, m.seen_at, m.quarantined_at, m.next_try_at`;
const SET_ASIDE = 'm.quarantined_at is not null and m.expunged_at is null';

/** A statement for each set of conditions, as in email-store.ts. */
function listQuarantine({ accountId, after, limit }: QuarantineQuery): {
  name: string;
  text: string;
  values: unknown[];
} {
  const values: unknown[] = [limit];
  const parameter = (value: unknown) => `$${values.push(value)}`;
  const conditions = [
    SET_ASIDE,
    ...(accountId === null ? [] : [`b.account_id = ${parameter(accountId)}`]),
    ...(after === null
      ? []
      : [`(m.quarantined_at, m.quarantine_id) < (${parameter(after.date)}, ${parameter(after.id)}::uuid)`]),
  ];
  return {
    name: `quarantine-${accountId === null ? 0 : 1}${after === null ? 0 : 1}`,
    text: `
      select ${QUARANTINED} from mailbox_messages m join mailboxes b on b.id = m.mailbox_id
      where ${conditions.join(' and ')}
      order by m.quarantined_at desc, m.quarantine_id desc limit $1`,
    values,
  };
}

const RETRY = `
  update mailbox_messages m set next_try_at = now(), quarantine_delays = 0 from mailboxes b
  where m.quarantine_id = $1 and ${SET_ASIDE} and b.id = m.mailbox_id
  returning ${QUARANTINED}`;
