/**
 * Keeps transactions that record mail apart from those that change customer rules, without a recorder ever waiting.
 *
 * A transaction that changes rules holds the lock alone from before its first change until its commit, and that commit gives the rules a
 * new version. A transaction that records mail tries to share the lock. It may rely on the rules that it reads if it got the lock and the
 * rules are of the newest version: its snapshot can be older than a change that was committed just before it got the lock. Otherwise it
 * leaves a mark for the email in `customer_relinks`, in the same commit, and the email is relinked a little later (link-customers.ts).
 *
 * The number of the newest version is a sequence, because every transaction sees its value at once; the version that a statement reads from
 * the table belongs to the statement's snapshot.
 */
import type { Pool } from 'pg';
import { isLockTimeout } from '../../platform/db/pool.ts';
import { run, statement, type Executor } from '../../platform/db/statement.ts';

const RULES_LOCK = `1920298085, 0`; // 'rule'

/** An SQL expression, true when the rules that this statement reads are the newest and stay so until it commits. */
export const RULES_ARE_FRESH = `
  case when pg_try_advisory_xact_lock_shared(${RULES_LOCK})
    then (select last_value from customer_rules_versions) = (select version from customer_rules_version)
    else false
  end`;

/**
 * For a transaction with several statements: the statements after it read the newest rules. False: another transaction is changing them.
 */
export async function tryToShareRules(trx: Executor): Promise<boolean> {
  const rows = await run(trx, SHARE_RULES);
  return rows[0]?.is_shared === true;
}

/** The first statement of a transaction that changes rules: waits for all transactions that share them. */
export async function lockRules(trx: Executor): Promise<void> {
  await run(trx, LOCK_RULES);
}

/** Like lockRules, for a caller that can come again later: returns false when it would have to wait long. */
export async function lockRulesSoon(trx: Executor): Promise<boolean> {
  await run(trx, WAIT_SHORTLY);
  await run(trx, SAVE_BEFORE_LOCK);
  try {
    await lockRules(trx);
    return true;
  } catch (error) {
    if (!isLockTimeout(error)) throw error;
    await run(trx, UNDO_LOCK);
    return false;
  }
}

/** The last statement of such a transaction: transactions whose snapshot is older than the commit can see this by the version. */
export async function renewRulesVersion(trx: Executor): Promise<void> {
  await run(trx, RENEW_RULES_VERSION);
}

/** False when the newest version is one that no transaction can read, or can read yet. */
export async function rulesAreInOrder(pool: Pool): Promise<boolean> {
  const rows = await run(pool, RULES_IN_ORDER);
  return rows[0]?.is_newest === true;
}

const SHARE_RULES = statement(
  'share-rules',
  `select pg_try_advisory_xact_lock_shared(${RULES_LOCK}) as is_shared`,
);

const LOCK_RULES = statement('lock-rules', `select pg_advisory_xact_lock(${RULES_LOCK})`);

const WAIT_SHORTLY = statement('wait-shortly', `set local lock_timeout = '3s'`);

const SAVE_BEFORE_LOCK = statement('save-before-lock', `savepoint before_lock`);

const UNDO_LOCK = statement('undo-lock', `rollback to savepoint before_lock`);

const RENEW_RULES_VERSION = statement(
  'renew-rules-version',
  `update customer_rules_version set version = nextval('customer_rules_versions')`,
);

const RULES_IN_ORDER = statement(
  'rules-in-order',
  `select (select last_value from customer_rules_versions) = (select version from customer_rules_version) as is_newest`,
);
