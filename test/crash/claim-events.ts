/**
 * The fate of the claims of the send queue, noted by the database itself: a trigger of the harness does it, so the service can't forget to.
 */
import type { Database } from './database.ts';

/**
 * `claimed`; `released`: given back without an attempt; `deferred`: given back after one; `expired`: taken for lost because its owner was
 * silent. A claim that ends with its email has no event.
 */
export type ClaimEvent = 'claimed' | 'released' | 'deferred' | 'expired';

export type ClaimCounts = Readonly<Partial<Record<ClaimEvent, number>>>;

/** Counts for one world; they grow with each round. */
export async function countClaimEvents(database: Database): Promise<ClaimCounts> {
  const rows = await database.query('select kind, count(*)::int as count from crash_claims group by kind');
  return Object.fromEntries(rows.map(({ kind, count }) => [kind, count])) as ClaimCounts;
}

/** The claims of one email in order, for the story of a finding. */
export async function readClaimEvents(database: Database, emailId: string): Promise<readonly string[]> {
  const rows = await database.query(
    `select (extract(epoch from at) * 1000)::bigint as at, kind, attempt, left(owner::text, 4) as owner
     from crash_claims where email_id = $1 order by id`,
    [emailId],
  );
  return rows.map(({ at, kind, attempt, owner }) => `${at} ${kind} ${attempt} by ${owner}`);
}

/** Call it once the table of emails exists. */
export async function installClaimEvents(database: Database): Promise<void> {
  await database.query(INSTALL);
}

const INSTALL = `
  create table crash_claims (
    id bigint generated always as identity, at timestamptz not null default clock_timestamp(), kind text not null,
    email_id uuid not null, attempt int not null, owner uuid
  );
  create function crash_note_claim() returns trigger language plpgsql as $body$
  declare
    what text;
  begin
    if old.owner is null and new.owner is not null then
      what := 'claimed';
    elsif new.owner is null and old.owner is not null then
      what := case when exists (
        select from delivery_attempts a where a.email_id = old.email_id and a.attempt = old.attempts
      ) then 'deferred' else 'released' end;
    elsif new.owner is not null and new.lease_until is null and old.lease_until is not null then
      what := 'expired';
    else
      return null;
    end if;
    insert into crash_claims (kind, email_id, attempt, owner)
      values (what, new.email_id, new.attempts, coalesce(new.owner, old.owner));
    return null;
  end
  $body$;
  create trigger crash_note_claim after update on send_queue for each row execute function crash_note_claim();
`;
