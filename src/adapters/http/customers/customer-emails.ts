/** GET /api/customer/{customerId}/emails: newest first, page by page. */
import type { HttpContext, HttpServer } from '../answers/context.ts';
import {
  PAGE_PARAMETERS,
  pageSchema,
  toPageRequest,
  PAGE_ERRORS,
} from '../../../platform/schemas/page-schemas.ts';
import { errorResponses } from '../../../platform/schemas/error-schemas.ts';
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

const CustomerEmails = pageSchema('CustomerEmails', 'emails', Email);

export function registerCustomerEmailsRoute(
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
