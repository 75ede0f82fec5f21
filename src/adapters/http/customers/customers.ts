/**
 * GET /api/customer/{customerId}/emails: the emails of one customer, newest first, page by page.
 */
import type { HttpContext, HttpServer } from '../answers/context.ts';
import { PAGE_PARAMETERS, pageSchema, toPageRequest } from '../schemas/page-schemas.ts';
import { errorResponses } from '../schemas/error-schemas.ts';
import { CustomerParams, Direction, Email, jsonResponse, toMoment } from '../schemas/schemas.ts';

const CustomerQuery = {
  type: 'object',
  // A misspelt filter must not answer with emails it was meant to leave out.
  additionalProperties: false,
  properties: {
    ...PAGE_PARAMETERS,
    direction: { ...Direction, description: 'Only this direction.' },
    since: { type: 'string', format: 'date-time', description: 'Only emails of this moment or later.' },
    until: { type: 'string', format: 'date-time', description: 'Only emails before this moment.' },
  },
} as const;

const CustomerEmails = pageSchema('CustomerEmails', 'emails', Email);

export function registerCustomerRoutes(
  app: HttpServer,
  { applicationFor, sendEmailPage }: HttpContext,
): void {
  app.get(
    '/api/customer/:customerId/emails',
    {
      schema: {
        operationId: 'listCustomerEmails',
        right: 'read',
        tags: ['Emails'],
        summary: 'List the emails of a customer',
        description:
          'Newest first. A customer that the service has never heard of has an empty list: customers live in the ' +
          "caller's system. Query parameters that are not listed here are refused.",
        params: CustomerParams,
        querystring: CustomerQuery,
        response: {
          200: jsonResponse('One page.', CustomerEmails),
          ...errorResponses(
            'invalid_uuid',
            'invalid_request',
            'unknown_field',
            'invalid_cursor',
            'unauthorized',
            'busy',
            'database_unavailable',
          ),
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
