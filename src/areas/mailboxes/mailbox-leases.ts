/**
 * The leases of `mailbox_accounts`: the processes that read mailboxes, and the process that has each account. All times are the database's.
 */
import { FOLLOWED_WITHIN_MS } from '../accounts/account-ports.ts';
import { MAX_KEPT_REASON_CHARS } from '../../platform/base/limits.ts';
import { LeaseLost, type MailboxRecords } from './mailbox-record-ports.ts';
import { fromNow } from '../../platform/db/from-now.ts';
import { jsonObject, type JsonOf } from '../../platform/db/json.ts';
import { run, statement, type Executor, type Statement } from '../../platform/db/statement.ts';
import { toStorable } from '../../core/storable-text.ts';

export function createMailboxLeases(
  pool: Executor,
): Pick<MailboxRecords, 'claim' | 'release' | 'leave' | 'noteAttempt' | 'noteAccountFailure'> {
  return {
    async claim(owner, { accountIds, take, leaseMs }) {
      const [row] = await run(pool, CLAIM, { owner, accountIds, take, leaseMs });
      if (row === undefined) throw new Error('a claim of mailboxes has no answer');
      return {
        holders: new Map([
          // Includes the accounts of all live processes that no process has had yet.
          ...row.others.flatMap(({ account_ids: ids }) =>
            (ids ?? []).map((id): [string, null] => [id, null]),
          ),
          ...row.accounts.map(({ account_id: id, holder }): [string, string | null] => [id, holder]),
        ]),
        due: new Set(row.accounts.flatMap(({ account_id: id, due }) => (due ? [id] : []))),
        others: row.others.map((other) => ({
          id: other.owner,
          accountIds: new Set(other.account_ids ?? accountIds),
        })),
      };
    },

    async release(owner, accountIds) {
      await run(pool, RELEASE, { owner, accountIds });
    },

    async leave(owner) {
      await run(pool, LEAVE, { owner });
    },

    noteAttempt: (owner, accountId) => fenced(pool, NOTE_ATTEMPT, { accountId, owner }),

    noteAccountFailure: (owner, accountId, { kind, reason, retryMs, isLasting }) =>
      fenced(pool, NOTE_FAILURE, { accountId, owner, kind, reason: storable(reason), retryMs, isLasting }),
  };
}

/** Takes the account from the process that reads it, for any to take at once. */
export async function endReading(executor: Executor, accountId: string): Promise<void> {
  await run(executor, END_READING, { accountId });
}

/** Longer than processes need to follow a change of an account, in ms. */
const HOLD_MS = 1.5 * FOLLOWED_WITHIN_MS;

/** Takes the account from the process that reads it, for none to take before every process knows its new server. */
export async function holdBack(executor: Executor, accountId: string): Promise<void> {
  await run(executor, HOLD_BACK, { accountId, holdMs: HOLD_MS });
}

/** A server's error message may be long, and contain characters that PostgreSQL can't store in a text. */
export function storable(reason: string): string {
  return toStorable(reason).slice(0, MAX_KEPT_REASON_CHARS);
}

/** Runs a statement that begins with HELD and returns `held`. Throws LeaseLost. */
export async function fenced<Values extends object>(
  pool: Executor,
  fencedStatement: Statement<Values, { held: boolean | null }>,
  values: NoInfer<Values> & { readonly accountId: string },
): Promise<void> {
  const untyped = fencedStatement as unknown as Statement<{ accountId: string }, { held: boolean | null }>;
  const [row] = await run(pool, untyped, values as { accountId: string });
  if (row?.held !== true) throw new LeaseLost(values.accountId);
}

/** The lease of `owner`. The owner keeps it until the statement ends. */
export const HELD = `with held as materialized (
    select from mailbox_accounts where account_id = $accountId and owner = $owner and lease_until > now() for share
  )`;

/** Rows of other processes are not even locked. In the order of their keys, so that two processes never wait in a circle. */
const READ_AND_CLAIM = `with reader as (
    insert into mailbox_readers as r (owner, account_ids, alive_until)
    values ($owner, $accountIds, ${fromNow('$leaseMs')})
    on conflict (owner) do update set alive_until = excluded.alive_until,
      -- A long list that stays the same is not stored anew
      account_ids = case when r.account_ids = excluded.account_ids then r.account_ids else excluded.account_ids end
  ), known as materialized (
    select account_id, a.account_id is not null as is_own,
      case when (a.account_id is not null and m.owner = $owner) or m.lease_until >= now() then m.owner end as holder
    from unnest($accountIds::text[]) a (account_id) full join mailbox_accounts m using (account_id)
    order by account_id
  ), claimed as (
    insert into mailbox_accounts as m (account_id, owner, lease_until)
    select account_id, $owner, ${fromNow('$leaseMs')} from known
    where is_own and (holder = $owner or (holder is null and account_id in (select unnest($take::text[]))))
    on conflict (account_id) do update set owner = excluded.owner, lease_until = excluded.lease_until
    where m.owner is null or m.owner = $owner or m.lease_until < now()
    returning m.account_id
  )`;

const ACCOUNT = jsonObject('claimed-account-json', {
  with: READ_AND_CLAIM,
  from: 'known k left join claimed c on c.account_id = k.account_id',
  columns: {
    account_id: 'k.account_id',
    holder: `case when c.account_id is not null then $owner
          when not k.is_own or k.holder <> $owner then k.holder end`,
    due: `c.account_id is not null and exists (
          select from mailboxes b join mailbox_messages m on m.mailbox_id = b.id and m.uid_validity = b.uid_validity
          where b.account_id = k.account_id and b.left_at is null
            -- One that can't be read is not tried more often because of what waits in it
            and (b.last_error_at is null or b.last_error_at < b.last_success_at
              or b.last_error_at < now() - interval '1 minute')
            and m.email_id is null and m.left_out is null and m.expunged_at is null and m.next_try_at <= now()
        )`,
  },
}).narrow<{ account_id: string; due: boolean }>();

/** Accounts: null when they are those of the asking process. */
const READER = jsonObject('mailbox-reader-json', {
  from: 'mailbox_readers r',
  columns: {
    owner: 'r.owner',
    account_ids: 'case when r.account_ids <> $accountIds::text[] then r.account_ids end',
  },
});

/** One statement for everything that an idle process reports and asks. */
const CLAIM = statement(
  'claim-mailboxes',
  `${READ_AND_CLAIM}
  select
    ${ACCOUNT.array('', 'k.account_id')} as accounts,
    ${READER.array('where r.owner <> $owner and r.alive_until >= now()', 'r.owner')} as others`,
).narrow<{ accounts: readonly JsonOf<typeof ACCOUNT>[]; others: readonly JsonOf<typeof READER>[] }>();

/** Locks the accounts of the owner, in the order in which they are claimed. */
const own = (condition: string): string => `
  own as materialized (
    select account_id from mailbox_accounts where owner = $owner ${condition} order by account_id for update
  )`;

const RELEASE = statement(
  'release-mailboxes',
  `with ${own('and account_id = any ($accountIds::text[])')}
  update mailbox_accounts m set owner = null, lease_until = null from own o where m.account_id = o.account_id`,
);

/** Also removes processes that died long ago, and will not come back under the same name. */
const LEAVE = statement(
  'leave-mailboxes',
  `with gone as (
    delete from mailbox_readers where owner = $owner or alive_until < now() - interval '1 day'
  ), ${own('')}
  update mailbox_accounts m set owner = null, lease_until = null from own o where m.account_id = o.account_id`,
);

const END_READING = statement(
  'end-reading-account',
  'update mailbox_accounts set owner = null, lease_until = null, next_attempt_at = null where account_id = $accountId',
);

/** No process has the nil UUID. */
const HOLD_BACK = statement(
  'hold-back-account',
  `update mailbox_accounts
  set owner = '00000000-0000-0000-0000-000000000000', lease_until = ${fromNow('$holdMs')}, next_attempt_at = null,
    connected_at = null, failing_since = null, notified_at = null
  where account_id = $accountId`,
);

const NOTE_ATTEMPT = statement(
  'mailbox-attempt',
  `${HELD}, noted as (
    update mailbox_accounts set last_attempt_at = now(), next_attempt_at = null
    where account_id = $accountId and exists (select from held)
  )
  select exists (select from held) as held`,
);

const NOTE_FAILURE = statement(
  'mailbox-account-failure',
  `${HELD}, noted as (
    update mailbox_accounts set last_error_kind = $kind, last_error = $reason, last_error_at = now(),
      next_attempt_at = ${fromNow('$retryMs')},
      failing_since = coalesce(failing_since, case when $isLasting::boolean then date_trunc('milliseconds', now()) end)
    where account_id = $accountId and exists (select from held)
  )
  select exists (select from held) as held`,
);
