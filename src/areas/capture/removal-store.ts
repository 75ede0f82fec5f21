/** `RemovalStore` on PostgreSQL. */
import type { Pool } from 'pg';
import { LEFT_OUT_REASONS, type LeftOutReason } from '../../core/mailbox/capture.ts';
import { fromNow } from '../../platform/db/from-now.ts';
import { inLinkingTransaction } from '../../platform/db/linking-transaction.ts';
import { nameAuthor } from '../../platform/db/name-author.ts';
import { run, runCounting, statement, type Executor, type RowOf } from '../../platform/db/statement.ts';
import { inTransaction } from '../../platform/db/transaction.ts';
import { deleteEmails, NotDeletable } from '../erase/delete-email-rows.ts';
import { isFinished } from '../erase/deletion-store.ts';
import { leaveOutMessages, messagesOfEmails } from '../mailboxes/leave-out-recorded.ts';
import { JUDGED_CURSOR } from './judge-account.ts';
import { mayGo } from './recorded-store.ts';
import {
  LeaseEnded,
  type ClaimedRemoval,
  type Removal,
  type RemovalState,
  type RemovalStore,
  type RemovedEmail,
} from './removal-ports.ts';

/** How long a process may take for one step before another one takes over, in ms. */
const LEASE_MS = 120_000;

/** @param patient for statements that take longer the more emails there are */
export function createRemovalStore(pool: Pool, patient: Pool): RemovalStore {
  return {
    request: (request) =>
      inTransaction(patient, async (trx) => {
        await run(trx, FORGET_LISTS, { accountId: request.accountId });
        const [row] = await run(trx, REQUEST, { ...request });
        return row === undefined ? null : toRemoval(row);
      }),

    async read(accountId) {
      const [row] = await run(pool, READ, { accountId });
      return row === undefined ? null : toRemoval(row);
    },

    stop: (accountId, keyId) =>
      inTransaction(pool, async (trx) => {
        await nameAuthor(trx, keyId);
        await stopRemoval(trx, accountId);
        const [row] = await run(trx, READ, { accountId });
        return row === undefined ? null : toRemoval(row);
      }),

    async claim(owner, accountIds) {
      // The lists of those that ended.
      await run(patient, FORGET_LISTS, { accountId: null });
      const [row] = await run(pool, CLAIM, { owner, accountIds, leaseMs: LEASE_MS });
      if (row === undefined) return null;
      const { id, account_id: accountId, author_key: authorKey, rules_digest: rulesDigest } = row;
      return { id, owner, accountId, authorKey, rulesDigest, confirmed: Number(row.confirmed) };
    },

    async progress(removal) {
      const { state, judged_to: judgedTo, found } = await renew(pool, removal);
      return { state, judgedTo: JUDGED_CURSOR.parse(judgedTo), found: Number(found) };
    },

    noteJudged: (removal, { judged, ids, next }) =>
      inTransaction(pool, async (trx) => {
        await renew(trx, removal);
        // One that came in another thread since it was judged is listed already.
        const listed = await runCounting(trx, LIST, { id: removal.id, emailIds: ids });
        await run(trx, NOTE_JUDGED, {
          id: removal.id,
          judgedTo: JUDGED_CURSOR.format(next),
          judged,
          found: listed,
          state: next === null ? 'removing' : 'counting',
        });
      }),

    async listed({ id }, limit) {
      return (await run(pool, LISTED, { id, limit })).map(({ email_id: emailId }) => emailId);
    },

    remove: (removal, { removed, kept }) =>
      inLinkingTransaction(patient, async (trx) => {
        // First of all locks: what stops it waits for this step, and no step begins after it.
        await renew(trx, removal);
        await nameAuthor(trx, removal.authorKey);
        const gone = await removeEmails(trx, removed);
        // Another process deleted some meanwhile: rolled back, so that they do not count.
        if (gone !== removed.length) throw new NotDeletable();
        await run(trx, TAKE_OFF, { id: removal.id, emailIds: [...removed.map(({ id }) => id), ...kept] });
        await run(trx, NOTE_REMOVED, {
          id: removal.id,
          reasons: removed.map(({ reason }) => reason),
          kept: kept.length,
        });
        return true;
      }).catch((error: unknown) => {
        if (error instanceof NotDeletable) return false;
        throw error;
      }),

    async end({ id, owner }, state) {
      await run(pool, END, { id, owner, state });
    },

    async release({ id, owner }) {
      await run(pool, RELEASE, { id, owner });
    },
  };
}

/** Ends the removal of an account that is under way, also in the transaction that changes or deletes the account. */
export async function stopRemoval(executor: Executor, accountId: string): Promise<void> {
  await run(executor, STOP, { accountId });
}

/** Throws NotDeletable when one of the emails has to be kept. */
async function removeEmails(trx: Executor, removed: readonly RemovedEmail[]): Promise<number> {
  if (removed.length === 0) return 0;
  const ids = removed.map(({ id }) => id);
  const reasons = new Map(removed.map((email) => [email.id, email]));
  const messages = await messagesOfEmails(trx, ids);
  // What people did since the emails were judged is seen here, and while their threads are locked nothing more comes.
  const { emails, drafts } = await deleteEmails(trx, ids, isFinished, () => mayGo(trx, ids));
  if (drafts > 0) throw new NotDeletable();
  await leaveOutMessages(trx, messages, (id) => reasons.get(id) ?? unexpected(id));
  return emails;
}

function unexpected(id: string): never {
  throw new Error(`a message has the email ${id}, which is not removed`);
}

/** Throws LeaseEnded. */
async function renew(executor: Executor, { id, owner }: ClaimedRemoval): Promise<RowOf<typeof RENEW>> {
  const [row] = await run(executor, RENEW, { id, owner, leaseMs: LEASE_MS });
  if (row === undefined) throw new LeaseEnded();
  return row;
}

function toRemoval(row: RowOf<typeof READ>): Removal {
  const removed = row.removed as Partial<Record<LeftOutReason, number>>;
  return {
    id: row.id,
    accountId: row.account_id,
    state: row.state,
    requestedAt: row.requested_at,
    requestedBy: row.requested_by,
    finishedAt: row.finished_at,
    confirmed: Number(row.confirmed),
    judged: Number(row.judged),
    found: Number(row.found),
    removed: Object.fromEntries(LEFT_OUT_REASONS.map((reason) => [reason, removed[reason] ?? 0])) as Record<
      LeftOutReason,
      number
    >,
    kept: Number(row.kept),
  };
}

const COLUMNS =
  'id, account_id, state, requested_at, requested_by, finished_at, confirmed, judged, found, removed, kept';

const REQUEST = statement(
  'request-removal',
  `insert into capture_removals as r (account_id, id, requested_by, author_key, rules_digest, confirmed)
  values ($accountId, $id, $requestedBy, $authorKey, $rulesDigest, $confirmed)
  on conflict (account_id) do update set id = excluded.id, requested_at = now(), requested_by = excluded.requested_by,
    author_key = excluded.author_key, rules_digest = excluded.rules_digest, confirmed = excluded.confirmed, state = 'counting',
    judged_to = null, judged = 0, found = 0, removed = '{}', kept = 0, finished_at = null
  where r.finished_at is not null
  returning ${COLUMNS}`,
).narrow<{ state: RemovalState }>();

const READ = statement(
  'read-removal',
  `select ${COLUMNS} from capture_removals where account_id = $accountId`,
).narrow<{ state: RemovalState }>();

const STOP = statement(
  'stop-removal',
  `update capture_removals set state = 'stopped', finished_at = now(), owner = null, lease_until = null
  where account_id = $accountId and finished_at is null`,
);

const CLAIM = statement(
  'claim-removal',
  `update capture_removals set owner = $owner::uuid, lease_until = ${fromNow('$leaseMs')}
  where id = (
    select id from capture_removals
    where finished_at is null and (lease_until is null or lease_until < now()) and account_id = any ($accountIds::text[])
    order by requested_at, id limit 1 for update skip locked
  )
  returning id, account_id, author_key, rules_digest, confirmed`,
);

const RENEW = statement(
  'renew-removal',
  `update capture_removals set lease_until = ${fromNow('$leaseMs')}
  where id = $id and owner = $owner::uuid and finished_at is null
  returning state, judged_to, found`,
).narrow<{ state: 'counting' | 'removing' }>();

const LIST = statement(
  'list-emails-to-remove',
  `insert into capture_removal_emails (removal_id, email_id) select $id::uuid, id from unnest($emailIds::uuid[]) id
  on conflict do nothing`,
);

const NOTE_JUDGED = statement(
  'note-judged',
  `update capture_removals set judged_to = $judgedTo, judged = judged + $judged::bigint, found = found + $found::bigint, state = $state
  where id = $id`,
);

const LISTED = statement(
  'listed-emails-to-remove',
  'select email_id from capture_removal_emails where removal_id = $id order by email_id limit $limit::int',
);

const TAKE_OFF = statement(
  'take-off-removal-list',
  'delete from capture_removal_emails where removal_id = $id and email_id = any ($emailIds::uuid[])',
);

const NOTE_REMOVED = statement(
  'note-removed',
  `update capture_removals r set kept = kept + $kept::bigint, removed = removed || coalesce((
    select jsonb_object_agg(n.reason, n.emails + coalesce((r.removed ->> n.reason)::bigint, 0))
    from (select reason, count(*) as emails from unnest($reasons::text[]) reason group by reason) n
  ), '{}')
  where id = $id`,
);

const END = statement(
  'end-removal',
  `update capture_removals set state = $state, finished_at = now(), owner = null, lease_until = null
  where id = $id and owner = $owner::uuid and finished_at is null`,
);

const RELEASE = statement(
  'release-removal',
  'update capture_removals set owner = null, lease_until = null where id = $id and owner = $owner::uuid',
);

/** @param accountId null: of all accounts */
const FORGET_LISTS = statement(
  'forget-removal-lists',
  `delete from capture_removal_emails l using capture_removals r
  where l.removal_id = r.id and r.finished_at is not null and ($accountId::text is null or r.account_id = $accountId)`,
);
