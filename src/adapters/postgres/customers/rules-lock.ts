/**
 * Keeps transactions that record mail apart from those that change customer rules, without a recorder ever waiting.
 *
 * A transaction that changes rules holds the lock alone from before its first change until its commit, and gives the
 * rules a new version with that commit. A transaction that records mail tries to share the lock. It may rely on the rules
 * it reads when it got the lock and they are those of the newest version: its snapshot can be older than a change that
 * was committed just before it got the lock. Otherwise it leaves a mark for the email in `customer_relinks`, in the same
 * commit, and the email is linked anew a little later (link-customers.ts).
 *
 * The number of the newest version is a sequence, since every transaction sees its value at once; the version that a
 * statement reads in the table is the one its snapshot belongs to.
 */
import { sql, type Kysely, type Transaction } from 'kysely';
import type { Database } from '../db/database.ts';
import { isLockTimeout } from '../db/pool.ts';

const RULES_LOCK = `1920298085, 0`; // 'rule'

/** An SQL expression, true when the rules that this statement reads are the newest and stay so until it commits. */
export const RULES_ARE_FRESH = `
  case when pg_try_advisory_xact_lock_shared(${RULES_LOCK})
    then (select last_value from customer_rules_versions) = (select version from customer_rules_version)
    else false
  end`;

/** For a transaction of several statements: those after it read the newest rules. False: another transaction changes them. */
export async function tryToShareRules(trx: Transaction<Database>): Promise<boolean> {
  const { rows } = await sql<{ is_shared: boolean }>`
    select pg_try_advisory_xact_lock_shared(${sql.raw(RULES_LOCK)}) as is_shared`.execute(trx);
  return rows[0]?.is_shared === true;
}

/** The first statement of a transaction that changes rules: waits for all who share them. */
export async function lockRules(trx: Transaction<Database>): Promise<void> {
  await sql`select pg_advisory_xact_lock(${sql.raw(RULES_LOCK)})`.execute(trx);
}

/** The same for a caller that can come again later: false when it would have to wait long. */
export async function lockRulesSoon(trx: Transaction<Database>): Promise<boolean> {
  await sql`set local lock_timeout = '3s'`.execute(trx);
  await sql`savepoint before_lock`.execute(trx);
  try {
    await lockRules(trx);
    return true;
  } catch (error) {
    if (!isLockTimeout(error)) throw error;
    await sql`rollback to savepoint before_lock`.execute(trx);
    return false;
  }
}

/** The last statement of such a transaction: others whose snapshot is older than the commit can tell by the version. */
export async function renewRulesVersion(trx: Transaction<Database>): Promise<void> {
  await sql`update customer_rules_version set version = nextval('customer_rules_versions')`.execute(trx);
}

/** False when no transaction can read the newest version, or not yet. */
export async function rulesAreInOrder(db: Kysely<Database>): Promise<boolean> {
  const { rows } = await sql<{ is_newest: boolean }>`
    select (select last_value from customer_rules_versions) = (select version from customer_rules_version) as is_newest`.execute(
    db,
  );
  return rows[0]?.is_newest === true;
}
