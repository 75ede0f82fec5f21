/** `ReadFigures` on PostgreSQL: one statement, which reads the indexes of waiting work and counts up to a bound. */
import type { Pool } from 'pg';
import { MAX_COUNTED, type AccountFigures, type ReadFigures } from './figures.ts';
import { jsonObject, type JsonOf } from '../../platform/db/json.ts';
import { run, statement } from '../../platform/db/statement.ts';

/** @param accountIds those of this process now: no metric covers others */
export function createReadFigures(pool: Pool, accountIds: () => Iterable<string>): ReadFigures {
  return async () => {
    const [row] = await run(pool, FIGURES, { accounts: [...accountIds()], atMost: MAX_COUNTED });
    if (row === undefined) throw new Error('the question for figures has no answer');
    return {
      accounts: row.accounts.map(toAccount),
      eventsWaiting: row.events_waiting,
      isRetentionHeld: row.is_retention_held,
      webhooks: {
        active: row.webhooks_active,
        failed: row.webhooks_failed,
        lagEvents: Number(row.webhook_lag),
      },
    };
  };
}

const toAccount = (json: JsonOf<typeof ACCOUNT>): AccountFigures => ({
  accountId: json.account_id,
  queued: json.queued,
  oldestDueSeconds: json.oldest_due,
  unknownSends: json.unknown,
  mailboxLagSeconds: json.mailbox_lag,
  mailboxWaiting: json.mailbox_waiting,
  quarantined: json.quarantined,
});

/** The figures of the accounts `a`. */
const ACCOUNT = jsonObject('account-figures-json', {
  from: `unnest($accounts::text[]) with ordinality a (id, place) cross join lateral (
        select extract(epoch from clock_timestamp() - min(m.last_success_at))::float8 as lag,
          coalesce(sum(m.waiting), 0) as waiting, coalesce(sum(m.quarantined), 0) as quarantined
        from mailboxes m where m.account_id = a.id and m.left_at is null
      ) b`,
  columns: {
    account_id: 'a.id',
    queued: `(
          select count(*) from (
            select from send_queue q where q.account_id = a.id and q.owner is null limit $atMost::int
          ) counted
        )`,
    oldest_due: `coalesce(greatest(0, extract(epoch from clock_timestamp() - (
          select min(first.due_at) from generate_series(0, 2) p cross join lateral (
            select q.due_at from send_queue q
            where q.account_id = a.id and q.priority = p and q.owner is null order by q.due_at limit 1
          ) first
        ))), 0)::float8`,
    unknown: `(
          select count(*) from (
            select from emails e where e.account_id = a.id and e.state = 'unknown' limit $atMost::int
          ) counted
        )`,
    mailbox_lag: 'b.lag',
    mailbox_waiting: 'b.waiting',
    quarantined: 'b.quarantined',
  },
}).narrow<{
  account_id: string;
  queued: number;
  oldest_due: number;
  unknown: number;
  mailbox_waiting: number;
  quarantined: number;
}>();

const FIGURES = statement(
  'metrics-figures',
  `select
    ${ACCOUNT.array('', 'a.place')} as accounts,
    (select count(*) from (select from event_inbox limit $atMost::int) counted)::int as events_waiting,
    exists (select from retention_progress where held_since is not null) as is_retention_held,
    w.active as webhooks_active,
    w.failed as webhooks_failed,
    greatest(0, coalesce((select position from event_clock) - w.furthest_behind, 0)) as webhook_lag
  from (
    select count(*) filter (where w.paused_at is null)::int as active,
      count(*) filter (where w.pause_reason is not null and w.pause_reason <> 'by_hand')::int as failed,
      min(p.position) filter (where w.paused_at is null) as furthest_behind
    from webhooks w left join webhook_positions p on p.webhook_id = w.id
  ) w`,
).narrow<{
  accounts: readonly JsonOf<typeof ACCOUNT>[];
  events_waiting: number;
  is_retention_held: boolean;
  webhooks_active: number;
  webhooks_failed: number;
  webhook_lag: string;
}>();
