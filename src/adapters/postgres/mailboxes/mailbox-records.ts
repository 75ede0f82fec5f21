/** `MailboxRecords` on PostgreSQL: each method is one statement, whatever the number of messages. */
import type { Pool } from 'pg';
import {
  LeaseLost,
  type FailedMessage,
  type GenerationRef,
  type KnownMailboxRecord,
  type MailboxRecords,
  type TakenMessage,
  type WaitingMessage,
} from '../../../app/mailboxes/mailbox-record-ports.ts';
import type { HeaderSummary } from '../../../core/mailbox/header-summary.ts';
import { joinRanges, type UidSet } from '../../../core/mailbox/uid-set.ts';
import { findRecorded } from '../emails/find-recorded.ts';
import { createMailboxLeases, fenced, HELD, storable } from './mailbox-leases.ts';
import { MAILBOX_COLUMNS, toProgress, type ProgressRow } from './mailbox-progress.ts';
import type { HeaderSummaryJson } from '../db/column-types.ts';
import { createNamedQuery } from '../db/named-query.ts';
import { createKysely, guard } from '../db/pool.ts';
import { clean, toView } from '../emails/received-values.ts';

export function createMailboxRecords(pool: Pool): MailboxRecords {
  const query = createNamedQuery(pool);
  const db = createKysely(pool);
  const write = (
    name: string,
    text: string,
    { accountId, owner, mailboxId }: Omit<GenerationRef, 'uidValidity'>,
    values: unknown[],
  ) => fenced(query, name, text, accountId, [accountId, owner, mailboxId, ...values]);

  return {
    ...createMailboxLeases(query),

    async openMailboxes(owner, accountId, mailboxes) {
      const paths = mailboxes.map(({ path }) => path);
      const uses = mailboxes.map(({ specialUse }) => specialUse);
      await fenced(query, 'open-mailboxes', OPEN, accountId, [accountId, owner, paths, uses]);
      const rows = await query<MailboxRow>('read-mailboxes', READ_MAILBOXES, [accountId, paths]);
      return rows.map(toMailbox);
    },

    async readUids(mailboxId, uidValidity) {
      const rows = await query<{ first: string; last: string }>('mailbox-uids', READ_UIDS, [
        mailboxId,
        uidValidity,
      ]);
      return joinRanges(rows.map(({ first, last }) => ({ first: Number(first), last: Number(last) })));
    },

    recordChanges: (mailbox, { arrived, gone }) =>
      write('mailbox-changes', RECORD_CHANGES, mailbox, [
        mailbox.uidValidity,
        ...bordersOf(arrived),
        ...bordersOf(gone),
      ]),

    recordProgress: (mailbox, { uidNext, exists, highestModSeq, since }) =>
      write('mailbox-progress', RECORD_PROGRESS, mailbox, [
        mailbox.uidValidity,
        uidNext,
        exists,
        highestModSeq?.toString() ?? null,
        since,
      ]),

    async nextMessages(mailboxId, uidValidity, limit) {
      const rows = await query<{ uid: string; tries: number; quarantine_delays: number | null }>(
        'next-mailbox-messages',
        NEXT_MESSAGES,
        [mailboxId, uidValidity, limit],
      );
      return rows.map(({ uid, tries, quarantine_delays: quarantineDelays }): WaitingMessage => ({
        uid: Number(uid),
        tries,
        quarantineDelays,
      }));
    },

    async findArrived(accountId, messages) {
      if (messages.length === 0) return [];
      const sought = messages.map(({ identity, key }) => ({ accountId, identity, key }));
      const recorded = await guard(findRecorded(db, sought));
      if (recorded.every((email) => email === null)) return recorded;
      const rows = await query<{ ordinal: string }>('arrived-mailbox-messages', ARRIVED, [
        accountId,
        recorded.map((email) => email?.id ?? null),
        messages.map(({ arrival }) => Buffer.from(arrival, 'hex')),
      ]);
      const arrived = new Set(rows.map(({ ordinal }) => Number(ordinal) - 1));
      return recorded.map((email, index) => (arrived.has(index) ? email : null));
    },

    settle: (mailbox, { taken, failed }) => {
      const all: readonly (Partial<FailedMessage & TakenMessage> & { uid: number })[] = [...taken, ...failed];
      return write('settle-mailbox-messages', SETTLE, mailbox, [
        mailbox.uidValidity,
        all.map(({ uid }) => uid),
        all.map(({ emailId }) => emailId ?? null),
        all.map(({ tries }) => tries ?? null),
        all.map(({ delayMs }) => delayMs ?? 0),
        all.map(({ quarantineDelays }) => quarantineDelays ?? null),
        all.map(({ reason }) => (reason === undefined ? null : storable(reason))),
        all.map(({ summary }) => toSummaryJson(summary ?? null)),
        all.map(({ arrival }) => (arrival === undefined ? null : Buffer.from(arrival, 'hex'))),
      ]);
    },

    async concludePass({ owner, accountId, mailboxId, uidValidity }, ageMs) {
      const values = [accountId, owner, mailboxId, uidValidity];
      const [row] = await query<ConclusionRow>('conclude-mailbox-pass', CONCLUDE_PASS, [...values, ageMs]);
      if (row?.held !== true) throw new LeaseLost(accountId);
      const waiting = Number(row.waiting);
      if (row.has_older && waiting === 0) {
        await fenced(query, 'retire-generations', RETIRE_OLDER, accountId, values);
      }
      return { waiting, nextTryMs: row.next_try_ms };
    },

    noteMailboxFailure: (mailbox, reason) =>
      write('mailbox-failure', NOTE_MAILBOX_FAILURE, mailbox, [storable(reason)]),
  };
}

function toSummaryJson(summary: HeaderSummary | null): string | null {
  if (summary === null) return null;
  const { subject, from, date, sizeBytes } = summary;
  const json: HeaderSummaryJson = {
    subject: subject === null ? null : clean(subject),
    from: from === null ? null : toView(from),
    date: date?.toISOString() ?? null,
    size_bytes: sizeBytes,
  };
  return JSON.stringify(json);
}

interface ConclusionRow {
  held: boolean;
  waiting: string;
  has_older: boolean;
  next_try_ms: number | null;
}

interface MailboxRow extends ProgressRow {
  id: string;
  path: string;
  special_use: string | null;
}

function toMailbox(row: MailboxRow): KnownMailboxRecord {
  return { id: row.id, path: row.path, specialUse: row.special_use, progress: toProgress(row) };
}

/** As two parameters: the first UIDs of the ranges, and the last ones. */
function bordersOf(set: UidSet): [number[], number[]] {
  return [set.map(({ first }) => first), set.map(({ last }) => last)];
}

/** $3 paths, $4 special uses. */
const OPEN = `
  ${HELD}, opened as (
    insert into mailboxes as b (account_id, path, special_use)
    select $1, p.path, p.special_use from unnest($3::text[], $4::text[]) p (path, special_use), held
    on conflict (account_id, path) do update set special_use = excluded.special_use, left_at = null
    where b.special_use is distinct from excluded.special_use or b.left_at is not null
  ), left_behind as (
    update mailboxes b set left_at = now() from held
    where b.account_id = $1 and b.path <> all ($3::text[]) and b.left_at is null
  )
  select exists (select from held) as held`;

const READ_MAILBOXES = `
  select b.id, b.path, b.special_use, ${MAILBOX_COLUMNS}
  from unnest($2::text[]) with ordinality p (path, ordinal)
  join mailboxes b on b.account_id = $1 and b.path = p.path
  order by p.ordinal`;

/** Runs of UIDs without a hole as one row each. */
const READ_UIDS = `
  select min(uid) as first, max(uid) as last
  from (
    select uid, uid - row_number() over (order by uid) as run from mailbox_messages
    where mailbox_id = $1 and uid_validity = $2 and expunged_at is null
  ) m
  group by run`;

/** $4 UIDVALIDITY, $5 and $6 what arrived, $7 and $8 what is gone. */
const RECORD_CHANGES = `
  ${HELD}, gone as (
    update mailbox_messages m set expunged_at = now()
    from unnest($7::bigint[], $8::bigint[]) r (first, last), held
    where m.mailbox_id = $3 and m.uid_validity = $4 and m.uid between r.first and r.last and m.expunged_at is null
  ), arrived as (
    insert into mailbox_messages as m (mailbox_id, uid_validity, uid)
    select $3, $4, uid from unnest($5::bigint[], $6::bigint[]) r (first, last), held,
      generate_series(r.first, r.last) uid
    on conflict (mailbox_id, uid_validity, uid) do update set expunged_at = null where m.expunged_at is not null
  )
  select exists (select from held) as held`;

const RECORD_PROGRESS = `
  ${HELD}, noted as (
    update mailboxes b set uid_validity = $4, uid_next = $5, message_count = $6, highest_modseq = $7::numeric,
      since = $8, has_older = b.has_older or coalesce(b.uid_validity <> $4, false)
    from held where b.id = $3
  )
  select exists (select from held) as held`;

const NEXT_MESSAGES = `
  select uid, tries, case when quarantined_at is not null then quarantine_delays end as quarantine_delays
  from mailbox_messages
  where mailbox_id = $1 and uid_validity = $2 and email_id is null and expunged_at is null and next_try_at <= now()
  order by uid desc
  limit $3`;

/**
 * $5 to $12: UID, email, tries, delay in ms, delays of what is set aside (null: it is not), reason, summary, arrival; one of
 * each for a message.
 */
const SETTLE = `
  ${HELD}, settled as (
    update mailbox_messages m set email_id = r.email_id, arrival_digest = r.arrival, tries = coalesce(r.tries, m.tries), last_error = r.reason,
      next_try_at = case when r.email_id is null then now() + r.delay_ms * interval '1 millisecond' else m.next_try_at end,
      quarantined_at = case when r.delays is not null then coalesce(m.quarantined_at, date_trunc('milliseconds', now())) end,
      quarantine_id = case when r.delays is not null then coalesce(m.quarantine_id, gen_random_uuid()) end,
      quarantine_delays = coalesce(r.delays, 0),
      header_summary = case when r.email_id is null then coalesce(r.summary::jsonb, m.header_summary) end
    from unnest($5::bigint[], $6::uuid[], $7::int[], $8::float8[], $9::int[], $10::text[], $11::text[], $12::bytea[])
      r (uid, email_id, tries, delay_ms, delays, reason, summary, arrival), held
    where m.mailbox_id = $3 and m.uid_validity = $4 and m.uid = r.uid and m.email_id is null
  )
  select exists (select from held) as held`;

/** $2 emails, null for none, $3 arrivals. An email may be known by the identifier of a record that was merged into it. */
const ARRIVED = `
  select r.ordinal from unnest($2::uuid[], $3::bytea[]) with ordinality r (email_id, arrival, ordinal)
  where r.email_id is not null and exists (
    select from mailbox_messages m join mailboxes b on b.id = m.mailbox_id
    where b.account_id = $1 and m.arrival_digest = r.arrival and m.email_id = any (
      array(select a.id from email_aliases a where a.email_id = r.email_id) || r.email_id
    )
  )`;

const CONCLUDE_PASS = `
  ${HELD}, waiting as materialized (
    select count(*) filter (where quarantined_at is null) as messages, min(next_try_at) as next_try_at
    from mailbox_messages
    where mailbox_id = $3 and uid_validity = $4 and email_id is null and expunged_at is null
  ), noted as (
    update mailboxes b set last_success_at = greatest(b.last_success_at, now() - $5 * interval '1 millisecond')
    from held, waiting w where b.id = $3 and w.messages = 0
  )
  select exists (select from held) as held, w.messages as waiting, b.has_older,
    (extract(epoch from w.next_try_at - now()) * 1000)::float8 as next_try_ms
  from waiting w, mailboxes b where b.id = $3`;

/**
 * An email that is in this generation as well has only got another UID; one that is not was expunged. Either may be known
 * by the identifier of a record that turned out to be its copy.
 */
const RETIRE_OLDER = `
  ${HELD}, present as materialized (
    select distinct coalesce(a.email_id, n.email_id) as email_id
    from mailbox_messages n left join email_aliases a on a.id = n.email_id
    where n.mailbox_id = $3 and n.uid_validity = $4 and n.expunged_at is null and n.email_id is not null
  ), older as materialized (
    select o.uid_validity, o.uid, o.email_id is null or p.email_id is not null as replaced
    from held, mailbox_messages o
    left join email_aliases a on a.id = o.email_id
    left join present p on p.email_id = coalesce(a.email_id, o.email_id)
    where o.mailbox_id = $3 and o.uid_validity <> $4
  ), replaced as (
    delete from mailbox_messages m using older o
    where o.replaced and m.mailbox_id = $3 and m.uid_validity = o.uid_validity and m.uid = o.uid
  ), expunged as (
    update mailbox_messages m set expunged_at = now() from older o
    where not o.replaced and m.mailbox_id = $3 and m.uid_validity = o.uid_validity and m.uid = o.uid
      and m.expunged_at is null
  ), noted as (
    update mailboxes b set has_older = false from held where b.id = $3
  )
  select exists (select from held) as held`;

const NOTE_MAILBOX_FAILURE = `
  ${HELD}, noted as (
    update mailboxes b set last_error = $4, last_error_at = now() from held where b.id = $3
  )
  select exists (select from held) as held`;
