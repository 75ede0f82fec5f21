/** Lists that recipients have left: GET /api/unsubscribes, and DELETE of /api/unsubscribes/{id}. */
import type { XStatic } from 'typebox/schema';
import type { Unsubscribe } from '../../../app/unsubscribes/unsubscribe-ports.ts';
import { MAX_LIST_CHARS } from '../../../core/unsubscribe/list-name.ts';
import type { HttpContext, HttpServer } from '../answers/context.ts';
import { JSON_BODY_ERRORS, optionalJsonBody } from '../body/json-body.ts';
import { errorResponses } from '../../../platform/schemas/error-schemas.ts';
import { ACCOUNT_PAGE_ERRORS, AccountPageQuery, pageSchema, toAccountPage } from '../../../platform/schemas/page-schemas.ts';
import { jsonResponse, record, Timestamp, Uuid } from '../../../platform/schemas/schemas.ts';

const UnsubscribeSchema = record('Unsubscribe', {
  id: Uuid,
  account_id: { type: 'string' },
  list: { type: 'string', description: 'As `unsubscribe.list` of the send named it.' },
  address: { type: 'string', description: 'In lower case.' },
  email_id: { ...Uuid, description: 'The email whose link was used.' },
  unsubscribed_at: Timestamp,
});

const Unsubscribes = pageSchema('Unsubscribes', 'unsubscribes', UnsubscribeSchema);

const UnsubscribesQuery = {
  ...AccountPageQuery,
  properties: {
    ...AccountPageQuery.properties,
    list: {
      type: 'string',
      minLength: 1,
      maxLength: MAX_LIST_CHARS,
      description: 'Only entries of this list.',
    },
    address: { type: 'string', minLength: 1, maxLength: 400, description: 'Only entries of this address.' },
  },
} as const;

const UnsubscribeParams = {
  type: 'object',
  required: ['id'],
  properties: { id: { ...Uuid, description: 'An entry of `GET /api/unsubscribes`.' } },
} as const;

export function registerUnsubscribeRoutes(
  app: HttpServer,
  { applicationFor, operationsFor, limits }: HttpContext,
): void {
  app.get(
    '/api/unsubscribes',
    {
      schema: {
        operationId: 'listUnsubscribes',
        right: 'read',
        tags: ['Unsubscribes'],
        summary: 'List unsubscribed addresses',
        description: 'The newest first.',
        querystring: UnsubscribesQuery,
        response: {
          200: jsonResponse('One page.', Unsubscribes),
          ...errorResponses(...ACCOUNT_PAGE_ERRORS, 'invalid_address', 'header_injection'),
        },
      },
    },
    async (request) => {
      const { list, address } = request.query;
      const page = await applicationFor(request).listUnsubscribes({
        list: list ?? null,
        address: address ?? null,
        ...toAccountPage(request.query),
      });
      return { unsubscribes: page.unsubscribes.map(toJson), next_cursor: page.nextCursor };
    },
  );

  app.delete(
    '/api/unsubscribes/:id',
    {
      schema: {
        operationId: 'removeUnsubscribe',
        // The answer shows what was stored before.
        right: ['read', 'operate'],
        tags: ['Unsubscribes'],
        summary: 'Resubscribe an address',
        description:
          'For addresses whose owner asked for it. Links in earlier mail keep working. Needs no body; a body with fields is refused.',
        params: UnsubscribeParams,
        response: {
          200: jsonResponse('The removed entry.', UnsubscribeSchema),
          ...errorResponses(
            ...JSON_BODY_ERRORS,
            'invalid_uuid',
            'unauthorized',
            'unsubscribe_not_found',
            'database_unavailable',
          ),
        },
      },
      preValidation: optionalJsonBody(limits),
    },
    async (request) => toJson(await operationsFor(request).removeUnsubscribe(request.params.id)),
  );
}

function toJson(unsubscribe: Unsubscribe): XStatic<typeof UnsubscribeSchema> {
  return {
    id: unsubscribe.id,
    account_id: unsubscribe.accountId,
    list: unsubscribe.list,
    address: unsubscribe.address,
    email_id: unsubscribe.emailId,
    unsubscribed_at: unsubscribe.unsubscribedAt.toISOString(),
  };
}
