/** `AbsenceStore` on PostgreSQL, and the part of the statement that records received emails. Every time is the database's. */
import type { Pool } from 'pg';
import type { CertainUntil } from '../../platform/base/clock-guard.ts';
import { isCertain } from '../../platform/db/from-now.ts';
import { run, statement, type Executor } from '../../platform/db/statement.ts';
import type { AbsenceStore } from './absence-ports.ts';

/** Emails that are decided about in one statement. */
const CHOSEN_TOGETHER = 100;
/** Answers that one process composes in a row. */
const CLAIMED_TOGETHER = 10;
/**
 * Answers of an account in a day: a person who is away gets mail of far fewer strangers, and a flood of forged senders gets no more answers
 * than this.
 */
const MAX_ANSWERS_PER_DAY = 500;

/** Mail that arrived earlier gets none: it was put into its mailbox from elsewhere, or the service was down for so long that it would be odd. */
const ANSWERED_WITHIN = `interval '1 day'`;
/** RFC 3834 §2 leaves the interval open; RFC 5230 §4.1 recommends seven days. */
const ONCE_IN = `interval '7 days'`;

/** @param certainUntil while the clock is in doubt, nothing is decided: it could answer twice, or never */
export function createAbsenceStore(pool: Pool, certainUntil: CertainUntil): AbsenceStore {
  return {
    async choose(away) {
      const [row] = await run(pool, CHOOSE, {
        accounts: away.map(({ accountId }) => accountId),
        froms: away.map(({ from }) => from),
        untils: away.map(({ until }) => until),
        certainUntil: certainUntil(),
      });
      return row?.decided ?? 0;
    },
    async claim(away) {
      const rows = await run(pool, CLAIM, {
        accounts: away.map(({ accountId }) => accountId),
        untils: away.map(({ until }) => until),
      });
      return rows.map((row) => ({
        accountId: row.account_id,
        address: row.address,
        emailId: row.email_id,
        answerId: row.answer_id,
        isTooLate: row.is_too_late,
      }));
    },
    async settle(answerId) {
      await run(pool, SETTLE, { answerId });
    },
    async putOff(answerId) {
      await run(pool, PUT_OFF, { answerId });
    },
  };
}

/** The columns of the JSON of a received email that `insertAbsenceRequests` needs. */
export const ABSENCE_COLUMNS = 'absence jsonb, account_id text';

/** Takes no lock that a transaction could wait for. @param source rows `r` with the columns `id` and ABSENCE_COLUMNS */
export const insertAbsenceRequests = (source: string): string => `
  insert into absence_requests (email_id, account_id, address, arrived_at, is_of_mailbox)
  select r.id, r.account_id, r.absence ->> 'address', c.arrived_at, (r.absence ->> 'is_of_mailbox')::boolean
  from ${source} cross join lateral (
    select coalesce((r.absence ->> 'arrived_at')::timestamptz, now()) as arrived_at
  ) c
  where r.absence is not null and c.arrived_at > now() - ${ANSWERED_WITHIN}`;

/** True when an email waits for the decision, or an answer is due. */
export const ABSENCES_ARE_DUE = `(select email_id from absence_requests order by email_id limit 1) is not null
      or coalesce((
        select next_try_at from absence_answers where next_try_at is not null order by next_try_at limit 1
      ) <= now(), false)`;

/**
 * One answer for each person: of several emails the first gets it. Answers are locked in the order of their keys, so that processes never
 * wait for each other in a circle; an email that another process decides about is skipped.
 */
const CHOOSE = statement(
  'choose-absence-answers',
  `with away as materialized (
    select * from unnest($accounts::text[], $froms::timestamptz[], $untils::timestamptz[]) a (account_id, from_at, until_at)
  ), due as materialized (
    select r.email_id, r.account_id, r.address, person_of(r.address) as person, r.arrived_at, r.is_of_mailbox
    from absence_requests r
    where (r.account_id in (select a.account_id from away a) or r.created_at < now() - interval '1 minute')
      and ${isCertain('$certainUntil')}
    order by r.email_id limit ${CHOSEN_TOGETHER} for update skip locked
  ), gone as (
    delete from absence_requests r using due where r.email_id = due.email_id returning 1
  ), wanted as materialized (
    select distinct on (d.account_id, d.person) d.account_id, d.person, d.address, d.email_id
    from due d join away a on a.account_id = d.account_id
    left join mailbox_accounts m on m.account_id = d.account_id
    where d.arrived_at > now() - ${ANSWERED_WITHIN}
      and not sender_is_blocked(d.account_id, d.address)
      and (a.from_at is null or d.arrived_at >= a.from_at)
      and (a.until_at is null or d.arrived_at < a.until_at and now() < a.until_at)
      -- What was in the mailbox when it was first read is old mail.
      and (not d.is_of_mailbox or d.arrived_at >= m.connected_at)
    order by d.account_id, d.person, d.email_id
  ), chosen as (
    insert into absence_answers as x (account_id, address, email_id)
    select w.account_id, w.address, w.email_id from (
      select *, row_number() over (partition by account_id order by email_id) as place from wanted
    ) w
    where w.place + (select count(*) from (
      select from absence_answers a where a.account_id = w.account_id and a.chosen_at > now() - interval '1 day'
      limit ${MAX_ANSWERS_PER_DAY}
    ) answered) <= ${MAX_ANSWERS_PER_DAY}
    order by w.account_id, w.person
    on conflict (account_id, person) do update
    set address = excluded.address, email_id = excluded.email_id, answer_id = excluded.answer_id, chosen_at = now(), next_try_at = now()
    where x.chosen_at <= now() - ${ONCE_IN}
    returning 1
  )
  select (select count(*) from due)::int as decided, (select count(*) from gone) as gone, (select count(*) from chosen) as chosen`,
).narrow<{ decided: number }>();

const CLAIM = statement(
  'claim-absence-answers',
  `with due as materialized (
    select answer_id from absence_answers where next_try_at <= now() order by next_try_at limit ${CLAIMED_TOGETHER}
    for update skip locked
  )
  update absence_answers x set next_try_at = now() + interval '5 minutes' from due where x.answer_id = due.answer_id
  returning x.account_id, x.address, x.email_id, x.answer_id, x.chosen_at < now() - ${ANSWERED_WITHIN} or exists (
    select from unnest($accounts::text[], $untils::timestamptz[]) a (account_id, until_at)
    where a.account_id = x.account_id and a.until_at <= now()
  ) as is_too_late`,
).narrow<{ is_too_late: boolean }>();

const SETTLE = statement(
  'settle-absence-answer',
  'update absence_answers set next_try_at = null where answer_id = $answerId',
);

const PUT_OFF = statement(
  'put-off-absence-answer',
  `update absence_answers set next_try_at = now() + interval '1 minute' where answer_id = $answerId`,
);

/** In a restored database: what waited was answered since, or is too old. */
export async function dropAbsences(executor: Executor): Promise<void> {
  await run(executor, DROP);
}

const DROP = statement(
  'drop-absences',
  `with gone as (delete from absence_requests returning 1)
  update absence_answers set next_try_at = null where next_try_at is not null`,
);
