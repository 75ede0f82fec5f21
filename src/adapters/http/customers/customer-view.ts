/** Rules of customers as JSON, and their schemas. */
import type { XStatic } from 'typebox/schema';
import type {
  AddressClaim as AddressClaimOf,
  AmbiguousRule,
  CustomerListing,
  CustomerRecord,
  CustomerRegistration,
  DomainClaim as DomainClaimOf,
  Relinked,
} from '../../../app/customers/customer-ports.ts';
import { MAX_COUNTED } from '../../../app/customers/customer-ports.ts';
import { MAX_SHOWN_NAME_CHARS } from '../../../core/address/display-name.ts';
import { AccountId, pageSchema } from '../schemas/page-schemas.ts';
import { NullableTimestamp, NullableUuid, record, Uuid } from '../schemas/schemas.ts';

/** Maximum characters of a name. The same as in core/address/display-name.ts, which cuts names from mail. */
export const CustomerName = {
  title: 'CustomerName',
  $comment:
    'In one line; signs that are not shown, such as those that turn the direction of text, are left out.',
  type: ['string', 'null'],
  maxLength: MAX_SHOWN_NAME_CHARS,
} as const;

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

export const AddressClaim = record('AddressClaim', {
  address: { type: 'string', description: '`local@domain`, lower-case.' },
  origin: {
    type: 'string',
    enum: ['registered', 'learned'],
    description: 'Set by hand, or taught by a send that named the customer and was accepted.',
  },
  account_ids: {
    anyOf: [{ type: 'array', items: AccountId }, { type: 'null' }],
    description:
      'It counts in these accounts alone, since only keys that are limited to accounts taught it; null: in all.',
  },
  ...claimProperties,
});

export const DomainClaim = record('DomainClaim', {
  domain: { type: 'string', description: '`example.org`, or `*.example.org` for all below it.' },
  ...claimProperties,
});

const registrationProperties = {
  customer_id: Uuid,
  name: CustomerName,
  company_id: {
    ...NullableUuid,
    description: 'The company of its emails where neither send nor thread names one.',
  },
  addresses: {
    type: 'array',
    items: AddressClaim,
  },
  domains: {
    type: 'array',
    items: DomainClaim,
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

const Count = {
  title: 'CustomerCount',
  $comment: `Counted up to ${MAX_COUNTED.toLocaleString('en')}.`,
  type: 'integer',
  minimum: 0,
  maximum: MAX_COUNTED,
} as const;

const FirstActivity = {
  ...NullableTimestamp,
  description: 'The date of its first email; null: it has none.',
};
const LastActivity = {
  ...NullableTimestamp,
  description: 'The date of its newest email; null: it has none.',
};

export const CustomerSchema = record('Customer', {
  ...registrationProperties,
  complete: {
    type: 'boolean',
    description:
      'False when there are more addresses than the 200 listed, or when the caller may not see them.',
  },
  emails_inbound: Count,
  emails_outbound: Count,
  threads_open: Count,
  threads_done: Count,
  first_activity_at: FirstActivity,
  last_activity_at: LastActivity,
});

export const CustomersSchema = pageSchema(
  'Customers',
  'customers',
  record('CustomerListing', {
    customer_id: Uuid,
    name: CustomerName,
    company_id: NullableUuid,
    last_activity_at: LastActivity,
  }),
);

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

export function toCustomerJson(
  customerId: string,
  { counts, firstActivityAt, lastActivityAt, ...registration }: CustomerRecord,
): XStatic<typeof CustomerSchema> {
  return {
    ...toRegistrationJson(customerId, registration),
    emails_inbound: counts.emailsInbound,
    emails_outbound: counts.emailsOutbound,
    threads_open: counts.threadsOpen,
    threads_done: counts.threadsDone,
    first_activity_at: firstActivityAt?.toISOString() ?? null,
    last_activity_at: lastActivityAt?.toISOString() ?? null,
  };
}

export const toCustomerListingJson = ({ customerId, name, companyId, lastActivityAt }: CustomerListing) => ({
  customer_id: customerId,
  name,
  company_id: companyId,
  last_activity_at: lastActivityAt?.toISOString() ?? null,
});

export function toRegistrationJson(
  customerId: string,
  { name, companyId, addresses, domains, isComplete }: CustomerRegistration,
): XStatic<typeof RegistrationSchema> {
  return {
    customer_id: customerId,
    name,
    company_id: companyId,
    addresses: addresses.map(({ address, origin, accountIds, status, otherCustomerIds }) => ({
      address,
      origin,
      account_ids: accountIds === null ? null : [...accountIds],
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

/** An entry that a caller gives back. */
export function toAddressClaim(json: XStatic<typeof AddressClaim>): AddressClaimOf {
  return {
    address: json.address,
    origin: json.origin,
    accountIds: json.account_ids,
    status: json.status,
    otherCustomerIds: json.other_customer_ids.map((id) => id.toLowerCase()),
  };
}

export function toDomainClaim(json: XStatic<typeof DomainClaim>): DomainClaimOf {
  return {
    domain: json.domain,
    status: json.status,
    otherCustomerIds: json.other_customer_ids.map((id) => id.toLowerCase()),
  };
}

export function toRegisteredJson(
  customerId: string,
  registration: CustomerRegistration,
  { linked, moved, unlinked }: Relinked,
): XStatic<typeof RegisteredSchema> {
  return { ...toRegistrationJson(customerId, registration), relinked: { linked, moved, unlinked } };
}

export function toAmbiguousClaimJson(rule: AmbiguousRule) {
  return {
    kind: rule.kind,
    value: rule.value,
    customer_ids: [...rule.customerIds],
    customer_count: rule.customerCount,
    email_count: rule.emailCount,
  };
}
