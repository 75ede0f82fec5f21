/** `CustomerLinker` on PostgreSQL; see rules-lock.ts. Any number of processes may run it at the same moment. */
import type { Pool } from 'pg';
import type { IsOwnAddress } from '../../core/accounts/sender-addresses.ts';
import type { CustomerLinker } from './customer-ports.ts';
import { learnFrom, takeLearned, unlearnOwn } from './customer-addresses.ts';
import { removeMarks, takeMarked } from './customer-links.ts';
import { threadsUnder } from './find-by-rule.ts';
import { inLinkingTransaction } from '../../platform/db/linking-transaction.ts';
import { lockRulesSoon, renewRulesVersion, rulesAreInOrder, tryToShareRules } from './rules-lock.ts';
import { lockAndRelink } from './relink-customers.ts';
import { run, statement } from '../../platform/db/statement.ts';

/** Addresses applied at once. It takes some milliseconds, during which incoming mail leaves marks. */
const MAX_ADDRESSES = 500;
const MAX_EMAILS = 500;

/** @param isOwn an address of one of our accounts, which is never a customer's */
export function createCustomerLinker(pool: Pool, isOwn: IsOwnAddress): CustomerLinker {
  return {
    async linkSome() {
      const [work] = await run(pool, FIND_WORK);
      const applied = work?.learned === true && (await linkByLearned(pool, isOwn));
      const linked = work?.marked === true && (await linkMarked(pool));
      return applied || linked;
    },
  };
}

/**
 * An address that a send taught is a new rule: past mail is linked by it, or loses its link where two customers claim the address. Returns
 * false when another transaction is changing the rules, so that this one has to wait.
 */
function linkByLearned(pool: Pool, isOwn: IsOwnAddress): Promise<boolean> {
  return inLinkingTransaction(pool, async (trx) => {
    if (!(await lockRulesSoon(trx))) return false;
    const addresses = await takeLearned(trx, MAX_ADDRESSES);
    const own = addresses.filter(isOwn);
    // Mail that was linked by them meanwhile loses its link below.
    if (own.length > 0) await unlearnOwn(trx, own);
    await lockAndRelink(trx, await threadsUnder(trx, { addresses, domains: [] }));
    await renewRulesVersion(trx);
    return true;
  });
}

/** Returns false when another transaction is changing the rules, so that this one has to wait, or when nothing is left. */
async function linkMarked(pool: Pool): Promise<boolean> {
  const marked = await inLinkingTransaction(pool, async (trx) => {
    if (!(await tryToShareRules(trx))) return [];
    const marks = await takeMarked(trx, MAX_EMAILS);
    const ids = [...new Set(marks.map((mark) => mark.email_id))];
    const threads = await run(trx, THREADS_OF_EMAILS, { ids });
    await lockAndRelink(
      trx,
      threads.map(({ thread_id }) => thread_id),
    );
    // As when a send is recorded: the thread first. linkByLearned applies new rules to past mail.
    await learnFrom(trx, ids);
    await removeMarks(trx, marks);
    return ids;
  });
  await mendVersion(pool);
  return marked.length > 0;
}

/** A change that failed after it took its number, or a server crash, leaves a number that no transaction reads. */
async function mendVersion(pool: Pool): Promise<void> {
  if (await rulesAreInOrder(pool)) return;
  await inLinkingTransaction(pool, async (trx) => {
    if (await lockRulesSoon(trx)) await renewRulesVersion(trx);
  });
}

const THREADS_OF_EMAILS = statement(
  'threads-of-emails',
  `select distinct thread_id from emails where id = any ($ids::uuid[])`,
);

const FIND_WORK = statement(
  'customer-work',
  `select exists (select from customer_addresses where not is_applied) as learned,
    exists (select from customer_relinks) as marked`,
);
