/** Customers: GET /api/customers, GET /api/customer/{customerId}, and its emails, newest first, page by page. */
import type { HttpContext, HttpServer } from '../answers/context.ts';
import {
  LONG_PAGE_PARAMETERS,
  PAGE_PARAMETERS,
  pageSchema,
  toPageRequest,
  PAGE_ERRORS,
} from '../../../platform/schemas/page-schemas.ts';
import { errorResponses } from '../../../platform/schemas/error-schemas.ts';
import { MAX_QUERY_CHARS } from '../../../core/search/query.ts';
import { CustomerSchema, CustomersSchema, toCustomerJson, toCustomerListingJson } from './customer-view.ts';
import {
  CustomerParams,
  Direction,
  Email,
  jsonResponse,
  toMoment,
} from '../../../platform/schemas/schemas.ts';

const CustomerQuery = {
  type: 'object',
  // A misspelt filter must not return emails that it was meant to exclude.
  additionalProperties: false,
  properties: {
    ...PAGE_PARAMETERS,
    direction: { ...Direction, description: 'Only this direction.' },
    since: { type: 'string', format: 'date-time', description: 'Only emails at or after this time.' },
    until: { type: 'string', format: 'date-time', description: 'Only emails before this time.' },
  },
} as const;

const CustomersQuery = {
  type: 'object',
  additionalProperties: false,
  properties: {
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
} as const;

const CustomerEmails = pageSchema('CustomerEmails', 'emails', Email);

export function registerCustomerRoutes(
  app: HttpServer,
  { applicationFor, sendEmailPage }: HttpContext,
): void {
  app.get(
    '/api/customers',
    {
      schema: {
        operationId: 'listCustomers',
        right: 'read',
        tags: ['Customers'],
        summary: 'List or search customers',
        description:
          'Sorted by name, customers without a name last: every customer with registered data or mail; a new customer appears a ' +
          'moment after its first email. A key limited to accounts sees the customers with mail in these accounts and finds them ' +
          'by name only, since it may not read registered addresses.',
        querystring: CustomersQuery,
        response: {
          200: jsonResponse('One page.', CustomersSchema),
          ...errorResponses(...PAGE_ERRORS),
        },
      },
    },
    async (request) => {
      const { q = null } = request.query;
      const page = await applicationFor(request).listCustomers({ q, ...toPageRequest(request.query) });
      return { customers: page.customers.map(toCustomerListingJson), next_cursor: page.nextCursor };
    },
  );

  app.get(
    '/api/customer/:customerId',
    {
      schema: {
        operationId: 'getCustomer',
        right: 'read',
        tags: ['Customers'],
        summary: 'Read a customer',
        description:
          'Name, registered data, counts and activity. For an unknown customer all are empty. A key limited to accounts gets the ' +
          'data of these accounts, without addresses and domains, which belong to no account.',
        params: CustomerParams,
        response: {
          200: jsonResponse('The customer.', CustomerSchema),
          ...errorResponses('invalid_uuid', 'unauthorized', 'database_unavailable'),
        },
      },
    },
    async (request) => {
      const customerId = request.params.customerId.toLowerCase();
      return toCustomerJson(customerId, await applicationFor(request).readCustomer({ customerId }));
    },
  );

  app.get(
    '/api/customer/:customerId/emails',
    {
      schema: {
        operationId: 'listCustomerEmails',
        right: 'read',
        tags: ['Emails'],
        summary: 'List the emails of a customer',
        description:
          'Newest first. An unknown customer has an empty list, since customers are kept in the calling system.',
        params: CustomerParams,
        querystring: CustomerQuery,
        response: {
          200: jsonResponse('One page.', CustomerEmails),
          ...errorResponses(...PAGE_ERRORS, 'invalid_uuid', 'busy'),
        },
      },
    },
    async (request, reply) => {
      const { direction, since, until } = request.query;
      const page = await applicationFor(request).listCustomerEmails({
        customerId: request.params.customerId.toLowerCase(),
        direction: direction ?? null,
        since: since === undefined ? null : toMoment('since', since),
        until: until === undefined ? null : toMoment('until', until),
        ...toPageRequest(request.query),
      });
      return sendEmailPage(reply, page);
    },
  );
}
