/** `RecordedEmails` on PostgreSQL. */
import type { Pool } from 'pg';
import type { AddressView } from '../../core/address/address-view.ts';
import { run, statement, type Executor, type RowOf } from '../../platform/db/statement.ts';
import type { RecordedEmail, RecordedEmails, StayReason } from './recorded-ports.ts';

export function createRecordedEmails(pool: Pool): RecordedEmails {
  return {
    async page(accountId, after, limit) {
      const [row] = await run(pool, FIND_PLACES, {
        accountId,
        threadId: after?.threadId ?? null,
        isWhole: after !== null && after.email === null,
        date: after?.email?.date ?? null,
        emailId: after?.email?.id ?? null,
        limit,
      });
      if (row === undefined) return { emails: [], next: null };
      const emails = await readInOrder(pool, row.ids);
      const last = emails.at(-1);
      if (row.ids.length === limit && last !== undefined)
        return { emails, next: { threadId: last.threadId, email: { date: last.date, id: last.id } } };
      // Only some of the threads were looked at.
      const isCut = Number(row.threads) > limit && row.last_thread !== null;
      return { emails, next: isCut ? { threadId: row.last_thread, email: null } : null };
    },

    byIds: (ids) => readInOrder(pool, ids),

    async countLeftOut(accountId) {
      const [row] = await run(pool, COUNT_LEFT_OUT, { accountId });
      return {
        address: Number(row?.address ?? 0),
        subject: Number(row?.subject ?? 0),
        internal: Number(row?.internal ?? 0),
        private: Number(row?.private ?? 0),
        stranger: Number(row?.stranger ?? 0),
      };
    },
  };
}

async function readInOrder(pool: Pool, ids: readonly string[]): Promise<readonly RecordedEmail[]> {
  if (ids.length === 0) return [];
  const rows = new Map((await run(pool, READ_RECORDED, { ids })).map((row) => [row.id, toRecorded(row)]));
  return ids.flatMap((id) => rows.get(id) ?? []);
}

function toRecorded(row: RowOf<typeof READ_RECORDED>): RecordedEmail {
  const { header, path } = row;
  return {
    id: row.id,
    threadId: row.thread_id,
    date: row.date,
    from: row.from_address,
    subject: row.subject,
    sizeBytes: Number(row.raw_size_bytes),
    isFromMailbox: row.is_from_mailbox,
    message: header !== null ? { header } : path !== null ? { path } : null,
    stays: row.stays,
  };
}

/** The threads of an account in the order of their ids, and the emails of each by date: both read an index from a place on. */
const FIND_PLACES = statement(
  'find-recorded-places',
  `with threads as materialized (
    select t.id from email_threads t
    where t.account_id = $accountId
      and ($threadId::uuid is null or t.id > $threadId or (t.id = $threadId and not $isWhole::boolean))
      and t.id >= coalesce($threadId, '00000000-0000-0000-0000-000000000000')
    -- One more: of the first, all emails may have been looked at
    order by t.id limit $limit::int + 1
  ), places as materialized (
    select t.id as thread_id, e.id, e.date
    from threads t cross join lateral (
      select e.id, e.date from emails e
      where e.thread_id = t.id and ($date::timestamptz is null or t.id <> $threadId or (e.date, e.id) > ($date, $emailId::uuid))
      order by e.date, e.id limit $limit::int
    ) e
    order by t.id, e.date, e.id limit $limit::int
  )
  select array(select id from places order by thread_id, date, id) as ids, (select count(*) from threads) as threads,
    (select id from threads order by id desc limit 1) as last_thread`,
).narrow<{ ids: string[]; threads: string; last_thread: string }>();

/** A draft may have the id of a thread, or of an email, that was merged into another one. */
const DRAFTED = `exists (
      select from drafts d
      where d.thread_id = any (array(select a.id from thread_aliases a where a.thread_id = e.thread_id) || e.thread_id)
    ) or exists (
      select from drafts d
      where d.answers is not null
        and (d.answers ->> 'emailId')::uuid = any (array(select a.id from email_aliases a where a.email_id = e.id) || e.id)
    )`;

const HANDLED = `exists (
      select from email_threads t
      where t.id = e.thread_id
        and (t.labels <> '{}' or t.assignee is not null or t.chosen_customer_id is not null or t.chosen_company_id is not null)
    ) or exists (select from thread_decisions d where d.thread_id = e.thread_id)
      or exists (select from thread_decisions d where d.other_thread_id = e.thread_id)
      or exists (select from thread_decisions d where d.email_ids @> array[e.id])`;

/**
 * Of an email `e`: see STAY_REASONS. What the service sent has no identity of its own; a copy in the Sent mailbox was merged into it.
 */
const STAYS = `case
      when exists (select from emails o where o.thread_id = e.thread_id and o.direction = 'outbound' and o.identity_key is null)
        then 'answered'
      when ${DRAFTED} then 'drafted'
      when ${HANDLED} then 'handled'
      when exists (select from bounce_reports b where b.report_id = e.id)
        or exists (select from delivery_reports d where d.report_id = e.id) then 'report'
    end`;

/** The header alone is read out of the message, up to the empty line behind it. */
const READ_RECORDED = statement(
  'read-recorded-emails',
  `select e.id, e.thread_id, e.date, e.from_address, e.subject, e.raw_size_bytes, r.is_from_mailbox,
    case when r.is_one_message then substring(e.raw from 1 for coalesce(
      least(nullif(position('\\x0d0a0d0a'::bytea in e.raw), 0) + 3, nullif(position('\\x0a0a'::bytea in e.raw), 0) + 1),
      octet_length(e.raw)
    )) end as header,
    case when r.is_one_message then e.raw_path end as path,
    case when r.is_from_mailbox then ${STAYS} end as stays
  from emails e
  cross join lateral (
    select e.identity_key is not null and coalesce(e.received_by ->> 'way' = 'imap', false)
      and not exists (select from email_variants v where v.email_id = e.id and v.received_by ->> 'way' is distinct from 'imap')
      as is_from_mailbox
  ) m
  -- What its other messages say of its recipients is not read, so that it stays.
  cross join lateral (
    select m.is_from_mailbox, m.is_from_mailbox and not exists (select from email_variants v where v.email_id = e.id) as is_one_message
  ) r
  where e.id = any ($ids::uuid[])`,
).narrow<{ is_from_mailbox: boolean; stays: StayReason | null; from_address: AddressView }>();

const FIND_STAYING = statement(
  'find-staying-emails',
  `select e.id from emails e where e.id = any ($ids::uuid[]) and (${STAYS}) is not null limit 1`,
);

/** True when none of the emails has to stay. */
export async function mayGo(executor: Executor, ids: readonly string[]): Promise<boolean> {
  return (await run(executor, FIND_STAYING, { ids })).length === 0;
}

const COUNT_LEFT_OUT = statement(
  'count-left-out-of-account',
  `select sum(left_out_address) as address, sum(left_out_subject) as subject, sum(left_out_internal) as internal,
    sum(left_out_private) as private, sum(left_out_stranger) as stranger
  from mailboxes where account_id = $accountId`,
);
