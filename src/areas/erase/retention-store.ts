/** `RetentionStore` on PostgreSQL; the schema counts what an hour may delete: db/migrations/0001_schema/retention.ts. */
import type { Pool } from 'pg';
import { inLinkingTransaction } from '../../platform/db/linking-transaction.ts';
import { nameAuthor } from '../../platform/db/name-author.ts';
import { run, statement } from '../../platform/db/statement.ts';
import { inTransaction } from '../../platform/db/transaction.ts';
import { deleteEmails, NotDeletable } from './delete-email-rows.ts';
import { isFinished, readThreadToDelete, UNFINISHED, unlessKept } from './deletion-store.ts';
import { toStorableJson } from '../../core/storable-text.ts';

/** How long an account keeps threads in which nothing happens. */
export interface RetentionRule {
  readonly accountId: string;
  readonly days: number;
}

/** Of one rule. */
export interface DueThreads extends RetentionRule {
  readonly threads: number;
  readonly emails: number;
}

/** The hour under way, over all accounts and processes. */
export interface RetentionHour {
  readonly began: Date;
  /** Emails that may be deleted in it, and those that were. */
  readonly bound: number;
  readonly deleted: number;
  /** Emails that an operator let go beyond the bound, until `confirmedUntil`; 0: none. */
  readonly confirmed: number;
  readonly confirmedUntil: Date | null;
  /** Since then more is due than may be deleted; null: no more is. */
  readonly heldSince: Date | null;
}

export interface Retention extends RetentionHour {
  readonly due: readonly DueThreads[];
}

/** All throw `ServiceError('database_unavailable')`. Days are counted back from the database's `now()`. */
export interface RetentionStore {
  /** Threads in which nothing was sent or received for that long, the longest quiet first; without threads that must be kept. */
  findQuiet(rule: RetentionRule, limit: number): Promise<readonly string[]>;
  countQuiet(rule: RetentionRule): Promise<DueThreads>;
  /**
   * Deletes some emails of the thread, and with the last one the thread. The first step of a thread counts all its emails against the hour.
   *
   * @returns how many were deleted, at most `limit`. `held`: the hour has no room for the thread, or the clock is in doubt. `kept`: it is no
   * longer quiet, or something in it must be kept.
   */
  deleteSomeQuiet(
    id: string,
    options: { readonly days: number; readonly limit: number; readonly isFirst: boolean },
  ): Promise<number | 'held' | 'kept' | 'absent'>;
  readHour(): Promise<RetentionHour>;
  /** More is due than may be deleted: writes the event of a new hold. */
  hold(due: readonly DueThreads[]): Promise<void>;
  /** Nothing more is due. */
  release(): Promise<void>;
  /** Within a day that many emails may be deleted beyond the bound. */
  confirm(emails: number, keyId: string | null): Promise<void>;
}

/** The transaction is rolled back: the thread may not be deleted now. */
class Held extends Error {}

export function createRetentionStore(pool: Pool): RetentionStore {
  return {
    async findQuiet({ accountId, days }, limit) {
      const rows = await run(pool, FIND_QUIET, { accountId, days, limit, unfinished: UNFINISHED });
      return rows.map(({ id }) => id);
    },

    async countQuiet({ accountId, days }) {
      const [row] = await run(pool, COUNT_QUIET, { accountId, days, unfinished: UNFINISHED });
      return { accountId, days, threads: Number(row?.threads ?? 0), emails: Number(row?.emails ?? 0) };
    },

    async deleteSomeQuiet(id, { days, limit, isFirst }) {
      const thread = await readThreadToDelete(pool, id, limit);
      if (typeof thread === 'string') return thread;
      const deleted = inLinkingTransaction(pool, async (trx) => {
        // First of all locks: one process at a time deletes by rules.
        const [taken] = await run(trx, TAKE, { id: thread.id, isFirst });
        if (taken?.may_delete !== true) throw new Held();
        const { emails } = await deleteEmails(trx, thread.ids, isFinished);
        // Another process deleted them meanwhile: rolled back, so that they count once.
        if (emails === 0) throw new NotDeletable();
        // The thread is locked now: no more email comes into it.
        if ((await run(trx, FIND_LATER, { id: thread.id, days })).length > 0) throw new NotDeletable();
        return emails;
      });
      return await unlessKept(deleted).catch((error: unknown) => {
        if (error instanceof Held) return 'held' as const;
        throw error;
      });
    },

    async readHour() {
      const [row] = await run(pool, READ_HOUR);
      if (row === undefined) throw new Error('the progress of retention has no row');
      return {
        began: row.hour_began,
        bound: Number(row.bound),
        deleted: Number(row.deleted),
        confirmed: Number(row.confirmed),
        confirmedUntil: row.confirmed_until,
        heldSince: row.held_since,
      };
    },

    async hold(due) {
      await run(pool, HOLD, {
        due: toStorableJson({
          threads: due.reduce((sum, { threads }) => sum + threads, 0),
          emails: due.reduce((sum, { emails }) => sum + emails, 0),
          accounts: due.map(({ accountId, days, threads, emails }) => ({
            account_id: accountId,
            retention_days: days,
            threads,
            emails,
          })),
        }),
      });
    },

    async release() {
      await run(pool, RELEASE);
    },

    confirm: (emails, keyId) =>
      inTransaction(pool, async (client) => {
        await nameAuthor(client, keyId);
        await run(client, CONFIRM, { emails });
      }),
  };
}

const SINCE = 'now() - make_interval(days => $days)';

/** Emails by the same time as in thread_summaries. */
const LATER = `exists (select from emails o where o.thread_id = t.id and email_activity_at(o.date, o.created_at) >= ${SINCE})`;

const FIND_LATER = statement(
  'find-later-emails',
  `select t.id from email_threads t where t.id = $id and ${LATER}`,
);

/** Threads that the list shows, and threads of which nothing was ever sent. */
const QUIET = `
  select t.id, q.at
  from (
    select thread_id, last_activity_at as at from thread_summaries
    where account_id = $accountId and last_activity_at < ${SINCE}
    union all
    select e.thread_id, max(e.date) from emails e
    where e.account_id = $accountId and e.state in ('failed', 'cancelled') and e.date < ${SINCE}
      and not exists (select from thread_summaries s where s.thread_id = e.thread_id)
    group by e.thread_id
  ) q
  join email_threads t on t.id = q.thread_id
  where not ${LATER}
    and not exists (select from emails e where e.thread_id = t.id and e.state = any ($unfinished::text[]))`;

const FIND_QUIET = statement(
  'find-quiet-threads',
  `${QUIET} and clock_is_certain() order by q.at limit $limit::int`,
);

const COUNT_QUIET = statement(
  'count-quiet-threads',
  `with quiet as materialized (${QUIET})
  select (select count(*) from quiet) as threads,
    (select count(*) from emails e where e.thread_id in (select id from quiet)) as emails`,
);

const TAKE = statement(
  'take-retention',
  `select take_retention(case when $isFirst::boolean then (select count(*) from emails where thread_id = $id) else 0 end)
    as may_delete`,
);

const READ_HOUR = statement(
  'read-retention-hour',
  `select hour_began, case when is_over then retention_bound() else bound end as bound,
    case when is_over then 0 else deleted end as deleted, case when is_confirmed then confirmed else 0 end as confirmed,
    case when is_confirmed then confirmed_until end as confirmed_until, held_since
  from (
    select *, bound = 0 or now() not between hour_began and hour_began + interval '1 hour' as is_over,
      confirmed > 0 and now() < confirmed_until as is_confirmed
    from retention_progress
  ) p`,
).narrow<{ bound: string; deleted: string; confirmed: string }>();

const HOLD = statement('hold-retention', 'select hold_retention($due::json)');

const RELEASE = statement('release-retention', 'select release_retention()');

const CONFIRM = statement('confirm-retention', 'select confirm_retention($emails::bigint)');
