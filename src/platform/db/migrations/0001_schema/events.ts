/**
 * Events: changes of emails, threads, customers' links, suppressed addresses and mailboxes, in the order of commits and without gaps; see
 * docs/decisions/0019-events.md. Triggers (event-triggers.ts) write an event into `event_inbox` in the transaction that causes it.
 * `number_events` moves the events into `events`, a partition for each day (UTC), under positions that only grow: its row lock on
 * `event_clock` lets one transaction number at a time, so an event can't appear behind one that was read before.
 *
 * A position is the day's number since 1970 times 2^36, plus a number within the day.
 */
import { COUNT_NUMBERED, COUNT_TIMED, FORGET_COUNTS, KIND_OF_EVENT } from './event-counts.ts';

/** Columns of an event, without its position. */
const COLUMNS = `
    type text not null,
    occurred_at timestamptz not null,
    account_id text,
    email_id uuid,
    thread_id uuid,
    customer_id uuid,
    company_id uuid,
    is_historical boolean not null,
    -- JSON, on one line
    data text not null,
    -- The key that did it, or whose email it is about: JSON, on one line
    author text`;
/** The names of these columns. */
export const EVENT_COLUMNS =
  'type, occurred_at, account_id, email_id, thread_id, customer_id, company_id, is_historical, data, author';

export const EVENTS = [
  `create type event_body as (
    type text, occurred_at timestamptz, account_id text, email_id uuid, thread_id uuid, customer_id uuid, company_id uuid,
    is_historical boolean, data text, author text,
    -- Of a sent or received email, for latency_counts alone
    took_ms int
  )`,
  // One row for all events of a statement: one row per event would cost three times as much.
  `create table event_inbox (
    ordinal bigint generated always as identity primary key,
    bodies event_body[] not null
  )`,
  // A row is gone before compressing it would have paid off, and the table is emptied all the time.
  `alter table event_inbox alter column bodies set storage external`,
  `alter table event_inbox set (autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 2000,
    autovacuum_analyze_scale_factor = 0, autovacuum_analyze_threshold = 2000000000)`,
  `create table events (
    position bigint primary key,${COLUMNS}
  ) partition by range (position)`,
  // One row. The inbox gets no more rows up to `taken_to`, so a numbering does not walk over the rows that were taken there; these stay for
  // as long as an old snapshot, such as that of a backup, might see them. `mark` will be the next such place: the last ordinal that was
  // given out at some numbering. A later numbering notes its own transaction as `mark_xid`: a transaction that got an ordinal up to the
  // mark wrote something before, so it is older. When all older transactions have ended, the mark holds.
  `create table event_clock (
    -- The last one given out, and the last one that is forgotten
    position bigint not null default 0,
    forgotten bigint not null default 0,
    taken_to bigint not null default 0,
    mark bigint not null default 0,
    mark_xid xid8,
    -- Positions that are not given out here: a database that this one was restored in place of may have given them to other events
    lost int8multirange not null default '{}'
  )`,
  `create unique index event_clock_one on event_clock ((true))`,
  `insert into event_clock default values`,

  `create function event_day(at timestamptz) returns bigint language sql immutable parallel safe
    return floor(extract(epoch from at) / 86400)::bigint`,

  // Waits for all readers of events, and keeps others waiting. A reader takes its snapshot after it was planned: if it was planned without
  // the new partition, the clock that it sees would count that partition's events, and the reader would miss them.
  `create function make_event_partition(day bigint) returns void language plpgsql as $$
  declare
    name text = 'events_' || to_char('1970-01-01'::date + day::int, 'YYYYMMDD');
  begin
    if to_regclass(name) is not null then
      return;
    end if;
    lock table events in access exclusive mode;
    execute format('create table %I partition of events for values from (%s) to (%s)', name, day << 36, (day + 1) << 36);
    execute format('alter table %I alter column data set statistics 0, alter column author set statistics 0', name);
    perform protect_table(name);
  end $$`,

  // Takes at most `at_most` rows of the inbox. Returns how many it took: `at_most` when there may be more.
  `create function number_events(at_most int) returns int language plpgsql as $$
  declare
    clock event_clock;
    oldest xid8;
    taken int;
    moved int;
  begin
    -- Without a lock where there is nothing to do
    if not exists (select from event_inbox where ordinal > (select taken_to from event_clock)) then
      return 0;
    end if;
    -- A statement of its own: the next one sees what the transaction that held the lock has committed.
    select * into strict clock from event_clock for update;
    if clock.position >> 36 < event_day(now()) then
      clock.position = event_day(now()) << 36;
    end if;
    -- Also of a day that has begun: whatever took the partition away, the feed goes on.
    perform make_event_partition(clock.position >> 36);
    -- Before it is looked for what those that have ended by now wrote
    oldest = pg_snapshot_xmin(pg_current_snapshot());
    with rows_taken as (
      delete from event_inbox
      where ctid = any (array(
        select ctid from event_inbox where ordinal > clock.taken_to order by ordinal limit at_most
      ))
      returning ordinal, bodies
    ), numbered as (
      insert into events (position, ${EVENT_COLUMNS})
      select clock.position + row_number() over (order by ordinal, place), ${EVENT_COLUMNS}
      from rows_taken, unnest(bodies) with ordinality as b (${EVENT_COLUMNS}, took_ms, place)
      returning occurred_at, account_id, ${KIND_OF_EVENT} as kind
    ), counted as (${COUNT_NUMBERED}
    ), timed as (
      select occurred_at, account_id, ${KIND_OF_EVENT} as kind, took_ms
      from rows_taken, unnest(bodies) as b (${EVENT_COLUMNS}, took_ms)
      where took_ms is not null and account_id is not null
    ), counted_times as (${COUNT_TIMED}
    )
    select (select count(*) from rows_taken), (select count(*) from numbered) into taken, moved;
    if taken < at_most and clock.mark_xid is null then
      clock.mark_xid = pg_current_xact_id();
    elsif taken < at_most and clock.mark_xid <= oldest then
      clock.taken_to = clock.mark;
      select last_value into clock.mark from event_inbox_ordinal_seq;
      clock.mark_xid = null;
    end if;
    update event_clock set position = clock.position + moved, taken_to = clock.taken_to, mark = clock.mark,
      mark_xid = clock.mark_xid;
    return taken;
  end $$`,

  // Drops the partitions of whole days before `first_day`, whose names end with their day; returns how many. It shuts all readers out.
  // Today's partition and those of days to come stay, whatever is asked for; while the clock is in doubt all do.
  `create function drop_days(partitioned regclass, kept_days int) returns int language plpgsql as $$
  declare
    first_day bigint = event_day(now()) - greatest(kept_days, 0);
    partition regclass;
    dropped int = 0;
  begin
    if kept_days is null or not clock_is_certain() then
      return 0;
    end if;
    for partition in
      select c.oid::regclass from pg_inherits i join pg_class c on c.oid = i.inhrelid
      where i.inhparent = partitioned and to_date(right(c.relname, 8), 'YYYYMMDD') - '1970-01-01'::date < first_day
      order by c.relname
    loop
      execute format('drop table %s', partition);
      dropped = dropped + 1;
    end loop;
    return dropped;
  end $$`,

  // Makes the partition of tomorrow, and forgets old counts and whole days before `forgotten_day`; returns how many days. Null means try
  // again: another transaction reads events, as a backup may for hours, and all later readers would wait behind this one.
  // null forgets nothing.
  `create function keep_events(kept_days int) returns int language plpgsql as $$
  declare
    forgotten_day bigint = event_day(now()) - greatest(kept_days, 0);
    forgotten_days int;
  begin
    perform set_config('lock_timeout', '200ms', true);
    -- In the order in which \`number_events\` locks
    perform from event_clock for update;
    if kept_days is not null then
      ${FORGET_COUNTS};
    end if;
    perform make_event_partition((select greatest(position >> 36, event_day(now())) from event_clock));
    perform make_event_partition(event_day(now()) + 1);
    forgotten_days = drop_days('events', kept_days);
    update event_clock set forgotten = (forgotten_day << 36) - 1
    where forgotten_days > 0 and forgotten < (forgotten_day << 36) - 1;
    return forgotten_days;
  exception when lock_not_available then
    return null;
  end $$`,

  // Notifies the client of this connection that there is something to number; see event-signal.ts. A client that signals by itself after
  // its commit declares it in a setting: a notice wakes the client at once, in the middle of the transaction.
  `create function event_inbox_after_insert() returns trigger language plpgsql as $$
  begin
    if current_setting('email_worker.tells_events', true) is distinct from 'on' and exists (select from added) then
      raise notice 'email-worker: events';
    end if;
    return null;
  end $$`,
  `create trigger event_inbox_after_insert after insert on event_inbox referencing new table as added
    for each statement execute function event_inbox_after_insert()`,
];
