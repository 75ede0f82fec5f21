/** The rules of customers, and what several of them claim. */
import { invalidRequest, ServiceError } from '../../core/errors.ts';
import { parseCustomerRules, readAddressRule, readDomainRule } from '../../core/customer/rules.ts';
import type { AmbiguousEmailsRequest, CustomerUseCases } from './use-cases.ts';
import { nextCursor, parseCursor } from '../base/cursor.ts';
import type { ClaimKey, CustomerStore } from './customer-ports.ts';

type Customers = Pick<
  CustomerUseCases,
  'readCustomerRegistration' | 'registerCustomer' | 'listAmbiguousClaims' | 'listAmbiguousEmails'
>;

export function createCustomers(store: CustomerStore): Customers {
  return {
    readCustomerRegistration: (customerId) => store.readRegistration(customerId),

    async registerCustomer({ customerId, companyId, addresses, domains }) {
      const rules = parseCustomerRules(addresses, domains);
      const relinked = await store.replaceRegistration(customerId, rules, companyId);
      return { registration: await store.readRegistration(customerId), relinked };
    },

    async listAmbiguousClaims({ limit, cursor }) {
      // One more than asked for tells whether there is another page.
      const claims = await store.listAmbiguous(cursor === null ? null : parseClaim(cursor), limit + 1);
      const page = claims.slice(0, limit);
      const last = page.at(-1);
      return {
        claims: page,
        nextCursor: claims.length > page.length && last !== undefined ? formatClaim(last) : null,
      };
    },

    async listAmbiguousEmails(request) {
      const { limit, cursor } = request;
      const after = cursor === null ? null : parseCursor(cursor);
      const { emails, next } = await store.listAmbiguousEmails({ claim: readClaim(request), limit, after });
      return { emails, nextCursor: nextCursor(next) };
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

/** Page cursors of the claims: kind and value of the last one of a page. Base64url without padding. */
function formatClaim({ kind, value }: ClaimKey): string {
  return Buffer.from(`${kind}:${value}`).toString('base64url');
}

/** Throws `invalid_cursor`. */
function parseClaim(text: string): ClaimKey {
  const decoded = Buffer.from(text, 'base64url').toString('utf8');
  const [, kind, value] = /^(address|domain):([^\p{Cc}]{1,1000})$/su.exec(decoded) ?? [];
  if (value === undefined || (kind !== 'address' && kind !== 'domain'))
    throw new ServiceError('invalid_cursor');
  return { kind, value };
}
