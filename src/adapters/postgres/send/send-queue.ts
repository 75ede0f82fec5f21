/** `SendQueue` on PostgreSQL. All times of leases are the database's, so that the clocks of processes do not matter. */
import type { Kysely } from 'kysely';
import type { Pool } from 'pg';
import type { ClaimRef } from '../../../app/send/claim.ts';
import type { ClaimedSends, SendQueue } from '../../../app/send/queue-ports.ts';
import { createBatches } from '../db/batches.ts';
import { claimSends, firstDue } from './claim-sends.ts';
import type { Database } from '../db/database.ts';
import { createNamedQuery } from '../db/named-query.ts';
import { guard } from '../db/pool.ts';
import { isLimited, lockRoom, useRoom } from './rate-windows.ts';
import { FREE, lockQueueRow, settleAttempt } from './settle-attempt.ts';
import { inTransaction } from '../db/transaction.ts';

export function createSendQueue(pool: Pool, db: Kysely<Database>): SendQueue {
  const query = createNamedQuery(pool);

  const begin = createBatches<Beginning, boolean>(
    BEGIN_LIMITS,
    () => 0,
    async (beginnings) => {
      const [first] = beginnings;
      if (first === undefined) return [];
      // One process has one owner and one length of leases.
      const { owner, leaseMs } = first;
      const refs = beginnings.map(({ ref }) => ref);
      const rows = await query<ClaimIdRow>('begin-claims', BEGIN, [owner, ...columnsOf(refs), leaseMs]);
      const begun = new Set(rows.map((row) => row.claim_id));
      return refs.map(({ claimId }) => begun.has(claimId));
    },
  );

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

    async renew(owner, refs, leaseMs) {
      await query('renew-leases', RENEW, [owner, ...columnsOf(refs), leaseMs]);
    },

    begin: (owner, ref, leaseMs) => begin({ owner, ref, leaseMs }),

    settle: (owner, attempt, decide) => settleAttempt(pool, db, owner, attempt, decide),

    release: (owner, { emailId, claimId, attempt }, { evenBegun }) =>
      inTransaction(pool, async (client) => {
        // A statement sees other tables as they were when it began. One that had to wait here for `expire` would free the row and
        // leave the recipients unknown, so that the next claim would find none.
        await lockQueueRow(client, emailId);
        const { rowCount } = await client.query(RELEASE, [emailId, owner, claimId, attempt, evenBegun]);
        return rowCount === 1;
      }),

    async claimsOf(owner) {
      const rows = await query<ClaimRow>(
        'claims-of',
        'select email_id, claim_id, attempts as attempt from send_queue where owner = $1',
        [owner],
      );
      return rows.map(toClaimRef);
    },

    async expire(owner) {
      const rows = await query<LostRow>('expire-claims', EXPIRE, [owner, LOST_DETAIL]);
      return rows.map((row) => ({ emailId: row.email_id, attempt: row.attempt }));
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

interface ClaimIdRow {
  claim_id: string;
}

interface LostRow {
  email_id: string;
  attempt: number;
}

interface ClaimRow extends ClaimIdRow, LostRow {}

function toClaimRef(row: ClaimRow): ClaimRef {
  return { emailId: row.email_id, claimId: row.claim_id, attempt: row.attempt };
}

/** Two arrays of equal length for `unnest`. */
function columnsOf(refs: readonly ClaimRef[]): readonly [string[], string[]] {
  return [refs.map(({ emailId }) => emailId), refs.map(({ claimId }) => claimId)];
}

interface Beginning {
  readonly owner: string;
  readonly ref: ClaimRef;
  readonly leaseMs: number;
}

/** Hand-overs that begin while a statement is under way share the next one. */
const BEGIN_LIMITS = { items: 64, bytes: Infinity, failTogether: true } as const;

const LOST_DETAIL =
  'the process that was sending fell silent; it settles this automatically when it comes back, otherwise an operator decides';

const DUE_ACCOUNTS = `
  select distinct a.account_id from unnest($1::text[]) a (account_id) cross join generate_series(0, 2) p
  where ${firstDue('q.account_id = a.account_id and q.priority = p and q.owner is null')} <= now()`;

/** $1 owner, $2 emails, $3 their claims. Only what still has a lease: a claim that was taken for lost does not come back. */
const STANDING = `
  from unnest($2::uuid[], $3::uuid[]) c (email_id, claim_id)
  where q.email_id = c.email_id and q.claim_id = c.claim_id and q.owner = $1 and q.lease_until is not null
  returning q.claim_id`;

/** $4 lease in ms. */
const RENEW = `
  update send_queue q set lease_until = now() + $4 * interval '1 millisecond' ${STANDING}`;

/** $4 lease in ms. */
const BEGIN = `
  update send_queue q
  set begun_at = coalesce(q.begun_at, now()), lease_until = now() + $4 * interval '1 millisecond' ${STANDING}`;

/**
 * $1 email, $2 owner, $3 claim, $4 its attempt, $5 even when it was begun. Also from `unknown`: the owner knows that it
 * handed nothing over.
 */
const RELEASE = `
  with free as (
    update send_queue set ${FREE}, attempts = attempts - 1
    where email_id = $1 and owner = $2 and claim_id = $3 and (begun_at is null or $5)
    returning email_id
  ), assumed as (
    delete from delivery_attempts a using free
    where a.email_id = free.email_id and a.attempt = $4 and a.outcome = 'unknown'
  ), deliveries as (
    update email_deliveries d set state = 'pending' from free
    where d.email_id = free.email_id and d.state = 'unknown'
  ), emails as (
    update emails e set state_detail = null, state = case
        when exists (select 1 from delivery_attempts a where a.email_id = e.id and a.attempt < $4) then 'deferred'
        else 'queued'
      end
    from free where e.id = free.email_id and e.state in ('sending', 'unknown')
  )
  select email_id as id from free`;

/** The rows keep their owner, which alone has evidence. */
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

/** As in `conclude`: an email that any recipient has is `sent`. */
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
