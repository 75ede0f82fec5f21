/** POST /api/erasures: erases a person, and GET /api/erasures/{id}: the progress, and the record of it. */
import { ERASED_KINDS, type Erased as Counts, type Erasure } from '../../../app/erase/erasure-ports.ts';
import type { HttpContext, HttpServer } from '../answers/context.ts';
import { JSON_BODY_ERRORS, smallJsonBody } from '../body/json-body.ts';
import { DryRun } from '../../../platform/schemas/dry-run.ts';
import { errorResponses } from '../../../platform/schemas/error-schemas.ts';
import {
  jsonResponse,
  NullableTimestamp,
  NullableUuid,
  record,
  Timestamp,
  Uuid,
} from '../../../platform/schemas/schemas.ts';

const MAX_ADDRESS_CHARS = 1000;

const ErasureBody = {
  title: 'ErasureRequest',
  type: 'object',
  additionalProperties: false,
  properties: {
    address: {
      type: 'string',
      minLength: 1,
      maxLength: MAX_ADDRESS_CHARS,
      description: 'One address, case-insensitive. Give either `address` or `customer_id`.',
    },
    customer_id: {
      ...Uuid,
      description:
        'A customer: all its emails, and everything about its addresses that no other customer has.',
    },
  },
} as const;

const count = (description: string) => ({ type: 'integer', description });

const Erased = record('Erased', {
  emails: count('Emails with their files, variants and reports.'),
  files: count('Attachments, and raw messages that are files.'),
  drafts: count('Drafts that name the person, or answer such an email.'),
  customer_rules: count('Addresses, domains, names and companies of customers.'),
  suppressions: count(
    'Entries of the suppression list, of which at most a digest remains, and mentions in other entries.',
  ),
  unsubscribes: count(
    'Lists from which the person unsubscribed; a digest of the address remains, so that it stays unsubscribed.',
  ),
  quarantined: count('Messages of mailboxes that were set aside.'),
  decisions: count('Reasons of decisions about threads.'),
  idempotency_keys: count('Idempotency keys that named the address.'),
  events: count('Events; their identifiers remain.'),
  webhook_deliveries: count('Answers of webhooks to such events.'),
});

const ErasureSchema = record('Erasure', {
  id: Uuid,
  state: { type: 'string', enum: ['running', 'done'] },
  requested_at: Timestamp,
  requested_by: { type: 'string', description: 'The secret that requested it.' },
  customer_id: NullableUuid,
  finished_at: NullableTimestamp,
  erased: Erased,
});

const CheckedErasure = record('CheckedErasure', {
  state: { type: 'string', const: 'checked' },
  customer_id: NullableUuid,
  erased: Erased,
});

const ErasureDryRun = DryRun(
  'Erases nothing: the answer is 200 and counts what would be erased. Events about quarantined messages, and about changes of threads that ' +
    'would end, are not counted. Of more than 10,000 emails, only the emails themselves are counted in full. It may take minutes, and new mail may ' +
    'wait for a part of that time.',
);

const ErasureParams = {
  type: 'object',
  required: ['id'],
  properties: { id: { ...Uuid, description: 'The erasure.' } },
} as const;

export function registerErasureRoutes(
  app: HttpServer,
  { applicationFor, operationsFor, limits }: HttpContext,
): void {
  app.post(
    '/api/erasures',
    {
      schema: {
        operationId: 'erasePerson',
        right: 'admin',
        tags: ['Erasure'],
        summary: 'Erase a person',
        description:
          'Erases emails with the address as sender or recipient, even among others, with their files; reports about it; data ' +
          'learned about it; and mentions in events. A suppressed address stays suppressed, by a digest. The erasure continues ' +
          'in the background and can be repeated. Erased data does not return; new mail of the person is recorded.',
        querystring: ErasureDryRun,
        body: ErasureBody,
        response: {
          200: jsonResponse('With `dry_run`: only counted.', CheckedErasure),
          202: jsonResponse('The erasure was started.', ErasureSchema),
          ...errorResponses(
            ...JSON_BODY_ERRORS,
            'invalid_uuid',
            'invalid_address',
            'header_injection',
            'unauthorized',
            'forbidden_account',
            'own_address',
            'database_unavailable',
          ),
        },
      },
      preValidation: smallJsonBody(limits),
    },
    async (request, reply) => {
      const { address, customer_id: customerId } = request.body;
      const person = { address: address ?? null, customerId: customerId?.toLowerCase() ?? null };
      const operations = operationsFor(request);
      if (request.query.dry_run === true) {
        const erased = toCounts(await operations.checkErasure(person));
        return reply.send({ state: 'checked', customer_id: person.customerId, erased });
      }
      return reply.code(202).send(toJson(await operations.requestErasure(person)));
    },
  );

  app.get(
    '/api/erasures/:id',
    {
      schema: {
        operationId: 'getErasure',
        right: 'admin',
        tags: ['Erasure'],
        summary: 'Read the record of an erasure',
        description:
          'Numbers of erased items so far. The record contains no content and no address, and is kept.',
        params: ErasureParams,
        response: {
          200: jsonResponse('The record.', ErasureSchema),
          ...errorResponses(
            'invalid_uuid',
            'unauthorized',
            'forbidden_account',
            'erasure_not_found',
            'database_unavailable',
          ),
        },
      },
    },
    async (request) => toJson(await applicationFor(request).readErasure(request.params.id.toLowerCase())),
  );
}

function toJson({ id, requestedAt, requestedBy, customerId, finishedAt, erased }: Erasure): object {
  return {
    id,
    state: finishedAt === null ? 'running' : 'done',
    requested_at: requestedAt.toISOString(),
    requested_by: requestedBy,
    customer_id: customerId,
    finished_at: finishedAt?.toISOString() ?? null,
    erased: toCounts(erased),
  };
}

const toCounts = (erased: Counts): object =>
  Object.fromEntries(ERASED_KINDS.map((kind) => [kind, erased[kind]]));
