/**
 * Entries of a registration that a caller gives back as they were read. Their computed fields can't be changed, and a list that was read in
 * part would remove what it lacks: both are refused, never ignored.
 */
import { invalidRequest, ServiceError } from '../../core/errors.ts';
import { normaliseAddress } from '../../core/customer/rules.ts';
import type {
  AddressClaim,
  CustomerRegistration,
  DomainClaim,
  RegistrationRequest,
} from './customer-ports.ts';

/** As text: an entry to register. As a claim: an entry as it was read. */
export const isClaim = <T extends object>(entry: string | T): entry is T => typeof entry !== 'string';

/** Throws `list_incomplete`. A list of texts is the caller's own; one that was read is whole only if its answer said so. */
export function refuseIncomplete({ addresses, domains, isComplete }: RegistrationRequest): void {
  const isRead = [...addresses, ...domains].some(isClaim);
  if (isComplete === false || (isRead && isComplete === null)) throw new ServiceError('list_incomplete');
}

/** Throws `invalid_request`, which names the first field that differs from what is stored. */
export function refuseOtherClaims(
  { addresses, domains }: Pick<RegistrationRequest, 'addresses' | 'domains'>,
  stored: CustomerRegistration,
): void {
  const addressOf = ({ address }: AddressClaim) => normaliseAddress(address);
  const domainOf = ({ domain }: DomainClaim) => domain;
  refuseDiffering('addresses', addresses, stored.addresses, addressOf);
  refuseDiffering('domains', domains, stored.domains, domainOf);
}

/** Each field of a claim, as callers name it. */
const FIELD_NAMES: Readonly<Record<Exclude<keyof AddressClaim, 'address'>, string>> = {
  origin: 'origin',
  accountIds: 'account_ids',
  status: 'status',
  otherCustomerIds: 'other_customer_ids',
};

function refuseDiffering<T extends object>(
  list: string,
  given: readonly (string | T)[],
  stored: readonly T[],
  keyOf: (claim: T) => string,
): void {
  const known = new Map(stored.map((claim) => [keyOf(claim), claim as Readonly<Record<string, unknown>>]));
  for (const [index, claim] of given.entries()) {
    if (!isClaim(claim)) continue;
    const field = `${list}[${index}]`;
    const same = known.get(keyOf(claim));
    if (same === undefined) throw invalidRequest('not_stored', { field });
    const fields = claim as Readonly<Record<string, unknown>>;
    for (const [name, shown] of Object.entries(FIELD_NAMES)) {
      if (name in fields && JSON.stringify(fields[name]) !== JSON.stringify(same[name]))
        throw invalidRequest('stored_differently', { field: `${field}.${shown}` });
    }
  }
}
