/** `MailboxRecords` on PostgreSQL: each method is one statement, whatever the number of messages. */
import { createHash } from 'node:crypto';
import type { Pool } from 'pg';
import {
  LeaseLost,
  type FailedMessage,
  type KnownMailboxRecord,
  type MailboxRecords,
  type TakenMessage,
  type WaitingMessage,
} from './mailbox-record-ports.ts';
import { rulesDigest } from '../../core/mailbox/capture.ts';
import type { HeaderSummary } from '../../core/mailbox/header-summary.ts';
import { joinRanges, type UidSet } from '../../core/mailbox/uid-set.ts';
import { findRecorded } from '../emails/find-recorded.ts';
import { areKnownTo } from './known-to-account.ts';
import { createMailboxLeases, endReading, fenced, HELD, holdBack, storable } from './mailbox-leases.ts';
import { READ_MAILBOXES, toProgress } from './mailbox-progress.ts';
import type { HeaderSummaryJson } from '../../platform/db/column-types.ts';
import { toStorableJson } from '../../core/storable-text.ts';
import { toView } from '../emails/received-values.ts';
import { fromNow } from '../../platform/db/from-now.ts';
import { run, statement, type Executor, type RowOf } from '../../platform/db/statement.ts';

export function createMailboxRecords(pool: Pool): MailboxRecords {
  return {
    ...createMailboxLeases(pool),

    async openMailboxes(owner, accountId, mailboxes, capture) {
      const paths = mailboxes.map(({ path }) => path);
      const uses = mailboxes.map(({ specialUse }) => specialUse);
      await fenced(pool, OPEN, { accountId, owner, paths, uses });
      await judgeAgain(pool, { accountId, owner, rules: rulesDigest(capture) });
      const rows = await run(pool, READ_MAILBOXES, { accountId, paths });
      return rows.map(toMailbox);
    },

    async readUids(mailboxId, uidValidity) {
      const rows = await run(pool, READ_UIDS, { mailboxId, uidValidity });
      return joinRanges(rows.map(({ first, last }) => ({ first: Number(first), last: Number(last) })));
    },

    recordChanges: (mailbox, { arrived, gone }) =>
      fenced(pool, RECORD_CHANGES, {
        ...mailbox,
        firstArrived: firstOf(arrived),
        lastArrived: lastOf(arrived),
        firstGone: firstOf(gone),
        lastGone: lastOf(gone),
      }),

    recordProgress: (mailbox, { uidNext, exists, highestModSeq, since }) =>
      fenced(pool, RECORD_PROGRESS, {
        ...mailbox,
        uidNext,
        exists,
        highestModSeq: highestModSeq?.toString() ?? null,
        since,
      }),

    async nextMessages(mailboxId, uidValidity, limit) {
      const rows = await run(pool, NEXT_MESSAGES, { mailboxId, uidValidity, limit });
      return rows.map(({ uid, tries, quarantine_delays: quarantineDelays }): WaitingMessage => ({
        uid: Number(uid),
        tries,
        quarantineDelays,
      }));
    },

    async findArrived(accountId, messages) {
      if (messages.length === 0) return [];
      const sought = messages.map(({ identity, key }) => ({
        accountId,
        identity,
        key,
        sharedKey: null,
        content: null,
      }));
      const recorded = await findRecorded(pool, sought);
      if (recorded.every((email) => email === null)) return recorded;
      const rows = await run(pool, ARRIVED, {
        accountId,
        emailIds: recorded.map((email) => email?.id ?? null),
        arrivals: messages.map(({ arrival }) => Buffer.from(arrival, 'hex')),
      });
      const arrived = new Set(rows.map(({ ordinal }) => Number(ordinal) - 1));
      return recorded.map((email, index) => (arrived.has(index) ? email : null));
    },

    areKnown: (accountId, messages) => areKnownTo(pool, accountId, messages),

    conclude: (mailbox, { taken, failed, leftOut = [] }) => {
      const left = leftOut.map(({ reason, ...message }) => ({ ...message, leftOut: reason }));
      type Result = Partial<FailedMessage & TakenMessage & (typeof left)[number]> & { readonly uid: number };
      const all: readonly Result[] = [...taken, ...failed, ...left];
      return fenced(pool, CONCLUDE, {
        ...mailbox,
        uids: all.map(({ uid }) => uid),
        emailIds: all.map(({ emailId }) => emailId ?? null),
        tries: all.map(({ tries }) => tries ?? null),
        delaysMs: all.map(({ delayMs }) => delayMs ?? 0),
        quarantineDelays: all.map(({ quarantineDelays }) => quarantineDelays ?? null),
        reasons: all.map(({ reason }) => (reason === undefined ? null : storable(reason))),
        summaries: all.map(({ summary }) => toSummaryJson(summary ?? null)),
        leftOut: all.map((message) => message.leftOut ?? null),
        messageIds: all.map(({ messageId }) => digestOf(messageId ?? null)),
        areAnswers: all.map(({ isAnswer }) => isAnswer ?? false),
        arrivals: all.map(({ arrival }) => (arrival === undefined ? null : Buffer.from(arrival, 'hex'))),
      });
    },

    async concludePass(generation, ageMs) {
      const [row] = await run(pool, CONCLUDE_PASS, { ...generation, ageMs });
      if (row?.held !== true) throw new LeaseLost(generation.accountId);
      const waiting = Number(row.waiting);
      if (row.has_older && waiting === 0) await fenced(pool, RETIRE_OLDER, { ...generation });
      return { waiting, nextTryMs: row.next_try_ms };
    },

    noteMailboxFailure: (mailbox, reason) =>
      fenced(pool, NOTE_MAILBOX_FAILURE, { ...mailbox, reason: storable(reason) }),
  };
}

/**
 * What was left out by other rules is judged again, and the rules are noted once nothing is left of that. In pieces: the lease can't be renewed
 * during a statement.
 */
async function judgeAgain(
  pool: Pool,
  values: { readonly accountId: string; readonly owner: string; readonly rules: Buffer | null },
): Promise<void> {
  for (;;) {
    const [row] = await run(pool, JUDGE_SOME, { ...values, limit: JUDGED_IN_ONE });
    if (row?.held !== true) throw new LeaseLost(values.accountId);
    if (Number(row.judged) === 0) return;
  }
}

const JUDGED_IN_ONE = 10_000;

function toSummaryJson(summary: HeaderSummary | null): string | null {
  if (summary === null) return null;
  const { subject, from, date, sizeBytes } = summary;
  const json: HeaderSummaryJson = {
    subject,
    from: from === null ? null : toView(from),
    date: date?.toISOString() ?? null,
    size_bytes: sizeBytes,
  };
  return toStorableJson(json);
}

function toMailbox(row: RowOf<typeof READ_MAILBOXES>): KnownMailboxRecord {
  return { id: row.id, path: row.path, specialUse: row.special_use, progress: toProgress(row) };
}

/** For finding a message again by its Message-ID, which is not stored. */
export const digestOf = (messageId: string | null): Buffer | null =>
  messageId === null ? null : createHash('sha256').update(messageId).digest();

const firstOf = (set: UidSet) => set.map(({ first }) => first);
const lastOf = (set: UidSet) => set.map(({ last }) => last);

const OPEN = statement(
  'open-mailboxes',
  `${HELD}, opened as (
    insert into mailboxes as b (account_id, path, special_use)
    select $accountId, p.path, p.special_use from unnest($paths::text[], $uses::text[]) p (path, special_use), held
    on conflict (account_id, path) do update set special_use = excluded.special_use, left_at = null
    where b.special_use is distinct from excluded.special_use or b.left_at is not null
  ), left_behind as (
    update mailboxes b set left_at = now() from held
    where b.account_id = $accountId and b.path <> all ($paths::text[]) and b.left_at is null
  )
  select exists (select from held) as held`,
);

/** Runs of UIDs without a hole as one row each. */
const READ_UIDS = statement(
  'mailbox-uids',
  `select min(uid) as first, max(uid) as last
  from (
    select uid, uid - row_number() over (order by uid) as run from mailbox_messages
    where mailbox_id = $mailboxId and uid_validity = $uidValidity and expunged_at is null
  ) m
  group by run`,
);

const RECORD_CHANGES = statement(
  'mailbox-changes',
  `${HELD}, gone as (
    update mailbox_messages m set expunged_at = now()
    from unnest($firstGone::bigint[], $lastGone::bigint[]) r (first, last), held
    where m.mailbox_id = $mailboxId and m.uid_validity = $uidValidity and m.uid between r.first and r.last and m.expunged_at is null
  ), arrived as (
    insert into mailbox_messages as m (mailbox_id, uid_validity, uid)
    select $mailboxId, $uidValidity, uid from unnest($firstArrived::bigint[], $lastArrived::bigint[]) r (first, last), held,
      generate_series(r.first, r.last) uid
    on conflict (mailbox_id, uid_validity, uid) do update set expunged_at = null where m.expunged_at is not null
  )
  select exists (select from held) as held`,
);

const RECORD_PROGRESS = statement(
  'mailbox-progress',
  `${HELD}, noted as (
    update mailboxes b set uid_validity = $uidValidity, uid_next = $uidNext, message_count = $exists, highest_modseq = $highestModSeq::numeric,
      since = $since, has_older = b.has_older or coalesce(b.uid_validity <> $uidValidity, false)
    from held where b.id = $mailboxId
  ), connected as (
    update mailbox_accounts a set connected_at = now() from held, mailboxes b
    where a.account_id = $accountId and a.connected_at is null and b.id = $mailboxId and b.special_use = '\\Inbox'
  )
  select exists (select from held) as held`,
);

const NEXT_MESSAGES = statement(
  'next-mailbox-messages',
  `select uid, tries, case when quarantined_at is not null then quarantine_delays end as quarantine_delays
  from mailbox_messages
  where mailbox_id = $mailboxId and uid_validity = $uidValidity and email_id is null and left_out is null and expunged_at is null
    and next_try_at <= now()
  order by uid desc
  limit $limit`,
);

/** All arrays have one entry per message; `delays` is for messages that are set aside, null for others. */
const CONCLUDE = statement(
  'conclude-mailbox-messages',
  `${HELD}, concluded as (
    update mailbox_messages m set email_id = r.email_id, arrival_digest = r.arrival, tries = coalesce(r.tries, m.tries), last_error = r.reason,
      left_out = r.left_out, left_out_at = case when r.left_out is not null then now() end, message_id_digest = r.message_id_digest,
      answers_since = case when r.is_answer then coalesce(m.answers_since, now()) end,
      -- After 10 minutes at first, then after as long as it is left out already
      judge_again_at = case when r.is_answer and (m.answers_since is null or m.answers_since > now() - interval '1 day')
        then now() + greatest(interval '10 minutes', now() - m.answers_since) end,
      next_try_at = case when r.email_id is null then ${fromNow('r.delay_ms')} else m.next_try_at end,
      quarantined_at = case when r.delays is not null then coalesce(m.quarantined_at, date_trunc('milliseconds', now())) end,
      quarantine_id = case when r.delays is not null then coalesce(m.quarantine_id, gen_random_uuid()) end,
      quarantine_delays = coalesce(r.delays, 0),
      header_summary = case when r.email_id is null and r.left_out is null then coalesce(r.summary::jsonb, m.header_summary) end
    from unnest($uids::bigint[], $emailIds::uuid[], $tries::int[], $delaysMs::float8[], $quarantineDelays::int[], $reasons::text[], $summaries::text[], $arrivals::bytea[],
      $leftOut::text[], $messageIds::bytea[], $areAnswers::boolean[])
      r (uid, email_id, tries, delay_ms, delays, reason, summary, arrival, left_out, message_id_digest, is_answer), held
    where m.mailbox_id = $mailboxId and m.uid_validity = $uidValidity and m.uid = r.uid and m.email_id is null
  )
  select exists (select from held) as held`,
);

/** Emails, null for none. An email may be known by the identifier of a record that was merged into it. */
const ARRIVED = statement(
  'arrived-mailbox-messages',
  `select r.ordinal from unnest($emailIds::uuid[], $arrivals::bytea[]) with ordinality r (email_id, arrival, ordinal)
  where r.email_id is not null and exists (
    select from mailbox_messages m join mailboxes b on b.id = m.mailbox_id
    where b.account_id = $accountId and m.arrival_digest = r.arrival and m.email_id = any (
      array(select a.id from email_aliases a where a.email_id = r.email_id) || r.email_id
    )
  )`,
);

/** Digests are forgotten in the mailboxes of all accounts: some of these are not read any more. */
const CONCLUDE_PASS = statement(
  'conclude-mailbox-pass',
  `${HELD}, waiting as materialized (
    select count(*) filter (where quarantined_at is null) as messages, min(next_try_at) as next_try_at
    from mailbox_messages
    where mailbox_id = $mailboxId and uid_validity = $uidValidity and email_id is null and left_out is null and expunged_at is null
  ), forgotten as (
    update mailbox_messages m set message_id_digest = null
    from held, (
      select mailbox_id, uid_validity, uid from mailbox_messages
      where message_id_digest is not null and left_out_at < now() - interval '30 days' and clock_is_certain()
        and (mailbox_id <> $mailboxId or judge_again_at is null)
      order by left_out_at limit 1000 for update skip locked
    ) o
    where m.mailbox_id = o.mailbox_id and m.uid_validity = o.uid_validity and m.uid = o.uid
  ), again as (
    update mailbox_messages m set left_out = null, left_out_at = null, message_id_digest = null, judge_again_at = null, next_try_at = now()
    from held
    where m.mailbox_id = $mailboxId and m.judge_again_at <= now() and m.expunged_at is null
    returning m.uid
  ), noted as (
    update mailboxes b set last_success_at = greatest(b.last_success_at, now() - $ageMs * interval '1 millisecond')
    from held, waiting w where b.id = $mailboxId and w.messages = 0
  ), recovered as (
    update mailbox_accounts a set failing_since = null, notified_at = null from held, waiting w, mailboxes b
    where a.account_id = $accountId and a.failing_since is not null
      and b.id = $mailboxId and b.special_use = '\\Inbox' and w.messages = 0
  )
  select exists (select from held) as held, w.messages as waiting, b.has_older,
    case when exists (select from again) then 0 else (extract(epoch from w.next_try_at - now()) * 1000)::float8 end as next_try_ms
  from waiting w, mailboxes b where b.id = $mailboxId`,
);

/**
 * An email that is in this generation as well only got another UID; any other was expunged. Either may be known by the identifier of a
 * record that turned out to be its copy.
 */
const RETIRE_OLDER = statement(
  'retire-generations',
  `${HELD}, present as materialized (
    select distinct coalesce(a.email_id, n.email_id) as email_id
    from mailbox_messages n left join email_aliases a on a.id = n.email_id
    where n.mailbox_id = $mailboxId and n.uid_validity = $uidValidity and n.expunged_at is null and n.email_id is not null
  ), older as materialized (
    select o.uid_validity, o.uid, o.email_id is null or p.email_id is not null as replaced
    from held, mailbox_messages o
    left join email_aliases a on a.id = o.email_id
    left join present p on p.email_id = coalesce(a.email_id, o.email_id)
    where o.mailbox_id = $mailboxId and o.uid_validity <> $uidValidity
  ), replaced as (
    delete from mailbox_messages m using older o
    where o.replaced and m.mailbox_id = $mailboxId and m.uid_validity = o.uid_validity and m.uid = o.uid
  ), expunged as (
    update mailbox_messages m set expunged_at = now() from older o
    where not o.replaced and m.mailbox_id = $mailboxId and m.uid_validity = o.uid_validity and m.uid = o.uid
      and m.expunged_at is null
  ), noted as (
    update mailboxes b set has_older = false from held where b.id = $mailboxId
  )
  select exists (select from held) as held`,
);

const NOTE_MAILBOX_FAILURE = statement(
  'mailbox-failure',
  `${HELD}, noted as (
    update mailboxes b set last_error = $reason, last_error_at = now() from held where b.id = $mailboxId
  )
  select exists (select from held) as held`,
);

/** Without the next UID, all UIDs of the server are compared. */
const FORGET_PROGRESS = statement(
  'forget-mailbox-progress',
  'update mailboxes set uid_next = null where account_id = $accountId',
);

const JUDGE_SOME = statement(
  'judge-messages-again',
  `${HELD}, judged as (
    update mailbox_messages m set left_out = null, left_out_at = null, message_id_digest = null, answers_since = null, judge_again_at = null
    from (
      select o.mailbox_id, o.uid_validity, o.uid from held, mailbox_accounts a
      join mailboxes b on b.account_id = a.account_id
      join mailbox_messages o on o.mailbox_id = b.id and o.left_out is not null
      where a.account_id = $accountId and a.judged_by is distinct from $rules::bytea
      limit $limit
    ) o
    where m.mailbox_id = o.mailbox_id and m.uid_validity = o.uid_validity and m.uid = o.uid
    returning m.uid
  ), noted as (
    update mailbox_accounts set judged_by = $rules::bytea
    where account_id = $accountId and judged_by is distinct from $rules::bytea
      and exists (select from held) and not exists (select from judged)
  )
  select exists (select from held) as held, (select count(*) from judged) as judged`,
);

/** An operator wants to know: no rules have this digest. */
const FORGET_RULES = statement(
  'forget-capture-rules',
  `update mailbox_accounts set judged_by = ''::bytea where account_id = $accountId`,
);

/** What has no email is on the other server alone, and can't be fetched any more. */
const FORGET_WAITING = statement(
  'forget-waiting-messages',
  `delete from mailbox_messages m using mailboxes b
  where b.account_id = $accountId and m.mailbox_id = b.id and m.email_id is null`,
);

/** A generation that no server has, and no earlier change. */
const FORGET_UIDS = statement(
  'forget-mailbox-uids',
  `update mailbox_messages m set uid_validity = o.lowest - 4294967296 + m.uid_validity
  from mailboxes b cross join lateral (
    select least(0, min(a.uid_validity)) as lowest from mailbox_messages a where a.mailbox_id = b.id
  ) o
  where b.account_id = $accountId and m.mailbox_id = b.id and m.uid_validity >= 0`,
);

const FORGET_GENERATION = statement(
  'forget-mailbox-generation',
  `update mailboxes
  set uid_validity = null, uid_next = null, message_count = 0, highest_modseq = null, since = null, has_older = true
  where account_id = $accountId`,
);

/** The account gets other mailboxes: equal UIDs name other messages there, also under an equal UIDVALIDITY. */
export async function forgetMailboxes(executor: Executor, accountId: string): Promise<void> {
  // First: then a reading under way can't record anything more.
  await holdBack(executor, accountId);
  await run(executor, FORGET_WAITING, { accountId });
  await run(executor, FORGET_UIDS, { accountId });
  await run(executor, FORGET_GENERATION, { accountId });
}

/** Has everything in the mailboxes of the account looked at again, by a new connection. */
export async function rereadMailboxes(executor: Executor, accountId: string): Promise<void> {
  // First: then the reading under way can't record its progress again, and the next one waits for the end of this transaction.
  await endReading(executor, accountId);
  await forgetProgress(executor, accountId);
}

/** Has all mailboxes of the account compared with the server, and what was left out judged again, when they are opened next. */
async function forgetProgress(executor: Executor, accountId: string): Promise<void> {
  await run(executor, FORGET_PROGRESS, { accountId });
  await run(executor, FORGET_RULES, { accountId });
}

/** The account gets other rules: a process that does not know them yet reads nothing by the old ones. */
export async function followRules(executor: Executor, accountId: string): Promise<void> {
  await holdBack(executor, accountId);
  await forgetProgress(executor, accountId);
}
