/** POST /api/erasures: erases a person, and GET /api/erasures/{id}: the progress, and the record of it. */
import { ERASED_KINDS, type Erased as Counts, type Erasure } from './erasure-ports.ts';
import type { HttpContext, HttpServer } from '../../platform/http/answers/context.ts';
import { routedWith } from '../../platform/operation/declaration.ts';
import type { ErasureUseCases } from './erase-people.ts';
import { schemaOfOperation } from '../../platform/http/operations/operation-schema.ts';
import { nameOf } from '../../core/keys/author.ts';
import { JSON_BODY_ERRORS, smallJsonBody } from '../../platform/http/body/json-body.ts';
import { DryRun } from '../../platform/schemas/dry-run.ts';
import { errorResponses } from '../../platform/schemas/error-schemas.ts';
import {
  jsonResponse,
  NullableTimestamp,
  NullableUuid,
  record,
  Timestamp,
  Uuid,
} from '../../platform/schemas/schemas.ts';

const routed = routedWith<ErasureUseCases>();

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
  state: {
    type: 'string',
    enum: ['running', 'waiting', 'done'],
    description: '`waiting`: the emails that are left are being sent; it continues after that.',
  },
  requested_at: Timestamp,
  requested_by: { type: 'string', description: 'The secret that requested it.' },
  customer_id: NullableUuid,
  account_id: { type: ['string', 'null'], description: 'The deleted account whose mail is erased.' },
  finished_at: NullableTimestamp,
  erased: Erased,
});

const CheckedErasureSchema = record('CheckedErasure', {
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

interface AskedErasure {
  readonly address: string | null;
  readonly customerId: string | null;
  readonly dryRun: boolean;
}

interface CheckedErasure {
  readonly customerId: string | null;
  readonly erased: Counts;
}

const erasePerson = routed<AskedErasure, Erasure | CheckedErasure>()({
  id: 'erasePerson',
  method: 'POST',
  path: '/api/erasures',
  right: 'admin',
  tag: 'Erasure',
  summary: 'Erase a person',
  description:
    'Erases emails with the address as sender or recipient, even among others, with their files; reports about it; data ' +
    'learned about it; and mentions in events. A suppressed address stays suppressed, by a digest. The erasure continues ' +
    'in the background and can be repeated. Erased data does not return; new mail of the person is recorded.',
  account: 'every',
  act: {
    event: 'erasure.requested',
    unless: ({ dryRun }) => dryRun,
    // The address is not logged: it would stay in the log.
    what: ({ customerId }) => ({ customerId }),
    after: (erasure) => ('id' in erasure ? { erasureId: erasure.id } : null),
  },
});

const getErasure = routed<{ readonly id: string }, Erasure>()({
  id: 'getErasure',
  method: 'GET',
  path: '/api/erasures/:id',
  right: 'admin',
  tag: 'Erasure',
  summary: 'Read the record of an erasure',
  description: 'Numbers of erased items so far. The record contains no content and no address, and is kept.',
  account: 'every',
});

export function registerErasureRoutes(
  app: HttpServer,
  { perform, limits }: HttpContext<ErasureUseCases>,
): void {
  app.post(
    erasePerson.path,
    {
      schema: {
        ...schemaOfOperation(erasePerson),
        querystring: ErasureDryRun,
        body: ErasureBody,
        response: {
          200: jsonResponse('With `dry_run`: only counted.', CheckedErasureSchema),
          202: jsonResponse('The record of the erasure.', ErasureSchema),
          ...errorResponses(
            ...JSON_BODY_ERRORS,
            'invalid_uuid',
            'invalid_address',
            'header_injection',
            'invalid_credentials',
            'forbidden_account',
            'own_address',
            'database_unavailable',
          ),
        },
      },
      preValidation: smallJsonBody(limits),
    },
    async (request, reply) => {
      const { address = null, customer_id: customerId } = request.body;
      const input = {
        address,
        customerId: customerId?.toLowerCase() ?? null,
        dryRun: request.query.dry_run === true,
      };
      const erasure = await perform(
        request,
        erasePerson,
        input,
        async ({ dryRun, ...asked }, erasures, { author }) => {
          const person = { ...asked, requestedBy: nameOf(author) };
          if (!dryRun) return erasures.requestErasure(person);
          return { customerId: asked.customerId, erased: await erasures.checkErasure(person) };
        },
      );
      return 'id' in erasure
        ? reply.code(202).send(toJson(erasure))
        : reply.send({
            state: 'checked',
            customer_id: erasure.customerId,
            erased: toCounts(erasure.erased),
          });
    },
  );

  app.get(
    getErasure.path,
    {
      schema: {
        ...schemaOfOperation(getErasure),
        params: ErasureParams,
        response: {
          200: jsonResponse('The record of the erasure.', ErasureSchema),
          ...errorResponses(
            'invalid_uuid',
            'invalid_credentials',
            'forbidden_account',
            'erasure_not_found',
            'database_unavailable',
          ),
        },
      },
    },
    async (request) =>
      toJson(
        await perform(request, getErasure, { id: request.params.id.toLowerCase() }, ({ id }, erasures) =>
          erasures.readErasure(id),
        ),
      ),
  );
}

function toJson({
  id,
  requestedAt,
  requestedBy,
  customerId,
  accountId,
  finishedAt,
  isWaiting,
  erased,
}: Erasure): object {
  return {
    id,
    state: finishedAt !== null ? 'done' : isWaiting ? 'waiting' : 'running',
    requested_at: requestedAt.toISOString(),
    requested_by: requestedBy,
    customer_id: customerId,
    account_id: accountId,
    finished_at: finishedAt?.toISOString() ?? null,
    erased: toCounts(erased),
  };
}

const toCounts = (erased: Counts): object =>
  Object.fromEntries(ERASED_KINDS.map((kind) => [kind, erased[kind]]));
