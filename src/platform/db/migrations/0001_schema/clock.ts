/**
 * The server's clock, as it was last seen: what expires is decided by it, so a clock that is wrong must delete nothing. Every process looks
 * about once a minute. A step forward by more than a day puts the clock in doubt: it was set wrongly, or no process ran for that long, or
 * the database is a restored one. So does a smaller step during which a process ran whose steady clock measured less, unless the even clock
 * of its machine confirms the new time. Nothing expires until an operator confirms the clock, it goes back, or it has gone on evenly for as
 * long as the step, at most a day.
 */

/** A clock that was not looked at for longer than this, by itself, is in doubt. */
const MAX_STEP = `interval '1 day'`;
/** A process that ran meanwhile puts a clock in doubt that went ahead of its own by more than this. */
const MAX_WITNESSED_STEP = `interval '5 minutes'`;
/** The even clock of a machine confirms the server's when both differ by no more than this. */
const MAX_DIFFERENCE = `interval '1 minute'`;
/** Time during which processes looked must add up to this before a new time is trusted, or to the step if that is shorter. */
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

  // Of a process. steady: what this clock should show by its last look and its steady clock; null at its first look. machine: the time of
  // its machine's clock, which has gone evenly since then; null: it has not
  `create function look_at_clock(steady timestamptz default null, machine timestamptz default null)
  returns database_clock language plpgsql as $$
  declare
    clock database_clock;
    step interval;
    size interval;
    is_witnessed boolean = coalesce(clock_timestamp() - steady > ${MAX_WITNESSED_STEP}, false)
      and coalesce(abs(extract(epoch from clock_timestamp() - machine)) > extract(epoch from ${MAX_DIFFERENCE}), true);
  begin
    select * into strict clock from database_clock;
    step = clock_timestamp() - clock.seen_at;
    if step >= '0' and step < ${LOOK_INTERVAL} and not (is_witnessed and clock.jumped_at is null) then
      return clock;
    end if;
    select * into strict clock from database_clock for update;
    step = clock_timestamp() - clock.seen_at;
    if step >= '0' and step < ${LOOK_INTERVAL} and not (is_witnessed and clock.jumped_at is null) then
      return clock;
    end if;
    size = clock.jumped_at - clock.expected_at + clock.lasted;
    if clock.jumped_at is null then
      if is_witnessed or step > ${MAX_STEP} then
        clock.expected_at = case when is_witnessed then steady else clock.seen_at end;
        clock.jumped_at = clock.seen_at + step;
        perform tell_clock('clock.jumped', clock);
      end if;
    else
      if step between '0' and ${MAX_PAUSE} then
        clock.expected_at = clock.expected_at + step;
        clock.lasted = clock.lasted + step;
      elsif is_witnessed or step > ${MAX_STEP} or step < '0' then
        clock.jumped_at = clock.seen_at + step;
        clock.lasted = '0';
      end if;
      -- It went back, or the new time has proved itself.
      if clock.seen_at + step <= clock.expected_at + (case when size > ${MAX_STEP} then ${MAX_STEP} else ${MAX_WITNESSED_STEP} end)
        or clock.lasted >= least(size, ${PROBATION}) then
        return trust_clock(clock);
      end if;
    end if;
    update database_clock set seen_at = clock.seen_at + step, expected_at = clock.expected_at, jumped_at = clock.jumped_at,
      lasted = clock.lasted;
    clock.seen_at = clock.seen_at + step;
    return clock;
  end $$`,
];
