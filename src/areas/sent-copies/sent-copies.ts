/** Copies in Sent mailboxes, on PostgreSQL: their queue, and the data that the API shows of them. A trigger makes their rows. */
import type { Pool } from 'pg';
import type { CertainUntil } from '../../platform/base/clock-guard.ts';
import { MAX_KEPT_REASON_CHARS } from '../../platform/base/limits.ts';
import type { ClaimedCopy, SentCopyQueue, SentCopyStore } from './sent-copy-ports.ts';
import type { MessageId } from '../../core/message/message-id.ts';
import { fromNow, isCertain, isLongOver } from '../../platform/db/from-now.ts';
import { GIVE_UP_AFTER } from '../../platform/db/migrations/0001_schema/sent-copies.ts';
import { SENT_COPY, toSentCopyView, type SentCopyJson } from '../emails/sent-copy-json.ts';
import { run, statement, type RowOf } from '../../platform/db/statement.ts';

const toReason = (reason: string): string => reason.replaceAll('\0', '').slice(0, MAX_KEPT_REASON_CHARS);

export function createSentCopyQueue(pool: Pool, certainUntil: CertainUntil): SentCopyQueue {
  return {
    async dueAccounts(accountIds) {
      const rows = await run(pool, DUE_ACCOUNTS, { accounts: [...accountIds] });
      return rows.map(({ account_id }) => account_id);
    },
    async claim({ accountId, claimId, limit, leaseMs }) {
      return (await run(pool, CLAIM, { accountId, claimId, limit, leaseMs })).map(toClaimed);
    },
    async renew(claimId, emailId, leaseMs) {
      const rows = await run(pool, RENEW, { claimId, leaseMs });
      return rows.some(({ email_id }) => email_id === emailId);
    },
    async stored(claimId, emailId, { path, uidValidity, uid, wasThere }) {
      await run(pool, STORED, {
        claimId,
        emailId,
        path: path.replaceAll('\0', ''),
        uidValidity,
        uid,
        wasThere,
      });
    },
    async failed(claimId, { emailId, reason, retryMs }) {
      await run(pool, FAILED, {
        claimId,
        emailId,
        reason: toReason(reason),
        retryMs,
        certainUntil: certainUntil(),
      });
    },
    async release(claimId, exceptEmailId) {
      await run(pool, RELEASE, { claimId, except: exceptEmailId });
    },
    async putOff(accountId, delayMs, reason) {
      await run(pool, PUT_OFF, {
        accountId,
        delayMs,
        reason: toReason(reason),
        certainUntil: certainUntil(),
      });
    },
    async giveUp(accountIds, reason) {
      return (await run(pool, GIVE_UP, { accounts: [...accountIds], reason: toReason(reason) })).length;
    },
  };
}

export function createSentCopyStore(pool: Pool): SentCopyStore {
  return {
    async retry(emailId) {
      const [row] = await run(pool, RETRY, { emailId });
      if (row === undefined) return 'not_found';
      return row.copy === null ? 'refused' : toSentCopyView(row.copy);
    },
  };
}

/** The earliest time at which one of the accounts has a copy due: reads the first entry of an index for each account. */
export const firstDueCopy = (accounts: string): string => `
  select min(c.due_at) from unnest(${accounts}) a (account_id) cross join lateral (
    select due_at from sent_copies where account_id = a.account_id and state = 'pending' order by due_at limit 1
  ) c`;

const DUE_ACCOUNTS = statement(
  'accounts-with-due-copies',
  `select a.account_id from unnest($accounts::text[]) a (account_id) cross join lateral (
    select due_at from sent_copies where account_id = a.account_id and state = 'pending' order by due_at limit 1
  ) c
  where c.due_at <= now()`,
).narrow<{ account_id: string }>();

/** Rows of emails are not locked, so that no copy holds up a send. */
const CLAIM = statement(
  'claim-sent-copies',
  `with due as materialized (
    select email_id from sent_copies
    where account_id = $accountId and state = 'pending' and due_at <= now()
    order by due_at limit $limit::int
    for update skip locked
  ), claimed as (
    update sent_copies c set claim_id = $claimId, due_at = ${fromNow('$leaseMs')}
    from due where c.email_id = due.email_id
    returning c.email_id, c.tries
  )
  select c.email_id, c.tries, e.message_id, e.raw, e.raw_path, e.raw_size_bytes,
    coalesce(
      (select max(a.ended_at) from delivery_attempts a where a.email_id = e.id and a.outcome = 'accepted'), e.date
    ) as sent_at
  from claimed c join emails e on e.id = c.email_id
  order by e.id`,
).narrow<{ sent_at: Date }>();

const RENEW = statement(
  'renew-sent-copies',
  `update sent_copies set due_at = ${fromNow('$leaseMs')}
  where claim_id = $claimId and state = 'pending' returning email_id`,
);

const STORED = statement(
  'sent-copy-stored',
  `update sent_copies
  set state = 'stored', ended_at = now(), claim_id = null, path = $path, uid_validity = $uidValidity, uid = $uid,
    was_there = $wasThere
  where email_id = $emailId and claim_id = $claimId`,
);

/** A clock in doubt, or one that was wrong, ends nothing for good. */
const IS_OVER = `give_up_at <= now() and not ${isLongOver('give_up_at')} and ${isCertain('$certainUntil')}`;
/** The time to give up of a copy that goes on. */
const GIVE_UP_AT = `case when ${isLongOver('give_up_at')} and ${isCertain('$certainUntil')} then now() + ${GIVE_UP_AFTER}
    else give_up_at end`;

/** The state after a failure at `now()`. */
const NEXT_STATE = (isFinal: string) => `
    state = case when ${isFinal} then 'failed' else 'pending' end,
    ended_at = case when ${isFinal} then now() end, claim_id = null, last_error = $reason, last_error_at = now()`;

const FAILED = statement(
  'sent-copy-failed',
  `update sent_copies
  set ${NEXT_STATE(IS_OVER)}, tries = tries + 1, give_up_at = ${GIVE_UP_AT},
    due_at = ${fromNow('$retryMs')}
  where email_id = $emailId and claim_id = $claimId`,
);

const RELEASE = statement(
  'release-sent-copies',
  `update sent_copies set claim_id = null, due_at = now()
  where claim_id = $claimId and state = 'pending' and email_id is distinct from $except::uuid`,
);

const PUT_OFF = statement(
  'put-off-sent-copies',
  `update sent_copies set ${NEXT_STATE(IS_OVER)}, give_up_at = ${GIVE_UP_AT}, due_at = ${fromNow('$delayMs')}
  where account_id = $accountId and state = 'pending' and due_at <= now()`,
);

/** A claim that has run out belongs to a process that died. */
const GIVE_UP = statement(
  'give-up-sent-copies',
  `update sent_copies
  set ${NEXT_STATE('true')}
  where account_id = any ($accounts::text[]) and state = 'pending' and (claim_id is null or due_at <= now())
  returning email_id`,
);

/** A claimed copy is being tried now: it keeps its claim. */
const RETRY = statement(
  'retry-sent-copy',
  `with retried as (
    update sent_copies c
    set state = 'pending', ended_at = null, give_up_at = default,
      due_at = case when c.claim_id is null then now() else c.due_at end
    where c.email_id = $emailId and c.state <> 'stored'
    returning ${SENT_COPY.object} as copy
  )
  select (select copy from retried) as copy from emails e where e.id = $emailId`,
).narrow<{ copy: SentCopyJson | null }>();

function toClaimed(row: RowOf<typeof CLAIM>): ClaimedCopy {
  return {
    emailId: row.email_id,
    messageId: row.message_id as MessageId,
    sentAt: row.sent_at,
    raw: row.raw,
    rawPath: row.raw_path,
    sizeBytes: Number(row.raw_size_bytes),
    tries: row.tries,
  };
}
