/** `SendQueue` on PostgreSQL. All times of leases are the database's, so that the clocks of processes do not matter. */
import type { Pool } from 'pg';
import type { CertainUntil } from '../../platform/base/clock-guard.ts';
import type { ClaimRef } from './claim.ts';
import type { ClaimedSends, SendQueue } from './queue-ports.ts';
import { createBatches } from '../../platform/db/batches.ts';
import { claimSends, firstDue, IS_DUE } from './claim-sends.ts';
import { fromNow, isCertain } from '../../platform/db/from-now.ts';
import { run, statement } from '../../platform/db/statement.ts';
import { isLimited, lockRoom, useRoom } from './rate-windows.ts';
import { FREE, lockQueueRow } from './queue-rows.ts';
import { giveUpOpen, lockedEmailsOf, loseAttempt, showSending, takeBackAttempt } from './send-states.ts';
import { createAttemptSettler } from './settle-attempt.ts';
import { inTransaction } from '../../platform/db/transaction.ts';

export function createSendQueue(pool: Pool, certainUntil: CertainUntil): SendQueue {
  const begin = createBatches<Beginning, boolean>(
    { name: 'begin-attempt', ...BEGIN_LIMITS },
    () => 0,
    async (beginnings) => {
      const [first] = beginnings;
      if (first === undefined) return [];
      // One process has one owner and one lease length.
      const { owner, leaseMs } = first;
      const refs = beginnings.map(({ ref }) => ref);
      const rows = await run(pool, BEGIN, { owner, ...columnsOf(refs), leaseMs });
      const begun = new Set(rows.map((row) => row.claim_id));
      return refs.map(({ claimId }) => begun.has(claimId));
    },
  );

  const settle = createAttemptSettler(pool, certainUntil);

  return {
    async dueAccounts(accountIds) {
      const rows = await run(pool, DUE_ACCOUNTS, { accountIds, certainUntil: certainUntil() });
      return rows.map((row) => row.account_id);
    },

    claim(request) {
      if (!isLimited(request.rate)) return claimSends(pool, request, request.limit, certainUntil());
      return inTransaction(pool, async (client) => {
        const { accountId, rate, limit, afterLane } = request;
        const room = await lockRoom(client, accountId, rate);
        const most = Math.min(limit, room.messages);
        const claimed: ClaimedSends =
          most === 0
            ? { claims: [], lastLane: afterLane, waitMs: room.waitMs }
            : await claimSends(client, request, most, certainUntil());
        await useRoom(client, accountId, rate, claimed.claims.length);
        return claimed;
      });
    },

    async renew(owner, refs, leaseMs) {
      await run(pool, RENEW, { owner, ...columnsOf(refs), leaseMs });
    },

    begin: (owner, ref, leaseMs) => begin({ owner, ref, leaseMs }),

    async showSending(owner, refs) {
      await run(pool, SHOW_SENDING, { owner, ...columnsOf(refs) });
    },

    settle: (owner, ended, decide) => settle({ owner, ended, decide }),

    release: (owner, { emailId, claimId, attempt }, { evenBegun }) =>
      inTransaction(pool, async (client) => {
        // A statement sees other tables as they were when it began. One that had to wait here for `expire` would free the row and leave the
        // recipients unknown, so that the next claim would find none.
        await lockQueueRow(client, emailId);
        const rows = await run(client, RELEASE, { emailId, owner, claimId, attempt, evenBegun });
        return rows.length === 1;
      }),

    async claimsOf(owner) {
      const rows = await run(pool, CLAIMS_OF, { owner });
      return rows.map((row) => ({ emailId: row.email_id, claimId: row.claim_id, attempt: row.attempt }));
    },

    async expire(owner) {
      const rows = await run(pool, EXPIRE, { owner, detail: LOST_DETAIL });
      return rows.map((row) => ({ emailId: row.email_id, attempt: row.attempt }));
    },

    async giveUpOrphans(accountIds) {
      const values = { accountIds, detail: GIVEN_UP_DETAIL, certainUntil: certainUntil() };
      return (await run(pool, GIVE_UP_ORPHANS, values)).length;
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

/** Two arrays of equal length for `unnest`. */
function columnsOf(refs: readonly ClaimRef[]) {
  return { emailIds: refs.map(({ emailId }) => emailId), claimIds: refs.map(({ claimId }) => claimId) };
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

const GIVEN_UP_DETAIL = 'given up: no process sends for this account any more';

const DUE_ACCOUNTS = statement(
  'due-accounts',
  `select distinct a.account_id from unnest($accountIds::text[]) a (account_id) cross join generate_series(0, 2) p
  where ${firstDue(`q.account_id = a.account_id and q.priority = p and q.owner is null and ${IS_DUE}`)} is not null`,
).narrow<{ account_id: string }>();

/**
 * Locks those of the claims that still have a lease: a claim that was taken for lost does not come back. First, and in one order, as the join
 * of an update takes its rows in the order of its plan: two statements over the same rows would wait for each other in a circle.
 */
const standing = (condition = ''): string => `
  standing as materialized (
    select q.email_id, q.claim_id from send_queue q
    where (q.email_id, q.claim_id) in (select * from unnest($emailIds::uuid[], $claimIds::uuid[]))
      and q.owner = $owner and q.lease_until is not null ${condition}
    order by q.email_id
    for update
  )`;

const RENEW = statement(
  'renew-leases',
  `with ${standing()}
  update send_queue q set lease_until = ${fromNow('$leaseMs')} from standing s where q.email_id = s.email_id`,
);

const BEGIN = statement(
  'begin-claims',
  `with ${standing()}
  update send_queue q set begun_at = coalesce(q.begun_at, now()), lease_until = ${fromNow('$leaseMs')}
  from standing s where q.email_id = s.email_id
  returning s.claim_id`,
).narrow<{ claim_id: string }>();

/** A send that got an outcome meanwhile, or was taken for lost, is left as it is. */
const SHOW_SENDING = statement(
  'show-sending',
  `with ${standing('and q.begun_at is not null')}, ${lockedEmailsOf('standing')}
  ${showSending('(select id as email_id from locked_emails)')}`,
);

/** Also from `unknown`: the owner reports that it handed nothing over. */
const RELEASE = statement(
  'release-claim',
  `with free as (
    update send_queue set ${FREE}, attempts = attempts - 1
    where email_id = $emailId and owner = $owner and claim_id = $claimId and (begun_at is null or $evenBegun::boolean)
    returning email_id
  ), ${takeBackAttempt('free', '$attempt::int')}
  select email_id from free`,
);

/** `claim_id` is set whenever `owner` is. */
const CLAIMS_OF = statement(
  'claims-of',
  'select email_id, claim_id, attempts as attempt from send_queue where owner = $owner',
).narrow<{ claim_id: string }>();

/**
 * The rows keep their owner, which alone has evidence. A send that was not begun is free again: its owner can't begin it any more, as no
 * claim has that id.
 */
const EXPIRE = statement(
  'expire-claims',
  `with silent as materialized (
    select email_id, attempts, claimed_at, begun_at is not null as is_begun from send_queue
    where lease_until < now() and owner <> $owner
    for update skip locked
  ), ${lockedEmailsOf('silent')}, begun as materialized (
    select s.email_id, s.attempts, s.claimed_at from silent s join locked_emails l on l.id = s.email_id where s.is_begun
  ), untouched as materialized (
    select email_id from silent where not is_begun
  ), lost as (
    update send_queue q set lease_until = null from begun b where q.email_id = b.email_id
  ), freed as (
    update send_queue q set ${FREE}, attempts = q.attempts - 1 from untouched u where q.email_id = u.email_id
  ), ${loseAttempt('begun', '$detail::text')}
  select email_id, attempts as attempt from begun`,
);

const GIVE_UP_ORPHANS = statement(
  'give-up-orphans',
  `with orphans as materialized (
    select email_id from send_queue
    where owner is null and give_up_at < now() and ${isCertain('$certainUntil')} and account_id <> all ($accountIds::text[])
    for update skip locked
  ), removed as (
    delete from send_queue q using orphans o where q.email_id = o.email_id
  )
  ${giveUpOpen('orphans', '$detail::text')}`,
);
