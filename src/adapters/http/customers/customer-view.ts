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
import { AccountId, pageSchema } from '../../../platform/schemas/page-schemas.ts';
import { NullableTimestamp, NullableUuid, record, Uuid } from '../../../platform/schemas/schemas.ts';

/** Maximum characters of a name. The same as in core/address/display-name.ts, which cuts names from mail. */
export const CustomerName = {
  title: 'CustomerName',
  $comment: 'On one line, without invisible characters such as direction marks.',
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
  other_customer_ids: {
    type: 'array',
    items: Uuid,
    description: 'Customers with the same claim; at most 20.',
  },
} as const;

export const AddressClaim = record('AddressClaim', {
  address: { type: 'string', description: '`local@domain`, lower-case.' },
  origin: {
    type: 'string',
    enum: ['registered', 'learned'],
    description: '`registered`: set by hand. `learned`: from an accepted send that named the customer.',
  },
  account_ids: {
    anyOf: [{ type: 'array', items: AccountId }, { type: 'null' }],
    description:
      'Accounts in which the address counts, because only keys limited to these accounts taught it; null: all accounts.',
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
    description: 'Company of emails for which neither the send nor the thread names one.',
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
      linked: { type: 'integer', minimum: 0, description: 'Emails that had no customer.' },
      moved: { type: 'integer', minimum: 0, description: 'Emails that had another customer.' },
      unlinked: { type: 'integer', minimum: 0, description: 'Emails that have no customer now.' },
    }),
    description: 'Past emails whose customer changed.',
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
  description: 'Date of the first email; null when there is none.',
};
const LastActivity = {
  ...NullableTimestamp,
  description: 'Date of the newest email; null when there is none.',
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
