/** The rules of customers, and the claims that several of them share. */
import { invalidRequest } from '../../core/errors.ts';
import { MAX_NAME_KEY_CHARS, toCustomerName } from '../../core/customer/customer-name.ts';
import { formatPrefixQuery, typedWords } from '../../core/search/prefix-query.ts';
import {
  normaliseAddress,
  parseCustomerRules,
  readAddressRule,
  readDomainRule,
} from '../../core/customer/rules.ts';
import { isClaim, refuseIncomplete, refuseOtherClaims } from './given-back.ts';
import { refuseOtherVersion } from './registration-version.ts';
import { keyIdOf, type Caller } from '../../core/keys/caller.ts';
import type { AmbiguousEmailsRequest } from './use-cases.ts';
import type { EmailsPage } from '../../platform/db/emails-json.ts';
import {
  createCursorForm,
  PLACE_CURSOR,
  readPage,
  UUID,
  type PageRequest,
} from '../../platform/base/paging.ts';
import type {
  AddressChange,
  RegistrationRequest,
  RuleKey,
  CustomerPlace,
  CustomerSearch,
  CustomerStore,
} from './customer-ports.ts';

export type Customers = ReturnType<typeof createCustomers>;

export function createCustomers(store: CustomerStore) {
  return {
    /** An unknown customer has nothing. `within`: only the mail of these accounts; null: of all. */
    read: (customerId: string, within: readonly string[] | null) => store.readCustomer(customerId, within),

    /** By name, those without one last. `q`: as typed; null: all. Throws `invalid_cursor`. */
    async list({
      q,
      within,
      ...request
    }: PageRequest & { readonly q: string | null; readonly within: readonly string[] | null }) {
      const search = q === null ? null : toSearch(q);
      const { items, nextCursor } = await readPage(
        CUSTOMER_CURSOR,
        request,
        (after, limit) => store.listCustomers({ search, within, limit, after }),
        (last) => last,
      );
      return { customers: items, nextCursor };
    },

    registration: (customerId: string) => store.readRegistration(customerId),

    /**
     * Replaces everything that is registered for a customer and links past mail by it; what sends taught stays. Throws `invalid_address`,
     * `invalid_domain`, `header_injection`, `public_domain`, `too_many_entries`, `customer_changed`; for lists that were read
     * `list_incomplete`, and `invalid_request` when an entry differs from what is stored.
     */
    async register(caller: Caller, request: RegistrationRequest) {
      const { customerId, name, companyId, addresses, domains, versions } = request;
      refuseIncomplete(request);
      const rules = parseCustomerRules(
        // What was learned stays in any case.
        addresses.map((one) => (!isClaim(one) ? one : one.origin === 'learned' ? null : one.address)),
        domains.map((one) => (isClaim(one) ? one.domain : one)),
      );
      const shown = typeof name === 'string' ? toCustomerName(name) : name;
      const relinked = await store.replaceRegistration(customerId, rules, companyId, shown, {
        keyId: keyIdOf(caller),
        check(stored) {
          for (const version of versions) refuseOtherVersion(version, stored);
          refuseOtherClaims(request, stored);
        },
      });
      return { registration: await store.readRegistration(customerId), relinked };
    },

    /**
     * Registers one address, or removes it, registered or learned, so that sends do not teach it again. Throws
     * `invalid_address`, `header_injection`.
     */
    async changeAddress(caller: Caller, { customerId, address, act }: AddressChange) {
      const rule = readAddressRule(address, 'address');
      const relinked = await store.changeAddress(customerId, rule, act, keyIdOf(caller));
      return { registration: await store.readRegistration(customerId), relinked };
    },

    /** Addresses and domains that several customers claim. Throws `invalid_cursor`. */
    async ambiguousClaims(request: PageRequest) {
      const { items, nextCursor } = await readPage(RULE_CURSOR, request, store.listAmbiguous, (last) => last);
      return { claims: items, nextCursor };
    },

    async listAmbiguousEmails(request: AmbiguousEmailsRequest): Promise<EmailsPage> {
      const { limit, cursor } = request;
      const after = PLACE_CURSOR.parse(cursor);
      const { emails, next } = await store.listAmbiguousEmails({ rule: readRule(request), limit, after });
      return { emails, nextCursor: PLACE_CURSOR.format(next) };
    },
  };
}

const toSearch = (q: string): CustomerSearch => ({
  words: formatPrefixQuery(typedWords(q)),
  beginning: normaliseAddress(q.trim()),
});

function readRule({ address, domain }: AmbiguousEmailsRequest): RuleKey | null {
  if (address !== null && domain !== null) {
    throw invalidRequest('address_and_domain');
  }
  if (address !== null) return { kind: 'address', value: readAddressRule(address, 'address') };
  return domain === null ? null : { kind: 'domain', value: readDomainRule(domain, 'domain') };
}

const CUSTOMER_FORM = new RegExp(`^([01]):([0-9a-f-]{36}):([^\\p{Cc}]{0,${2 * MAX_NAME_KEY_CHARS}})$`, 'su');

const CUSTOMER_CURSOR = createCursorForm<CustomerPlace>(
  ({ isUnnamed, nameKey, customerId }) => `${isUnnamed ? 1 : 0}:${customerId}:${nameKey}`,
  (text) => {
    const [, isUnnamed, customerId = '', nameKey = ''] = CUSTOMER_FORM.exec(text) ?? [];
    return UUID.test(customerId) ? { isUnnamed: isUnnamed === '1', nameKey, customerId } : null;
  },
);

/** Kind and value of the last rule of a page. */
const RULE_CURSOR = createCursorForm<RuleKey>(
  ({ kind, value }) => `${kind}:${value}`,
  (text) => {
    const [, kind, value] = /^(address|domain):([^\p{Cc}]{1,1000})$/su.exec(text) ?? [];
    return value === undefined || (kind !== 'address' && kind !== 'domain') ? null : { kind, value };
  },
);
