/** The rules of customers, and what several of them claim. */
import { invalidRequest } from '../../core/errors.ts';
import { parseCustomerRules, readAddressRule, readDomainRule } from '../../core/customer/rules.ts';
import type { AmbiguousEmailsRequest, CustomerUseCases } from './use-cases.ts';
import { createCursorForm, PLACE_CURSOR, readPage } from '../base/paging.ts';
import type { ClaimKey, CustomerStore } from './customer-ports.ts';

type Customers = Pick<
  CustomerUseCases,
  'readCustomerRegistration' | 'registerCustomer' | 'listAmbiguousClaims' | 'listAmbiguousEmails'
>;

export function createCustomers(store: CustomerStore): Customers {
  return {
    readCustomerRegistration: (customerId) => store.readRegistration(customerId),

    async registerCustomer({ customerId, companyId, addresses, domains, authorKeyId = null }) {
      const rules = parseCustomerRules(addresses, domains);
      const relinked = await store.replaceRegistration(customerId, rules, companyId, authorKeyId);
      return { registration: await store.readRegistration(customerId), relinked };
    },

    async listAmbiguousClaims(request) {
      const { items, nextCursor } = await readPage(
        CLAIM_CURSOR,
        request,
        store.listAmbiguous,
        (last) => last,
      );
      return { claims: items, nextCursor };
    },

    async listAmbiguousEmails(request) {
      const { limit, cursor } = request;
      const after = PLACE_CURSOR.parse(cursor);
      const { emails, next } = await store.listAmbiguousEmails({ claim: readClaim(request), limit, after });
      return { emails, nextCursor: PLACE_CURSOR.format(next) };
    },
  };
}

function readClaim({ address, domain }: AmbiguousEmailsRequest): ClaimKey | null {
  if (address !== null && domain !== null) {
    throw invalidRequest('address_and_domain');
  }
  if (address !== null) return { kind: 'address', value: readAddressRule(address, 'address') };
  return domain === null ? null : { kind: 'domain', value: readDomainRule(domain, 'domain') };
}

/** Kind and value of the last claim of a page. */
const CLAIM_CURSOR = createCursorForm<ClaimKey>(
  ({ kind, value }) => `${kind}:${value}`,
  (text) => {
    const [, kind, value] = /^(address|domain):([^\p{Cc}]{1,1000})$/su.exec(text) ?? [];
    return value === undefined || (kind !== 'address' && kind !== 'domain') ? null : { kind, value };
  },
);
