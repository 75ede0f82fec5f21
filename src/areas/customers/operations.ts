/**
 * Customers, and which mail belongs to which of them, in the API: /api/customers and /api/customer/{customerId}. What is registered for a
 * customer counts for the mail of all accounts.
 */
import { MAX_SHOWN_NAME_CHARS } from '../../core/address/display-name.ts';
import { invalidRequest } from '../../core/errors.ts';
import { MAX_QUERY_CHARS } from '../../core/search/query.ts';
import { operationsWith, type ActFields } from '../../platform/operation/declaration.ts';
import type { Value } from '../../platform/operation/values.ts';
import { AccountId, LONG_PAGE_PARAMETERS, pageSchema } from '../../platform/schemas/page-schemas.ts';
import {
  CustomerParams,
  NullableTimestamp,
  NullableUuid,
  record,
  Uuid,
} from '../../platform/schemas/schemas.ts';
import { MAX_COUNTED, type CustomerRegistration, type Relinked } from './customer-ports.ts';
import { IF_THIS_VERSION, versionOf } from '../../platform/schemas/entry-version.ts';
import type { Customers } from './customers.ts';
import { versionOfRegistration } from './registration-version.ts';

/** Maximum characters of a name. The same as in core/address/display-name.ts, which cuts names from mail. */
const CustomerName = {
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

const AddressClaim = record('AddressClaim', {
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

const DomainClaim = record('DomainClaim', {
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

const RegistrationVersion = {
  title: 'RegistrationVersion',
  $comment: 'Changes with the name, the company, the registered addresses and the domains, for `If-Match`.',
  type: 'integer',
  minimum: 1,
} as const;

const RegistrationSchema = record('CustomerRegistration', {
  ...registrationProperties,
  version: RegistrationVersion,
});

const RegisteredSchema = record('CustomerRegistered', {
  ...registrationProperties,
  version: RegistrationVersion,
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

const CustomerSchema = record('Customer', {
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

const CustomersSchema = pageSchema(
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

const AmbiguousClaimsSchema = pageSchema('AmbiguousClaims', 'claims', AmbiguousClaimSchema);

/** Enough for the allowed number of addresses and domains, with room for names. */
const MAX_BODY_BYTES = 512 * 1024;

const RegistrationBody = {
  type: 'object',
  title: 'CustomerRegistrationRequest',
  additionalProperties: false,
  required: ['addresses', 'domains'],
  properties: {
    addresses: {
      type: 'array',
      items: { anyOf: [{ type: 'string' }, AddressClaim] },
      description:
        'At most 1,000. Entries of a response can be sent back with `complete`, and are refused when they differ from the ' +
        'stored ones; learned ones stay learned.',
    },
    domains: {
      type: 'array',
      items: { anyOf: [{ type: 'string' }, DomainClaim] },
      description:
        '`example.org`, or `*.example.org` for all below it. At most 200. Entries of a response can be sent back with ' +
        '`complete`.',
    },
    company_id: { ...NullableUuid, description: 'Absent: unchanged; null: removed.' },
    name: { ...CustomerName, description: 'Display name. Absent: unchanged; null: removed.' },
    customer_id: { ...Uuid, description: 'As in the response of GET; must match the customer of the path.' },
    complete: {
      type: 'boolean',
      description:
        'As in the response. False is refused, because entries missing in the response would be removed. Required when an entry ' +
        'of a response is sent back.',
    },
    version: {
      ...RegistrationVersion,
      description: 'As in the response; refused like another version in `If-Match`. Absent: any version.',
    },
  },
} as const;

const AddressBody = {
  type: 'object',
  title: 'CustomerAddressRequest',
  additionalProperties: false,
  required: ['address'],
  properties: { address: { type: 'string', minLength: 1, maxLength: 1000, description: 'One address.' } },
} as const;

/** Entries of a list that are logged; beyond them only their number. */
const MAX_TOLD = 100;

const params = CustomerParams.properties;
const tag = 'Customers';
const ADDRESS_ERRORS = ['invalid_address', 'header_injection'] as const;

interface Deps {
  readonly customers: Customers;
}

const operation = operationsWith<Deps>();

/** Of an operation that changes what is registered. */
const registering = {
  event: 'customer.registered',
  what: ({ customerId }: { readonly customerId: string }): ActFields => ({ customerId }),
  before: async ({ customerId }: { readonly customerId: string }, { customers }: Deps) =>
    actFields(await customers.registration(customerId)),
  after: ({ relinked, ...registration }: Value<typeof RegisteredSchema>): ActFields => ({
    ...actFields(registration),
    relinked,
  }),
} as const;

export const customerOperations = [
  operation({
    id: 'listCustomers',
    method: 'GET',
    path: '/api/customers',
    right: 'read',
    account: 'list',
    tag,
    summary: 'List or search customers',
    description:
      'Sorted by name, customers without a name last: every customer with registered data or mail; a new customer appears a ' +
      'moment after its first email. A key limited to accounts sees the customers with mail in these accounts and finds them ' +
      'by name only, since it may not read registered addresses.',
    query: {
      q: {
        type: 'string',
        minLength: 1,
        maxLength: MAX_QUERY_CHARS,
        description:
          'The beginnings of words of the name, in any order, or the beginning of an address or a domain. Letter case and ' +
          'accents of names make no difference. The first 1,000 of each are found.',
      },
      ...LONG_PAGE_PARAMETERS,
    },
    answer: 'One page.',
    output: CustomersSchema,
    run: (_caller, { q = null, within, limit, cursor = null }, { customers }) =>
      customers.list({ q, within, limit, cursor }),
  }),

  operation({
    id: 'getCustomer',
    method: 'GET',
    path: '/api/customer/:customerId',
    right: 'read',
    account: 'list',
    tag,
    summary: 'Read a customer',
    description:
      'Name, registered data, counts and activity. For an unknown customer all are empty. A key limited to accounts gets the ' +
      'data of these accounts, without addresses and domains, which belong to no account.',
    params,
    answer: 'The customer.',
    output: CustomerSchema,
    async run(_caller, { customerId, within }, { customers }) {
      const { counts, isComplete, ...customer } = await customers.read(customerId, within);
      return { ...customer, ...counts, customerId, complete: isComplete };
    },
  }),

  operation({
    id: 'getCustomerAddresses',
    method: 'GET',
    path: '/api/customer/:customerId/addresses',
    right: 'read',
    account: 'every',
    tag,
    summary: 'Read the addresses and domains of a customer',
    description: 'Registered addresses, and addresses learned from sends. An unknown customer has none.',
    params,
    answer: 'The registered data.',
    output: RegistrationSchema,
    versionOf,
    run: async (_caller, { customerId }, { customers }) =>
      toShown(customerId, await customers.registration(customerId)),
  }),

  operation({
    id: 'putCustomerAddresses',
    method: 'PUT',
    path: '/api/customer/:customerId/addresses',
    // The answer shows what was stored before.
    right: ['read', 'operate'],
    account: 'every',
    tag,
    summary: 'Set the addresses and domains of a customer',
    description:
      'Replaces all registered addresses and domains and relinks past mail before it responds, all or nothing. Learned ' +
      'addresses stay; `DELETE` removes one. Customers named by sends never change. Public domains are refused. A complete ' +
      'response of `GET` can be sent back.',
    params,
    ifMatch: IF_THIS_VERSION,
    body: RegistrationBody,
    bodyAs: 'body',
    maxBodyBytes: MAX_BODY_BYTES,
    answer: 'What is registered now; past mail is linked.',
    output: RegisteredSchema,
    versionOf,
    errors: [
      ...ADDRESS_ERRORS,
      'invalid_domain',
      'public_domain',
      'too_many_entries',
      'list_incomplete',
      'customer_changed',
    ],
    act: registering,
    async run(caller, { customerId, version, body }, { customers }) {
      const { customerId: namedId, complete: isComplete = null, name, companyId, addresses, domains } = body;
      const versions = [version, body.version ?? null];
      if (namedId !== undefined && namedId !== customerId)
        throw invalidRequest('malformed', { field: 'customer_id' });
      const made = await customers.register(caller, {
        customerId,
        name,
        companyId,
        addresses,
        domains,
        isComplete,
        versions,
      });
      return toRegistered(customerId, made);
    },
  }),

  operation({
    id: 'addCustomerAddress',
    method: 'POST',
    path: '/api/customer/:customerId/addresses',
    right: 'operate',
    account: 'every',
    tag,
    summary: 'Register one address of a customer',
    description: 'Other addresses stay. Past mail is linked before the response; a repeat changes nothing.',
    params,
    body: AddressBody,
    answer: 'What is registered now; past mail is linked.',
    output: RegisteredSchema,
    versionOf,
    errors: ADDRESS_ERRORS,
    act: registering,
    run: async (caller, { customerId, address }, { customers }) =>
      toRegistered(
        customerId,
        await customers.changeAddress(caller, { customerId, address, act: 'register' }),
      ),
  }),

  operation({
    id: 'removeCustomerAddress',
    method: 'DELETE',
    path: '/api/customer/:customerId/addresses/:address',
    right: 'operate',
    account: 'every',
    tag,
    summary: 'Remove one address of a customer',
    description:
      'Removes a registered or learned address; sends do not teach it again until it is registered. Past mail is linked anew ' +
      'before the response. An address that the customer does not have changes nothing. Needs no body; a body with fields is ' +
      'refused.',
    params: {
      ...params,
      address: {
        type: 'string',
        minLength: 1,
        maxLength: 1000,
        description: 'The address, percent-encoded.',
      },
    },
    answer: 'What is registered now; past mail is linked.',
    output: RegisteredSchema,
    versionOf,
    errors: ADDRESS_ERRORS,
    act: registering,
    run: async (caller, { customerId, address }, { customers }) =>
      toRegistered(customerId, await customers.changeAddress(caller, { customerId, address, act: 'remove' })),
  }),

  operation({
    id: 'listAmbiguousClaims',
    method: 'GET',
    path: '/api/customers/ambiguous',
    right: 'read',
    account: 'every',
    tag,
    summary: 'List addresses and domains claimed by several customers',
    description:
      'Addresses, then domains, each sorted. Mail from or to them has no customer until only one customer claims them.',
    query: LONG_PAGE_PARAMETERS,
    answer: 'One page.',
    output: AmbiguousClaimsSchema,
    run: (_caller, { limit, cursor = null }, { customers }) => customers.ambiguousClaims({ limit, cursor }),
  }),
];

function toShown(
  customerId: string,
  { isComplete, ...registration }: CustomerRegistration,
): Value<typeof RegistrationSchema> {
  return { ...registration, customerId, version: versionOfRegistration(registration), complete: isComplete };
}

function toRegistered(
  customerId: string,
  { registration, relinked }: { readonly registration: CustomerRegistration; readonly relinked: Relinked },
): Value<typeof RegisteredSchema> {
  return { ...toShown(customerId, registration), relinked };
}

function actFields({
  companyId,
  addresses,
  domains,
}: Pick<CustomerRegistration, 'companyId' | 'addresses' | 'domains'>): ActFields {
  return {
    companyId,
    addresses: addresses.slice(0, MAX_TOLD).map(({ address }) => address),
    addressCount: addresses.length,
    domains: domains.slice(0, MAX_TOLD).map(({ domain }) => domain),
    domainCount: domains.length,
  };
}
