/**
 * The server's clock, as it was last seen: what expires is decided by it, so a clock that is wrong must delete nothing. Every process looks
 * about once a minute. A step forward by more than a day puts the clock in doubt: it was set wrongly, or no process ran for that long, or
 * the database is a restored one. Nothing expires until an operator confirms the clock, it goes back, or it has gone on evenly for a day.
 */

/** A clock that was not looked at for longer than this, by itself, is in doubt. */
const MAX_STEP = `interval '1 day'`;
/** Time during which processes looked must add up to this before a new time is trusted. */
const PROBATION = `interval '1 day'`;
/** Two looks that lie further apart do not count as service in between. */
const MAX_PAUSE = `interval '5 minutes'`;
/** Looks are written down at this distance. */
const LOOK_INTERVAL = `interval '1 minute'`;

/** As `Date.toISOString`. */
const iso = (at: string) => `to_char(${at} at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"')`;

export const CLOCK = [
  `create table database_clock (
    -- The last look, by this clock
    seen_at timestamptz not null default clock_timestamp(),
    -- While the clock is in doubt: what it should show, the first look after the step, and the time since then in which processes looked
    expected_at timestamptz,
    jumped_at timestamptz,
    lasted interval not null default '0',
    check ((expected_at is null) = (jumped_at is null))
  )`,
  `create unique index database_clock_one on database_clock ((true))`,
  `insert into database_clock default values`,

  // False: nothing may expire. Also before a process has looked at a clock that has jumped
  `create function clock_is_certain() returns boolean language sql stable
  return (select jumped_at is null and now() <= seen_at + ${MAX_STEP} from database_clock)`,

  `create function tell_clock(type text, clock database_clock) returns void language sql
  begin atomic
    insert into event_inbox (bodies)
    select array[row(type, clock_timestamp(), null, null, null, null, null, false, json_build_object(
      'expected_at', ${iso('clock.expected_at')}, 'jumped_at', ${iso('clock.jumped_at')},
      'ahead_seconds', round(extract(epoch from clock.jumped_at - clock.expected_at))
    ), event_author(null), null)::event_body];
  end`,

  // Of a process, whose clock differs from this one
  `create function note_clock_skew(type text, data text) returns void language sql
  begin atomic
    insert into event_inbox (bodies)
    select array[row(type, clock_timestamp(), null, null, null, null, null, false, data, null, null)::event_body];
  end`,

  `create function trust_clock(clock database_clock) returns database_clock language plpgsql as $$
  begin
    perform tell_clock('clock.trusted', clock);
    update database_clock set seen_at = clock_timestamp(), expected_at = null, jumped_at = null, lasted = '0'
    returning * into clock;
    return clock;
  end $$`,

  `create function look_at_clock() returns database_clock language plpgsql as $$
  declare
    clock database_clock;
    step interval;
  begin
    select * into strict clock from database_clock;
    step = clock_timestamp() - clock.seen_at;
    if step >= '0' and step < ${LOOK_INTERVAL} then
      return clock;
    end if;
    select * into strict clock from database_clock for update;
    step = clock_timestamp() - clock.seen_at;
    if step >= '0' and step < ${LOOK_INTERVAL} then
      return clock;
    end if;
    if clock.jumped_at is null then
      if step > ${MAX_STEP} then
        clock.expected_at = clock.seen_at;
        clock.jumped_at = clock.seen_at + step;
        perform tell_clock('clock.jumped', clock);
      end if;
    else
      if step between '0' and ${MAX_PAUSE} then
        clock.expected_at = clock.expected_at + step;
        clock.lasted = clock.lasted + step;
      elsif step > ${MAX_STEP} or step < '0' then
        clock.jumped_at = clock.seen_at + step;
        clock.lasted = '0';
      end if;
      -- It went back, or the new time has proved itself.
      if clock.seen_at + step <= clock.expected_at + ${MAX_STEP} or clock.lasted >= ${PROBATION} then
        return trust_clock(clock);
      end if;
    end if;
    update database_clock set seen_at = clock.seen_at + step, expected_at = clock.expected_at, jumped_at = clock.jumped_at,
      lasted = clock.lasted;
    clock.seen_at = clock.seen_at + step;
    return clock;
  end $$`,
];
