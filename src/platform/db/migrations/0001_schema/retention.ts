/**
 * What retention deletes, bounded: so much in an hour, over all processes and accounts, unless an operator confirms more. A wrong setting, a
 * wrong clock or an old backup then empties no archive before it is noticed.
 */

/** Of the emails, in an hour. With a rule of a single day 1/24 of them becomes due in an hour. */
const SHARE = '0.05';
/** Of few emails that many, in an hour. */
const LEAST = 10;
/** From here on the planner's estimate of the number of emails is close enough. */
const ESTIMATED_FROM = 100_000;

export const RETENTION = [
  `create table retention_progress (
    -- The hour under way: how many emails may be deleted in it, and how many were
    hour_began timestamptz not null default now(),
    bound bigint not null default 0,
    deleted bigint not null default 0,
    -- Emails that an operator let go beyond the bound, and until when
    confirmed bigint not null default 0,
    confirmed_until timestamptz not null default now(),
    -- Since then more is due than may be deleted; null: no more is.
    held_since timestamptz
  )`,
  `create unique index retention_progress_one on retention_progress ((true))`,
  `insert into retention_progress default values`,

  `create function retention_bound() returns bigint language sql stable
  return greatest(${LEAST}, ceil(${SHARE} * case
    when (select reltuples from pg_class where oid = 'emails'::regclass) >= ${ESTIMATED_FROM}
      then (select reltuples::numeric from pg_class where oid = 'emails'::regclass)
    else (select count(*) from emails)
  end))::bigint`,

  // Locks the row and begins a new hour when it is time; what a long thread took too much of the last one counts in it.
  `create function retention_hour() returns retention_progress language plpgsql as $$
  declare
    p retention_progress;
  begin
    select * into strict p from retention_progress for update;
    if p.bound = 0 or now() not between p.hour_began and p.hour_began + interval '1 hour' then
      p.deleted = greatest(0, p.deleted - case
        when now() < p.hour_began then 0
        else p.bound * floor(extract(epoch from now() - p.hour_began) / 3600)
      end);
      update retention_progress set hour_began = now(), deleted = p.deleted, bound = retention_bound() returning * into p;
    end if;
    return p;
  end $$`,

  // True: the transaction may delete a thread with so many emails. A thread that is longer than the bound may go when nothing else has.
  `create function take_retention(emails bigint) returns boolean language plpgsql as $$
  declare
    p retention_progress = retention_hour();
  begin
    if not clock_is_certain() then
      return false;
    end if;
    if emails <= p.confirmed and now() < p.confirmed_until then
      update retention_progress set confirmed = confirmed - emails;
      return true;
    end if;
    if p.deleted > 0 and p.deleted + emails > p.bound then
      return false;
    end if;
    update retention_progress set deleted = deleted + emails;
    return true;
  end $$`,

  // The event once for each hold
  `create function hold_retention(due json) returns void language plpgsql as $$
  declare
    p retention_progress = retention_hour();
  begin
    if p.held_since is null then
      update retention_progress set held_since = now();
      insert into event_inbox (bodies)
      select array[row('retention.held', clock_timestamp(), null, null, null, null, null, false,
        (jsonb_build_object('bound', p.bound, 'deleted', p.deleted) || due::jsonb)::text, event_author(null), null)::event_body];
    end if;
  end $$`,

  `create function release_retention() returns void language sql
  begin atomic
    update retention_progress set held_since = null where held_since is not null;
  end`,

  `create function confirm_retention(emails bigint) returns void language sql
  begin atomic
    update retention_progress set confirmed = emails, confirmed_until = now() + interval '1 day', held_since = null;
  end`,
];
