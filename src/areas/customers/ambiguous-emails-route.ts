/** GET /api/customers/ambiguous/emails: emails that belong to no customer because several claim them. */
import { LONG_PAGE_PARAMETERS, PAGE_ERRORS, toPageRequest } from '../../platform/schemas/page-schemas.ts';
import { errorResponses } from '../../platform/schemas/error-schemas.ts';
import { jsonResponse } from '../../platform/schemas/schemas.ts';
import type { HttpContext, HttpServer } from '../../platform/http/answers/context.ts';
import { routedWith } from '../../platform/operation/declaration.ts';
import type { CustomerUseCases, AmbiguousEmailsRequest } from './use-cases.ts';
import { schemaOfOperation } from '../../platform/http/operations/operation-schema.ts';
import type { EmailsPage } from '../../platform/db/emails-json.ts';
import { EmailListings } from '../emails/email-schemas.ts';

const routed = routedWith<CustomerUseCases>();

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

const listAmbiguousEmails = routed<AmbiguousEmailsRequest, EmailsPage>()({
  id: 'listAmbiguousEmails',
  method: 'GET',
  path: '/api/customers/ambiguous/emails',
  right: 'read',
  tag: 'Customers',
  summary: 'List emails claimed by several customers',
  description: 'Newest first. `address` and `domain` exclude one another.',
  account: 'every',
});

export function registerAmbiguousEmailsRoute(
  app: HttpServer,
  { perform, sendEmailPage }: HttpContext<CustomerUseCases>,
): void {
  app.get(
    listAmbiguousEmails.path,
    {
      schema: {
        ...schemaOfOperation(listAmbiguousEmails),
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
      const page = await perform(
        request,
        listAmbiguousEmails,
        { ...toPageRequest(request.query), address, domain },
        (asked, customers) => customers.listAmbiguousEmails(asked),
      );
      return sendEmailPage(reply, page);
    },
  );
}
