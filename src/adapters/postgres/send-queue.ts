/** `SendQueue` on PostgreSQL. All times of leases are the database's, so that the clocks of processes do not matter. */
import type { Kysely } from 'kysely';
import type { Pool } from 'pg';
import type { ClaimedSends, ClaimRef, SendQueue } from '../../app/queue-ports.ts';
import { claimSends, firstDue } from './claim-sends.ts';
import type { Database } from './database.ts';
import { createNamedQuery } from './named-query.ts';
import { guard } from './pool.ts';
import { isLimited, lockRoom, useRoom } from './rate-windows.ts';
import { settleAttempt } from './settle-attempt.ts';
import { inTransaction } from './transaction.ts';

export function createSendQueue(pool: Pool, db: Kysely<Database>): SendQueue {
  const query = createNamedQuery(pool);

  return {
    async dueAccounts(accountIds) {
      const rows = await query<{ account_id: string }>('due-accounts', DUE_ACCOUNTS, [accountIds]);
      return rows.map((row) => row.account_id);
    },

    claim(request) {
      if (!isLimited(request.rate)) return guard(claimSends(pool, request, request.limit));
      return inTransaction(pool, async (client) => {
        const { accountId, rate, limit, afterLane } = request;
        const room = await lockRoom(client, accountId, rate);
        const most = Math.min(limit, room.messages);
        const claimed: ClaimedSends =
          most === 0 ? { claims: [], lastLane: afterLane } : await claimSends(client, request, most);
        await useRoom(client, accountId, rate, claimed.claims.length);
        return claimed;
      });
    },

    async renew(owner, emailIds, leaseMs) {
      const rows = await query<{ email_id: string }>('renew-leases', RENEW, [owner, emailIds, leaseMs]);
      return new Set(rows.map((row) => row.email_id));
    },

    settle: (owner, attempt, decide) => settleAttempt(pool, db, owner, attempt, decide),

    async release(owner, { emailId, attempt }) {
      await query('release-claim', RELEASE, [emailId, owner, attempt]);
    },

    async claimsOf(owner) {
      const rows = await query<ClaimRow>(
        'claims-of',
        'select email_id, attempts as attempt from send_queue where owner = $1',
        [owner],
      );
      return rows.map(toClaimRef);
    },

    async expire(owner) {
      return (await query<ClaimRow>('expire-claims', EXPIRE, [owner, LOST_DETAIL])).map(toClaimRef);
    },

    async giveUpOrphans(accountIds) {
      return (await query<{ id: string }>('give-up-orphans', GIVE_UP_ORPHANS, [accountIds])).length;
    },

    takeRoom: (accountId, rate) =>
      inTransaction(pool, async (client) => {
        const room = await lockRoom(client, accountId, rate);
        if (room.messages === 0) return room.waitMs;
        await useRoom(client, accountId, rate, 1);
        return 0;
      }),
  };
}

interface ClaimRow {
  email_id: string;
  attempt: number;
}

function toClaimRef(row: ClaimRow): ClaimRef {
  return { emailId: row.email_id, attempt: row.attempt };
}

const LOST_DETAIL =
  'the process that was sending fell silent; it settles this by itself when it comes back, else an operator decides';

const DUE_ACCOUNTS = `
  select distinct a.account_id from unnest($1::text[]) a (account_id) cross join generate_series(0, 2) p
  where ${firstDue('q.account_id = a.account_id and q.priority = p and q.owner is null')} <= now()`;

/** Only what still has a lease: a claim that was taken for lost does not come back by being renewed. */
const RENEW = `
  update send_queue set lease_until = now() + $3 * interval '1 millisecond'
  where email_id = any ($2::uuid[]) and owner = $1 and lease_until is not null
  returning email_id`;

/** Also from `unknown`: the owner knows that it handed nothing over. */
const RELEASE = `
  with free as (
    update send_queue set owner = null, lease_until = null, claimed_at = null
    where email_id = $1 and owner = $2 and attempts = $3
    returning email_id
  ), assumed as (
    delete from delivery_attempts a using free
    where a.email_id = free.email_id and a.attempt = $3 and a.outcome = 'unknown'
  ), deliveries as (
    update email_deliveries d set state = 'pending' from free
    where d.email_id = free.email_id and d.state = 'unknown'
  )
  update emails e set state_detail = null, state = case
      when exists (select 1 from delivery_attempts a where a.email_id = e.id and a.attempt < $3) then 'deferred'
      else 'queued'
    end
  from free where e.id = free.email_id and e.state in ('sending', 'unknown')`;

/** The rows keep their owner, who alone has evidence. */
const EXPIRE = `
  with silent as materialized (
    select email_id, attempts, claimed_at from send_queue
    where lease_until < now() and owner <> $1
    for update skip locked
  ), lost as (
    update send_queue q set lease_until = null from silent s where q.email_id = s.email_id
  ), attempts as (
    insert into delivery_attempts (email_id, attempt, started_at, outcome, detail)
    select email_id, attempts, claimed_at, 'unknown', $2 from silent
    on conflict (email_id, attempt) do nothing
  ), deliveries as (
    update email_deliveries d set state = 'unknown' from silent s
    where d.email_id = s.email_id and d.state in ('pending', 'deferred')
  ), emails as (
    update emails e set state = 'unknown', state_detail = $2 from silent s
    where e.id = s.email_id and e.state = 'sending'
  )
  select email_id, attempts as attempt from silent`;

/** As `conclude` does it: an email that somebody has is `sent`. */
const GIVE_UP_ORPHANS = `
  with orphans as materialized (
    select email_id from send_queue
    where owner is null and give_up_at < now() and account_id <> all ($1::text[])
    for update skip locked
  ), removed as (
    delete from send_queue q using orphans o where q.email_id = o.email_id
  )
  update emails e set state_detail = 'given up: no process sends for this account any more', state = case
      when exists (select 1 from email_deliveries d where d.email_id = e.id and d.state = 'accepted') then 'sent'
      else 'failed'
    end
  from orphans o where e.id = o.email_id
  returning e.id`;
