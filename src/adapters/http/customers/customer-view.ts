/** Rules of customers as JSON, and their schemas. */
import type { XStatic } from 'typebox/schema';
import type {
  AmbiguousClaim,
  CustomerRegistration,
  Relinked,
} from '../../../app/customers/customer-ports.ts';
import { pageSchema } from '../schemas/page-schemas.ts';
import { NullableUuid, record, Uuid } from '../schemas/schemas.ts';

const claimProperties = {
  status: {
    title: 'ClaimStatus',
    type: 'string',
    enum: ['decides', 'ambiguous', 'overruled'],
    description:
      '`ambiguous`: other customers claim the same with equal right, so none of them gets the mail. `overruled`: it was ' +
      'learned, and another customer has it by hand.',
  },
  other_customer_ids: { type: 'array', items: Uuid, description: 'Who claims the same; at most 20.' },
} as const;

const registrationProperties = {
  customer_id: Uuid,
  company_id: {
    ...NullableUuid,
    description: 'The company of its emails where neither send nor thread names one.',
  },
  addresses: {
    type: 'array',
    items: record('AddressClaim', {
      address: { type: 'string', description: '`local@domain`, lower-case.' },
      origin: {
        type: 'string',
        enum: ['registered', 'learned'],
        description: 'Set by hand, or taught by a send that named the customer.',
      },
      ...claimProperties,
    }),
  },
  domains: {
    type: 'array',
    items: record('DomainClaim', {
      domain: { type: 'string', description: '`example.org`, or `*.example.org` for all below it.' },
      ...claimProperties,
    }),
  },
  complete: {
    type: 'boolean',
    description: 'False when there are more learned addresses than the 2,000 listed.',
  },
} as const;

export const RegistrationSchema = record('CustomerRegistration', registrationProperties);

export const RegisteredSchema = record('CustomerRegistered', {
  ...registrationProperties,
  relinked: {
    ...record('Relinked', {
      linked: { type: 'integer', minimum: 0, description: 'Had none.' },
      moved: { type: 'integer', minimum: 0, description: 'Had another one.' },
      unlinked: { type: 'integer', minimum: 0, description: 'Have none now.' },
    }),
    description: 'Past emails that have another customer now.',
  },
});

const AmbiguousClaimSchema = record('AmbiguousClaim', {
  kind: { type: 'string', enum: ['address', 'domain'] },
  value: { type: 'string', description: 'The address, or the domain rule.' },
  customer_ids: { type: 'array', items: Uuid, description: 'At most 20.' },
  customer_count: { type: 'integer', minimum: 2 },
  email_count: {
    type: 'integer',
    minimum: 0,
    description: 'Emails from or to it without a customer, counted up to 10,000.',
  },
});

export const AmbiguousClaimsSchema = pageSchema('AmbiguousClaims', 'claims', AmbiguousClaimSchema);

export function toRegistrationJson(
  customerId: string,
  { companyId, addresses, domains, isComplete }: CustomerRegistration,
): XStatic<typeof RegistrationSchema> {
  return {
    customer_id: customerId,
    company_id: companyId,
    addresses: addresses.map(({ address, origin, status, otherCustomerIds }) => ({
      address,
      origin,
      status,
      other_customer_ids: [...otherCustomerIds],
    })),
    domains: domains.map(({ domain, status, otherCustomerIds }) => ({
      domain,
      status,
      other_customer_ids: [...otherCustomerIds],
    })),
    complete: isComplete,
  };
}

export function toRegisteredJson(
  customerId: string,
  registration: CustomerRegistration,
  { linked, moved, unlinked }: Relinked,
): XStatic<typeof RegisteredSchema> {
  return { ...toRegistrationJson(customerId, registration), relinked: { linked, moved, unlinked } };
}

export function toAmbiguousClaimJson(claim: AmbiguousClaim) {
  return {
    kind: claim.kind,
    value: claim.value,
    customer_ids: [...claim.customerIds],
    customer_count: claim.customerCount,
    email_count: claim.emailCount,
  };
}
