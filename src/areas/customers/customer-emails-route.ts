/** GET /api/customer/{customerId}/emails: newest first, page by page. */
import type { HttpContext, HttpServer } from '../../platform/http/answers/context.ts';
import { routedWith } from '../../platform/operation/declaration.ts';
import type { EmailUseCases, CustomerEmailsRequest } from '../emails/use-cases.ts';
import { schemaOfOperation } from '../../platform/http/operations/operation-schema.ts';
import type { EmailsPage } from '../../platform/db/emails-json.ts';
import {
  PAGE_PARAMETERS,
  pageSchema,
  toPageRequest,
  PAGE_ERRORS,
} from '../../platform/schemas/page-schemas.ts';
import { errorResponses } from '../../platform/schemas/error-schemas.ts';
import { CustomerParams, Direction, Email, jsonResponse, toMoment } from '../../platform/schemas/schemas.ts';

const routed = routedWith<EmailUseCases>();

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

const listCustomerEmails = routed<CustomerEmailsRequest, EmailsPage>()({
  id: 'listCustomerEmails',
  method: 'GET',
  path: '/api/customer/:customerId/emails',
  right: 'read',
  tag: 'Emails',
  summary: 'List the emails of a customer',
  description:
    'Newest first. An unknown customer has an empty list, since customers are kept in the calling system.',
  account: 'list',
});

export function registerCustomerEmailsRoute(
  app: HttpServer,
  { perform, sendEmailPage }: HttpContext<EmailUseCases>,
): void {
  app.get(
    listCustomerEmails.path,
    {
      schema: {
        ...schemaOfOperation(listCustomerEmails),
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
      const asked = {
        customerId: request.params.customerId.toLowerCase(),
        direction: direction ?? null,
        since: since === undefined ? null : toMoment('since', since),
        until: until === undefined ? null : toMoment('until', until),
        ...toPageRequest(request.query),
      };
      const page = await perform(request, listCustomerEmails, asked, (within, emails) =>
        emails.listCustomerEmails(within),
      );
      return sendEmailPage(reply, page);
    },
  );
}
