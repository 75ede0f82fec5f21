/**
 * How many emails came, went and failed in each hour, for statistics. `number_events` (events.ts) counts what it numbers, in the same
 * statement: it is one writer at a time, so no counter is fought for, and an event is counted exactly once. No row names a person.
 */
const KINDS = ['received', 'sent', 'failed', 'unknown', 'bounced', 'complained'] as const;

/** Of an event: how it counts, or null. A send whose outcome was unknown counts again as what it turned out to be. */
export const KIND_OF_EVENT = `case
        when is_historical then null
        when type = 'email.settled' then 'email.' || (data::json ->> 'state')
        when type in (${KINDS.map((kind) => `'email.${kind}'`).join(', ')}) then type
      end`;

/** Counts the rows of `numbered`, which have `kind`, `occurred_at` and `account_id`. */
export const COUNT_NUMBERED = `
      insert into event_counts as c (hour, account_id, ${KINDS.join(', ')})
      select date_trunc('hour', occurred_at, 'UTC'), account_id,
        ${KINDS.map((kind) => `count(*) filter (where kind = 'email.${kind}')`).join(',\n        ')}
      from numbered where kind is not null and account_id is not null
      group by 1, 2
      on conflict (hour, account_id) do update
      set ${KINDS.map((kind) => `${kind} = c.${kind} + excluded.${kind}`).join(', ')}`;

/** Two years and a month: the same month of the year before last can be compared. */
export const FORGET_COUNTS = `delete from event_counts where hour < now() - interval '25 months'`;

export const EVENT_COUNTS = [
  // A column for each kind: a sixth of the rows that a row for each would take. Room for updates of the hour that is counted.
  `create table event_counts (
    hour timestamptz not null,
    account_id text not null,
    ${KINDS.map((kind) => `${kind} bigint not null default 0`).join(',\n    ')},
    primary key (hour, account_id)
  ) with (fillfactor = 70)`,
];
