/**
 * The state of the mailboxes that are read: GET /api/accounts; and the messages that could not be taken: GET /api/quarantine and POST
 * /api/quarantine/{id}/retry.
 */
import type { HttpContext, HttpServer } from '../answers/context.ts';
import { JSON_BODY_ERRORS, optionalJsonBody } from '../body/json-body.ts';
import { ACCOUNT_PAGE_ERRORS, AccountPageQuery, pageSchema, toAccountPage } from '../schemas/page-schemas.ts';
import { AccountSchema, QuarantinedSchema, toAccountJson, toQuarantinedJson } from './mailbox-view.ts';
import { errorResponses } from '../schemas/error-schemas.ts';
import { jsonResponse, record, Uuid } from '../schemas/schemas.ts';

const Accounts = record('Accounts', { accounts: { type: 'array', items: AccountSchema } });

const Quarantine = pageSchema('Quarantine', 'messages', QuarantinedSchema);

const QuarantineParams = {
  type: 'object',
  required: ['id'],
  properties: { id: { ...Uuid, description: 'As `GET /api/quarantine` names it.' } },
} as const;

export function registerAccountRoutes(
  app: HttpServer,
  { applicationFor, operationsFor, limits }: HttpContext,
): void {
  app.get(
    '/api/accounts',
    {
      schema: {
        operationId: 'listAccounts',
        right: 'read',
        tags: ['Mailboxes'],
        summary: 'How the accounts and their mailboxes are',
        description:
          'Every account of the configuration, then those that only other processes read. Read from the database: what ' +
          'every process of the installation does.',
        response: {
          200: jsonResponse('All of them.', Accounts),
          ...errorResponses('unauthorized', 'database_unavailable'),
        },
      },
    },
    async (request) => ({ accounts: (await applicationFor(request).listAccounts()).map(toAccountJson) }),
  );

  app.get(
    '/api/quarantine',
    {
      schema: {
        operationId: 'listQuarantine',
        right: 'read',
        tags: ['Mailboxes'],
        summary: 'List messages that could not be taken from a mailbox',
        description:
          'The newest first, with what their headers say. They are retried automatically, ever more rarely.',
        querystring: AccountPageQuery,
        response: {
          200: jsonResponse('One page.', Quarantine),
          ...errorResponses(...ACCOUNT_PAGE_ERRORS),
        },
      },
    },
    async (request) => {
      const page = await applicationFor(request).listQuarantine(toAccountPage(request.query));
      return { messages: page.messages.map(toQuarantinedJson), next_cursor: page.nextCursor };
    },
  );

  app.post(
    '/api/quarantine/:id/retry',
    {
      schema: {
        operationId: 'retryQuarantined',
        // The answer contains the subject and the sender.
        right: ['read', 'operate'],
        tags: ['Mailboxes'],
        summary: 'Try to take a message now',
        description:
          'Whichever process reads the account tries it, within seconds; it leaves the list when that works. When it ' +
          'does not, the next try follows after the shortest delay again. Needs no body; fields of one are refused.',
        params: QuarantineParams,
        response: {
          200: jsonResponse('It is due.', QuarantinedSchema),
          ...errorResponses(
            ...JSON_BODY_ERRORS,
            'invalid_uuid',
            'unauthorized',
            'quarantined_not_found',
            'database_unavailable',
          ),
        },
      },
      preValidation: optionalJsonBody(limits),
    },
    async (request) =>
      toQuarantinedJson(await operationsFor(request).retryQuarantined(request.params.id.toLowerCase())),
  );
}
