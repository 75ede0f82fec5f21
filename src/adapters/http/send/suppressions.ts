/**
 * The addresses that nothing is sent to: GET /api/suppressions, and GET, PUT and DELETE of
 * /api/suppressions/{address}.
 */
import type { XStatic } from 'typebox/schema';
import { SUPPRESSION_REASONS, type Suppression } from '../../../core/delivery/suppression.ts';
import type { HttpContext, HttpServer } from '../answers/context.ts';
import { PAGE_PARAMETERS, pageSchema, toPageRequest, PAGE_ERRORS } from '../../../platform/schemas/page-schemas.ts';
import { JSON_BODY_ERRORS, optionalJsonBody } from '../body/json-body.ts';
import { errorResponses } from '../../../platform/schemas/error-schemas.ts';
import { EnhancedStatus, jsonResponse, NullableUuid, record, Timestamp } from '../../../platform/schemas/schemas.ts';

const MAX_NOTE_CHARS = 1000;

const Reason = { title: 'SuppressionReason', type: 'string', enum: SUPPRESSION_REASONS } as const;

const SuppressionSchema = record('Suppression', {
  address: { type: 'string', description: 'In lower case.' },
  reason: Reason,
  since: Timestamp,
  enhanced_status: EnhancedStatus,
  diagnostic: {
    type: 'string',
    description: 'Reply of the refusing server, or the type of the complaint; may be empty.',
  },
  note: { type: ['string', 'null'], description: 'The value given with PUT.' },
  email_id: { ...NullableUuid, description: 'The sent email; null when added by hand.' },
  report_email_id: { ...NullableUuid, description: 'The report; null when added by hand.' },
});

const SuppressionsQuerySchema = {
  type: 'object',
  // A misspelt filter must not return more than was asked for.
  additionalProperties: false,
  properties: {
    address: { type: 'string', minLength: 1, maxLength: 400, description: 'Only this address.' },
    reason: { ...Reason, description: 'Only those with this reason.' },
    ...PAGE_PARAMETERS,
  },
} as const;

const Suppressions = pageSchema('Suppressions', 'suppressions', SuppressionSchema);

const AddressParams = {
  type: 'object',
  required: ['address'],
  properties: {
    address: { type: 'string', minLength: 1, maxLength: 400, description: 'One email address, URL-encoded.' },
  },
} as const;

const SuppressBody = {
  type: 'object',
  title: 'SuppressRequest',
  additionalProperties: false,
  properties: {
    note: { type: ['string', 'null'], maxLength: MAX_NOTE_CHARS, description: 'Why, for people.' },
  },
} as const;

const Lifted = record('LiftedSuppression', { address: { type: 'string' }, lifted_at: Timestamp });

export function registerSuppressionRoutes(
  app: HttpServer,
  { applicationFor, operationsFor, limits }: HttpContext,
): void {
  app.get(
    '/api/suppressions',
    {
      schema: {
        operationId: 'listSuppressions',
        right: 'read',
        tags: ['Suppressions'],
        summary: 'List suppressed addresses',
        description: 'The newest change first.',
        querystring: SuppressionsQuerySchema,
        response: {
          200: jsonResponse('One page.', Suppressions),
          ...errorResponses(...PAGE_ERRORS, 'invalid_address', 'header_injection', 'forbidden_account'),
        },
      },
    },
    async (request) => {
      const { address, reason } = request.query;
      const page = await applicationFor(request).listSuppressions({
        address: address ?? null,
        reason: reason ?? null,
        ...toPageRequest(request.query),
      });
      return { suppressions: page.suppressions.map(toSuppressionJson), next_cursor: page.nextCursor };
    },
  );

  app.get(
    '/api/suppressions/:address',
    {
      schema: {
        operationId: 'getSuppression',
        right: 'read',
        tags: ['Suppressions'],
        summary: 'Read a suppressed address',
        description: '404 when the address is not suppressed.',
        params: AddressParams,
        response: {
          200: jsonResponse('The entry.', SuppressionSchema),
          ...errorResponses(
            'invalid_request',
            'invalid_address',
            'header_injection',
            'unauthorized',
            'forbidden_account',
            'suppression_not_found',
            'database_unavailable',
          ),
        },
      },
    },
    async (request) =>
      toSuppressionJson(await applicationFor(request).readSuppression(request.params.address)),
  );

  app.put(
    '/api/suppressions/:address',
    {
      schema: {
        operationId: 'suppress',
        // The answer shows what was stored before.
        right: ['read', 'operate'],
        tags: ['Suppressions'],
        summary: 'Suppress an address',
        description: 'Sets the reason to `manual`, also when the address was suppressed for another reason.',
        params: AddressParams,
        body: SuppressBody,
        response: {
          200: jsonResponse('The entry.', SuppressionSchema),
          ...errorResponses(
            ...JSON_BODY_ERRORS,
            'invalid_address',
            'header_injection',
            'invalid_text',
            'unauthorized',
            'forbidden_account',
            'database_unavailable',
          ),
        },
      },
      preValidation: optionalJsonBody(limits),
    },
    async (request) => {
      const note = request.body.note ?? null;
      return toSuppressionJson(await operationsFor(request).suppress(request.params.address, note));
    },
  );

  app.delete(
    '/api/suppressions/:address',
    {
      schema: {
        operationId: 'liftSuppression',
        right: 'operate',
        tags: ['Suppressions'],
        summary: 'Lift the suppression of an address',
        description:
          'A later bounce or complaint suppresses the address again. Needs no body; a body with fields is refused.',
        params: AddressParams,
        response: {
          200: jsonResponse('Not on the list any more.', Lifted),
          ...errorResponses(
            ...JSON_BODY_ERRORS,
            'invalid_address',
            'header_injection',
            'unauthorized',
            'forbidden_account',
            'suppression_not_found',
            'database_unavailable',
          ),
        },
      },
      preValidation: optionalJsonBody(limits),
    },
    async (request) => {
      const { address, liftedAt } = await operationsFor(request).liftSuppression(request.params.address);
      return { address, lifted_at: liftedAt.toISOString() };
    },
  );
}

function toSuppressionJson(suppression: Suppression): XStatic<typeof SuppressionSchema> {
  return {
    address: suppression.address,
    reason: suppression.reason,
    since: suppression.since.toISOString(),
    enhanced_status: suppression.status,
    diagnostic: suppression.diagnostic,
    note: suppression.note,
    email_id: suppression.emailId,
    report_email_id: suppression.reportId,
  };
}
