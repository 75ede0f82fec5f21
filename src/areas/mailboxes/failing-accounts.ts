/** The accounts whose mailboxes can't be read, and about which of these failures the operators have a mail. */
import type { Pool } from 'pg';
import type { AccountFailure } from '../../core/mailbox/retry.ts';
import { run, statement } from '../../platform/db/statement.ts';

export interface FailingAccount {
  readonly accountId: string;
  readonly kind: AccountFailure;
  /** As the server or the connection gave it. */
  readonly reason: string;
  readonly since: Date;
  /** It lasted long enough, or needs a person, and the operators have no mail about it yet. */
  readonly isToBeNotified: boolean;
}

export interface FailingAccounts {
  /** The longest failing first. */
  list(accountIds: readonly string[]): Promise<readonly FailingAccount[]>;
  /** The operators have a mail about the failure that began then. */
  setNotified(accountId: string, since: Date): Promise<void>;
}

export function createFailingAccounts(pool: Pool): FailingAccounts {
  return {
    async list(accountIds) {
      const rows = await run(pool, LIST, { accountIds: [...accountIds] });
      return rows.map((row) => ({
        accountId: row.account_id,
        kind: row.kind,
        reason: row.reason,
        since: row.failing_since,
        isToBeNotified: row.is_due,
      }));
    },

    async setNotified(accountId, since) {
      await run(pool, SET_NOTIFIED, { accountId, since });
    },
  };
}

/** Refused credentials need a person at once; a server that is restarted, or a short outage, needs none. */
const LIST = statement(
  'failing-accounts',
  `select account_id, last_error_kind as kind, last_error as reason, failing_since,
    notified_at is null and (last_error_kind = 'credentials' or failing_since < now() - interval '10 minutes') as is_due
  from mailbox_accounts where failing_since is not null and account_id = any ($accountIds::text[])
  order by failing_since, account_id`,
).narrow<{ kind: AccountFailure; reason: string; failing_since: Date; is_due: boolean }>();

const SET_NOTIFIED = statement(
  'set-account-notified',
  `update mailbox_accounts set notified_at = now()
  where account_id = $accountId and failing_since = $since and notified_at is null`,
);
