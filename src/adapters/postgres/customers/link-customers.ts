/** `CustomerSettler` on PostgreSQL; see rules-lock.ts. Any number of processes may do it at the same moment. */
import { sql, type Kysely } from 'kysely';
import type { CustomerSettler } from '../../../app/customers/customer-ports.ts';
import type { Database } from '../db/database.ts';
import { learnFrom, takeLearned } from './customer-addresses.ts';
import { removeMarks, takeMarked } from './customer-links.ts';
import { threadsUnder } from './find-by-rule.ts';
import { inLinkingTransaction } from '../db/linking-transaction.ts';
import { lockRulesSoon, renewRulesVersion, rulesAreInOrder, tryToShareRules } from './rules-lock.ts';
import { lockAndSettle } from './settle-customers.ts';

/** Addresses settled at once: some milliseconds, in which mail that comes in leaves marks. */
const MAX_ADDRESSES = 500;
const MAX_EMAILS = 500;

export function createCustomerSettler(db: Kysely<Database>): CustomerSettler {
  return {
    async settleSome() {
      const work = await db
        .selectNoFrom((no) => [
          no
            .exists(no.selectFrom('customer_addresses').select('address').where('settled', '=', false))
            .as('learned'),
          no.exists(no.selectFrom('customer_relinks').select('email_id')).as('marked'),
        ])
        .executeTakeFirstOrThrow();
      const settled = work.learned === true && (await settleLearned(db));
      const linked = work.marked === true && (await settleMarked(db));
      return settled || linked;
    },
  };
}

/**
 * What a send taught is a new rule: past mail is linked by it, or no longer, where two customers claim an address.
 * False: another transaction changes the rules, so it has to wait.
 */
function settleLearned(db: Kysely<Database>): Promise<boolean> {
  return inLinkingTransaction(db, async (trx) => {
    if (!(await lockRulesSoon(trx))) return false;
    const addresses = await takeLearned(trx, MAX_ADDRESSES);
    await lockAndSettle(trx, await threadsUnder(trx, { addresses, domains: [] }));
    await renewRulesVersion(trx);
    return true;
  });
}

/** False: another transaction changes the rules, so it has to wait; or nothing is left. */
async function settleMarked(db: Kysely<Database>): Promise<boolean> {
  const marked = await inLinkingTransaction(db, async (trx) => {
    if (!(await tryToShareRules(trx))) return [];
    const ids = await takeMarked(trx, MAX_EMAILS);
    const threads = await sql<{ thread_id: string }>`
      select distinct thread_id from emails where id = any (${ids}::uuid[])`.execute(trx);
    await lockAndSettle(
      trx,
      threads.rows.map(({ thread_id }) => thread_id),
    );
    // As when a send is recorded: the thread first. What is new is applied to past mail by settleLearned.
    await learnFrom(trx, ids);
    await removeMarks(trx, ids);
    return ids;
  });
  await mendVersion(db);
  return marked.length > 0;
}

/** A change that failed after it took its number, or a server that crashed, leaves a number that no transaction reads. */
async function mendVersion(db: Kysely<Database>): Promise<void> {
  if (await rulesAreInOrder(db)) return;
  await inLinkingTransaction(db, async (trx) => {
    if (await lockRulesSoon(trx)) await renewRulesVersion(trx);
  });
}
