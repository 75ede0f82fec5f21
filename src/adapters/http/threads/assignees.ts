/** GET /api/assignees: to whom a thread can be assigned. */
import type { HttpContext, HttpServer } from '../answers/context.ts';
import { errorResponses } from '../../../platform/schemas/error-schemas.ts';
import { ACCOUNT_QUERY_ERRORS, AccountId } from '../../../platform/schemas/page-schemas.ts';
import { jsonResponse, record } from '../../../platform/schemas/schemas.ts';
import { KeyId } from '../../../platform/schemas/right.ts';

const Assignees = record('Assignees', {
  assignees: {
    type: 'array',
    items: record('AssigneeOption', {
      id: KeyId,
      name: { type: 'string', description: 'Name of the key.' },
    }),
    description: 'By name.',
  },
});

const AssigneesQuery = {
  type: 'object',
  additionalProperties: false,
  properties: { account_id: { ...AccountId, description: 'Only who may answer in this account.' } },
} as const;

export function registerAssigneeRoutes(app: HttpServer, { applicationFor }: HttpContext): void {
  app.get(
    '/api/assignees',
    {
      schema: {
        operationId: 'listAssignees',
        right: 'read',
        tags: ['Threads'],
        summary: 'List to whom threads can be assigned',
        description:
          'The keys with the rights `read` and `send` in the account, or in any account of the caller; neither revoked nor expired.',
        querystring: AssigneesQuery,
        response: {
          200: jsonResponse('All of them.', Assignees),
          ...errorResponses(...ACCOUNT_QUERY_ERRORS),
        },
      },
    },
    async (request) => ({
      assignees: [
        ...(await applicationFor(request).listAssignees({ accountId: request.query.account_id ?? null })),
      ],
    }),
  );
}
