/**
 * Which mail belongs to which customer: GET and PUT /api/customer/{customerId}/addresses; and rules and emails that belong to none because
 * several customers claim them: GET /api/customers/ambiguous and /api/customers/ambiguous/emails.
 */
import type { HttpContext, HttpServer } from '../answers/context.ts';
import { LONG_PAGE_PARAMETERS, toPageRequest, PAGE_ERRORS } from '../../../platform/schemas/page-schemas.ts';
import {
  AddressClaim,
  AmbiguousClaimsSchema,
  CustomerName,
  DomainClaim,
  RegisteredSchema,
  RegistrationSchema,
  toAmbiguousClaimJson,
  toAddressClaim,
  toDomainClaim,
  toRegisteredJson,
  toRegistrationJson,
} from './customer-view.ts';
import { EmailListings } from '../emails/email-schemas.ts';
import { invalidRequest } from '../../../core/errors.ts';
import { JSON_BODY_ERRORS, optionalJsonBody, smallJsonBody } from '../body/json-body.ts';
import { errorResponses } from '../../../platform/schemas/error-schemas.ts';
import { CustomerParams, jsonResponse, NullableUuid, Uuid } from '../../../platform/schemas/schemas.ts';

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
  },
} as const;

const AddressBody = {
  type: 'object',
  title: 'CustomerAddressRequest',
  additionalProperties: false,
  required: ['address'],
  properties: { address: { type: 'string', minLength: 1, maxLength: 1000, description: 'One address.' } },
} as const;

const AddressParams = {
  type: 'object',
  required: ['customerId', 'address'],
  properties: {
    ...CustomerParams.properties,
    address: { type: 'string', minLength: 1, maxLength: 1000, description: 'The address, percent-encoded.' },
  },
} as const;

const ADDRESS_ERRORS = [
  ...JSON_BODY_ERRORS,
  'invalid_uuid',
  'invalid_address',
  'header_injection',
  'unauthorized',
  'forbidden_account',
  'database_unavailable',
] as const;

const ClaimsQuery = {
  type: 'object',
  additionalProperties: false,
  properties: LONG_PAGE_PARAMETERS,
} as const;

const EmailsQuery = {
  type: 'object',
  // A misspelt filter must not return emails that it was meant to exclude.
  additionalProperties: false,
  properties: {
    address: { type: 'string', minLength: 1, maxLength: 1000, description: 'Only those from or to it.' },
    domain: {
      type: 'string',
      minLength: 1,
      maxLength: 1000,
      description: 'Only those under this domain rule.',
    },
    ...LONG_PAGE_PARAMETERS,
  },
} as const;

export function registerCustomerRuleRoutes(
  app: HttpServer,
  { applicationFor, operationsFor, limits, sendEmailPage }: HttpContext,
): void {
  app.get(
    '/api/customer/:customerId/addresses',
    {
      schema: {
        operationId: 'getCustomerAddresses',
        right: 'read',
        tags: ['Customers'],
        summary: 'Read the addresses and domains of a customer',
        description: 'Registered addresses, and addresses learned from sends. An unknown customer has none.',
        params: CustomerParams,
        response: {
          200: jsonResponse('The registered data.', RegistrationSchema),
          ...errorResponses('invalid_uuid', 'unauthorized', 'forbidden_account', 'database_unavailable'),
        },
      },
    },
    async (request) => {
      const customerId = request.params.customerId.toLowerCase();
      return toRegistrationJson(
        customerId,
        await applicationFor(request).readCustomerRegistration(customerId),
      );
    },
  );

  app.put(
    '/api/customer/:customerId/addresses',
    {
      schema: {
        operationId: 'putCustomerAddresses',
        // The answer shows what was stored before.
        right: ['read', 'operate'],
        tags: ['Customers'],
        summary: 'Set the addresses and domains of a customer',
        description:
          'Replaces all registered addresses and domains and relinks past mail before it responds, all or nothing. Learned ' +
          'addresses stay; `DELETE` removes one. Customers named by sends never change. Public domains are refused. A complete ' +
          'response of `GET` can be sent back.',
        params: CustomerParams,
        body: RegistrationBody,
        response: {
          200: jsonResponse('Registered; past mail is linked.', RegisteredSchema),
          ...errorResponses(
            'invalid_json',
            'duplicate_field',
            'invalid_request',
            'invalid_uuid',
            'invalid_address',
            'invalid_domain',
            'public_domain',
            'header_injection',
            'too_many_entries',
            'list_incomplete',
            'unknown_field',
            'unauthorized',
            'forbidden_account',
            'request_timeout',
            'payload_too_large',
            'unsupported_media_type',
            'unsupported_content_encoding',
            'database_unavailable',
          ),
        },
      },
      preValidation: smallJsonBody(limits, MAX_BODY_BYTES),
    },
    async (request) => {
      const customerId = request.params.customerId.toLowerCase();
      const { addresses, domains, company_id: companyId, name, customer_id: namedId } = request.body;
      const { complete: isComplete = null } = request.body;
      if (namedId !== undefined && namedId.toLowerCase() !== customerId)
        throw invalidRequest('malformed', { field: 'customer_id' });
      const { registration, relinked } = await operationsFor(request).registerCustomer({
        customerId,
        name,
        companyId: companyId?.toLowerCase() ?? companyId,
        addresses: addresses.map((one) => (typeof one === 'string' ? one : toAddressClaim(one))),
        domains: domains.map((one) => (typeof one === 'string' ? one : toDomainClaim(one))),
        isComplete,
      });
      return toRegisteredJson(customerId, registration, relinked);
    },
  );

  app.post(
    '/api/customer/:customerId/addresses',
    {
      schema: {
        operationId: 'addCustomerAddress',
        right: 'operate',
        tags: ['Customers'],
        summary: 'Register one address of a customer',
        description:
          'Other addresses stay. Past mail is linked before the response; a repeat changes nothing.',
        params: CustomerParams,
        body: AddressBody,
        response: {
          200: jsonResponse('Registered; past mail is linked.', RegisteredSchema),
          ...errorResponses(...ADDRESS_ERRORS),
        },
      },
      preValidation: smallJsonBody(limits),
    },
    async (request) => {
      const customerId = request.params.customerId.toLowerCase();
      const { address } = request.body;
      const { registration, relinked } = await operationsFor(request).changeCustomerAddress({
        customerId,
        address,
        act: 'register',
      });
      return toRegisteredJson(customerId, registration, relinked);
    },
  );

  app.delete(
    '/api/customer/:customerId/addresses/:address',
    {
      schema: {
        operationId: 'removeCustomerAddress',
        right: 'operate',
        tags: ['Customers'],
        summary: 'Remove one address of a customer',
        description:
          'Removes a registered or learned address; sends do not teach it again until it is registered. Past mail is linked anew ' +
          'before the response. An address that the customer does not have changes nothing. Needs no body; a body with fields is ' +
          'refused.',
        params: AddressParams,
        response: {
          200: jsonResponse('Removed, and past mail is linked.', RegisteredSchema),
          ...errorResponses(...ADDRESS_ERRORS),
        },
      },
      preValidation: optionalJsonBody(limits),
    },
    async (request) => {
      const customerId = request.params.customerId.toLowerCase();
      const { address } = request.params;
      const { registration, relinked } = await operationsFor(request).changeCustomerAddress({
        customerId,
        address,
        act: 'remove',
      });
      return toRegisteredJson(customerId, registration, relinked);
    },
  );

  app.get(
    '/api/customers/ambiguous',
    {
      schema: {
        operationId: 'listAmbiguousClaims',
        right: 'read',
        tags: ['Customers'],
        summary: 'List addresses and domains claimed by several customers',
        description:
          'Addresses, then domains, each sorted. Mail from or to them has no customer until only one customer claims them.',
        querystring: ClaimsQuery,
        response: {
          200: jsonResponse('One page.', AmbiguousClaimsSchema),
          ...errorResponses(...PAGE_ERRORS, 'forbidden_account'),
        },
      },
    },
    async (request) => {
      const page = await applicationFor(request).listAmbiguousClaims(toPageRequest(request.query));
      return { claims: page.claims.map(toAmbiguousClaimJson), next_cursor: page.nextCursor };
    },
  );

  app.get(
    '/api/customers/ambiguous/emails',
    {
      schema: {
        operationId: 'listAmbiguousEmails',
        right: 'read',
        tags: ['Customers'],
        summary: 'List emails claimed by several customers',
        description: 'Newest first. `address` and `domain` exclude one another.',
        querystring: EmailsQuery,
        response: {
          200: jsonResponse('One page.', EmailListings),
          ...errorResponses(
            ...PAGE_ERRORS,
            'invalid_address',
            'invalid_domain',
            'header_injection',
            'forbidden_account',
            'busy',
          ),
        },
      },
    },
    async (request, reply) => {
      const { address = null, domain = null } = request.query;
      const page = await applicationFor(request).listAmbiguousEmails({
        ...toPageRequest(request.query),
        address,
        domain,
      });
      return sendEmailPage(reply, page);
    },
  );
}
