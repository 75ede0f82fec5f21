/** Which process reads which account: the leases of `mailbox_accounts`. All times are the database's. */
import { LeaseLost, type MailboxRecords } from '../../../app/mailboxes/mailbox-record-ports.ts';
import { run, statement, type Executor, type Statement } from '../db/statement.ts';
import { markUnstorable } from '../../../core/storable-text.ts';

export function createMailboxLeases(
  pool: Executor,
): Pick<MailboxRecords, 'claim' | 'release' | 'noteAttempt' | 'noteAccountFailure'> {
  return {
    async claim(owner, accountIds, leaseMs) {
      const rows = await run(pool, CLAIM, { owner, accountIds, leaseMs });
      return new Map(rows.map((row) => [row.account_id, { due: row.due }]));
    },

    async release(owner, accountIds) {
      await run(pool, RELEASE, { owner, accountIds });
    },

    noteAttempt: (owner, accountId) => fenced(pool, NOTE_ATTEMPT, { accountId, owner }),

    noteAccountFailure: (owner, accountId, { kind, reason, retryMs }) =>
      fenced(pool, NOTE_FAILURE, { accountId, owner, kind, reason: storable(reason), retryMs }),
  };
}

/** What a server says may be long, and hold characters that a text of PostgreSQL can't. */
export function storable(reason: string): string {
  return markUnstorable(reason).slice(0, MAX_REASON_CHARS);
}

const MAX_REASON_CHARS = 1000;

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

/** The lease of `owner`. It keeps its owner until the statement ends. */
export const HELD = `with held as materialized (
    select from mailbox_accounts where account_id = $accountId and owner = $owner and lease_until > now() for share
  )`;

/** Others' rows are not even locked. In the order of their keys, so that two processes never wait in a circle. */
const CLAIM = statement(
  'claim-mailboxes',
  `with open as materialized (
    select a.account_id from unnest($accountIds::text[]) a (account_id)
    left join mailbox_accounts m on m.account_id = a.account_id
    where m.owner is null or m.owner = $owner or m.lease_until < now()
    order by a.account_id
  ), taken as (
    insert into mailbox_accounts as m (account_id, owner, lease_until)
    select account_id, $owner, now() + $leaseMs * interval '1 millisecond' from open
    on conflict (account_id) do update set owner = excluded.owner, lease_until = excluded.lease_until
    where m.owner is null or m.owner = $owner or m.lease_until < now()
    returning m.account_id
  )
  select t.account_id, exists (
    select from mailboxes b join mailbox_messages m on m.mailbox_id = b.id and m.uid_validity = b.uid_validity
    where b.account_id = t.account_id and b.left_at is null
      -- One that can't be read is not tried more often because of what waits in it
      and (b.last_error_at is null or b.last_error_at < b.last_success_at
        or b.last_error_at < now() - interval '1 minute')
      and m.email_id is null and m.expunged_at is null and m.next_try_at <= now()
  ) as due
  from taken t`,
).narrow<{ account_id: string; due: boolean }>();

const RELEASE = statement(
  'release-mailboxes',
  `update mailbox_accounts set owner = null, lease_until = null
  where owner = $owner and account_id = any ($accountIds::text[])`,
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
      next_attempt_at = now() + $retryMs * interval '1 millisecond'
    where account_id = $accountId and exists (select from held)
  )
  select exists (select from held) as held`,
);
