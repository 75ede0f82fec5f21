/** The registered rules of customers: reads and replaces them, with all consequences for past mail. */
import type { Pool } from 'pg';
import type { CustomerRegistration, CustomerStore, Relinked, ReplaceOptions } from './customer-ports.ts';
import { listAmbiguous, listAmbiguousEmails } from './ambiguous-customers.ts';
import { eraseAddresses, registerAddresses, removeAddress, replaceAddresses } from './customer-addresses.ts';
import { eraseCustomer, writeCustomer } from './known-customers.ts';
import { listCustomers, readCustomer } from './read-customers.ts';
import { REGISTRATION, toRegistration } from './registration.ts';
import { threadsOfCustomer, threadsUnder } from './find-by-rule.ts';
import { nameAuthor } from '../../platform/db/name-author.ts';
import { inLinkingTransaction } from '../../platform/db/linking-transaction.ts';
import { lockRules, renewRulesVersion } from './rules-lock.ts';
import { lockAndRelink } from './relink-customers.ts';
import { run, statement, type Executor } from '../../platform/db/statement.ts';

/** Addresses that a customer's registration shows; all addresses set by hand are among them. */
const MAX_LISTED = 2000;

/** @param patient for changes: relinking past mail takes longer the more mail there is, so its statements have a time limit of their own */
export function createCustomerStore(pool: Pool, patient: Pool, reads: Executor = pool): CustomerStore {
  return {
    readRegistration: (customerId) => readRegistration(pool, customerId),

    readCustomer: (customerId, within) => readCustomer(reads, customerId, within),
    listCustomers: (query) => listCustomers(reads, query),

    replaceRegistration: (customerId, rules, companyId, name, { keyId, check } = UNCHECKED) =>
      inLinkingTransaction(patient, async (trx): Promise<Relinked> => {
        await nameAuthor(trx, keyId);
        await lockRules(trx);
        check(await readRegistration(trx, customerId));
        await writeCustomer(trx, customerId, name);
        const changed = {
          addresses: await replaceAddresses(trx, customerId, rules.addresses),
          domains: await replaceDomains(trx, customerId, rules.domains),
        };
        const isOtherCompany = await replaceCompany(trx, customerId, companyId);
        const threads = new Set([
          ...(await threadsUnder(trx, changed)),
          ...(isOtherCompany ? await threadsOfCustomer(trx, customerId) : []),
        ]);
        const relinked = await lockAndRelink(trx, [...threads]);
        await renewRulesVersion(trx);
        return relinked;
      }),

    changeAddress: (customerId, address, act, keyId) =>
      inLinkingTransaction(patient, async (trx): Promise<Relinked> => {
        await nameAuthor(trx, keyId);
        await lockRules(trx);
        if (act === 'register') await writeCustomer(trx, customerId, undefined);
        const addresses =
          act === 'register'
            ? await registerAddresses(trx, customerId, [address])
            : await removeAddress(trx, customerId, address);
        const relinked = await lockAndRelink(trx, [...(await threadsUnder(trx, { addresses, domains: [] }))]);
        await renewRulesVersion(trx);
        return relinked;
      }),

    listAmbiguous: (after, limit) => listAmbiguous(pool, after, limit),
    listAmbiguousEmails: (request) => listAmbiguousEmails(pool, request),
  };
}

const UNCHECKED: ReplaceOptions = { keyId: null, check: () => undefined };

async function readRegistration(executor: Executor, customerId: string): Promise<CustomerRegistration> {
  const [row] = await run(executor, REGISTRATION, { customerId, limit: MAX_LISTED + 1 });
  return toRegistration(row, MAX_LISTED);
}

/** The person to erase. */
export interface ErasedPerson {
  /** In lower case. */
  readonly addresses: readonly string[];
  /** Erased with everything that is registered for this customer; null: an address was named. */
  readonly customerId: string | null;
  /** Customers that are erased as well if they have no other address, no domain and no email. */
  readonly candidates: readonly string[];
}

/**
 * Erases all rules about the addresses, and everything that is registered for the customers, with all consequences for the remaining mail.
 *
 * @returns how many rules there were
 */
export async function eraseRules(
  trx: Executor,
  { addresses, customerId, candidates }: ErasedPerson,
): Promise<number> {
  await lockRules(trx);
  const erased = await eraseAddresses(trx, addresses, customerId);
  const domains = customerId === null ? [] : await replaceDomains(trx, customerId, []);
  const empty = await run(trx, LEFT_EMPTY, { candidates });
  let registered = 0;
  for (const id of [...(customerId === null ? [] : [customerId]), ...empty.map((one) => one.id)]) {
    const hadName = await eraseCustomer(trx, id);
    const hadCompany = await replaceCompany(trx, id, null);
    registered += Number(hadName || hadCompany);
  }
  await lockAndRelink(trx, [...(await threadsUnder(trx, { addresses: erased, domains }))].sort());
  await renewRulesVersion(trx);
  return erased.length + domains.length + registered;
}

/** Returns the domain rules that have changed. */
async function replaceDomains(
  trx: Executor,
  customerId: string,
  domains: readonly string[],
): Promise<readonly string[]> {
  const rows = await run(trx, REPLACE_DOMAINS, { customerId, domains });
  return rows.map(({ domain }) => domain);
}

/** Returns true if the company has changed. */
async function replaceCompany(
  trx: Executor,
  customerId: string,
  companyId: string | null | undefined,
): Promise<boolean> {
  if (companyId === undefined) return false;
  const rows =
    companyId === null
      ? await run(trx, REMOVE_COMPANY, { customerId })
      : await run(trx, REPLACE_COMPANY, { customerId, companyId });
  return rows.length > 0;
}

const LEFT_EMPTY = statement(
  'customers-left-empty',
  `select c.id from unnest($candidates::uuid[]) c (id)
  where not exists (select from customer_addresses a where a.customer_id = c.id and a.origin <> 'removed')
    and not exists (select from customer_domains d where d.customer_id = c.id)
    and not exists (select from emails e where e.customer_id = c.id)
  order by c.id`,
).narrow<{ id: string }>();

const REPLACE_DOMAINS = statement(
  'replace-domains',
  `with removed as (
      delete from customer_domains
      where customer_id = $customerId and domain <> all ($domains::text[])
      returning domain
    ), registered as (
      insert into customer_domains (domain, customer_id)
      select domain, $customerId from unnest($domains::text[]) domain
      on conflict do nothing
      returning domain
    )
    select domain from removed union select domain from registered`,
).narrow<{ domain: string }>();

const REMOVE_COMPANY = statement(
  'remove-company',
  `delete from customer_companies where customer_id = $customerId returning customer_id`,
);

const REPLACE_COMPANY = statement(
  'replace-company',
  `insert into customer_companies as c (customer_id, company_id) values ($customerId, $companyId)
        on conflict (customer_id) do update set company_id = excluded.company_id
        where c.company_id <> excluded.company_id
        returning customer_id`,
);
