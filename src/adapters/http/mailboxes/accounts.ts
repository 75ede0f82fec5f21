/**
 * The state of the mailboxes that are read: GET /api/accounts; and the messages that could not be taken: GET /api/quarantine and POST
 * /api/quarantine/{id}/retry.
 */
import type { HttpContext, HttpServer } from '../answers/context.ts';
import { JSON_BODY_ERRORS, optionalJsonBody } from '../body/json-body.ts';
import {
  ACCOUNT_PAGE_ERRORS,
  AccountPageQuery,
  pageSchema,
  toAccountPage,
} from '../../../platform/schemas/page-schemas.ts';
import { AccountSchema, QuarantinedSchema, toAccountJson, toQuarantinedJson } from './mailbox-view.ts';
import { errorResponses } from '../../../platform/schemas/error-schemas.ts';
import { jsonResponse, record, Uuid } from '../../../platform/schemas/schemas.ts';

const Accounts = record('Accounts', { accounts: { type: 'array', items: AccountSchema } });

const Quarantine = pageSchema('Quarantine', 'messages', QuarantinedSchema);

const QuarantineParams = {
  type: 'object',
  required: ['id'],
  properties: { id: { ...Uuid, description: 'Id from `GET /api/quarantine`.' } },
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
        summary: 'List accounts and their mailboxes',
        description:
          'Lists the accounts of the configuration, then accounts that only other processes read, with their state in all ' +
          'processes of the installation.',
        response: {
          200: jsonResponse('The complete list.', Accounts),
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
        summary: 'List quarantined messages',
        description:
          'Messages of mailboxes that could not be recorded, newest first, with the fields of their headers. They are retried ' +
          'automatically at growing intervals.',
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
        summary: 'Retry a quarantined message now',
        description:
          'The process that reads the account retries it within seconds; on success the message leaves the list. After a failure ' +
          'the delays start again with the shortest. Needs no body; a body with fields is refused.',
        params: QuarantineParams,
        response: {
          200: jsonResponse('Scheduled for an immediate attempt.', QuarantinedSchema),
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
