/** GET /api/customers/ambiguous/emails: emails that belong to no customer because several claim them. */
import { LONG_PAGE_PARAMETERS, PAGE_ERRORS, toPageRequest } from '../../../platform/schemas/page-schemas.ts';
import { errorResponses } from '../../../platform/schemas/error-schemas.ts';
import { jsonResponse } from '../../../platform/schemas/schemas.ts';
import type { HttpContext, HttpServer } from '../answers/context.ts';
import { EmailListings } from '../emails/email-schemas.ts';

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

export function registerAmbiguousEmailsRoute(
  app: HttpServer,
  { applicationFor, sendEmailPage }: HttpContext,
): void {
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
