/** GET /api/retention: what is due to be deleted by the accounts' rules. POST /api/retention/confirm: lets it go at once. */
import type { XStatic } from 'typebox/schema';
import type { Retention } from '../../../app/erase/retention-ports.ts';
import type { HttpContext, HttpServer } from '../answers/context.ts';
import { JSON_BODY_ERRORS, smallJsonBody } from '../body/json-body.ts';
import { DryRun } from '../../../platform/schemas/dry-run.ts';
import { DELETION_ERRORS, errorResponses } from '../../../platform/schemas/error-schemas.ts';
import { jsonResponse, NullableTimestamp, record, Timestamp } from '../../../platform/schemas/schemas.ts';

const DueThreadsSchema = record('DueThreads', {
  account_id: { type: 'string' },
  retention_days: { type: 'integer', description: 'A thread is due after this many days without an email.' },
  threads: { type: 'integer', description: 'Threads that are due.' },
  emails: { type: 'integer', description: 'Emails in these threads.' },
});

const RetentionSchema = record('Retention', {
  emails: { type: 'integer', description: 'Emails that are due, of all accounts.' },
  bound: { type: 'integer', description: 'Emails that may be deleted in an hour.' },
  deleted: { type: 'integer', description: 'Emails deleted in the current hour.' },
  hour_began: { ...Timestamp, description: 'Start of the hour that `deleted` refers to.' },
  held_since: {
    ...NullableTimestamp,
    description:
      'Since when more emails are due than may be deleted in an hour; null when that is not the case.',
  },
  confirmed: {
    type: 'integer',
    description: 'Confirmed emails that may still be deleted beyond the hourly limit.',
  },
  confirmed_until: NullableTimestamp,
  accounts: { type: 'array', items: DueThreadsSchema, description: 'Accounts with a rule.' },
});

const ConfirmBody = {
  title: 'RetentionConfirmation',
  type: 'object',
  additionalProperties: false,
  required: ['emails'],
  properties: {
    emails: {
      type: 'integer',
      minimum: 1,
      description: 'Number of emails that may be deleted; at most as many as are due.',
    },
  },
} as const;

const ConfirmDryRun = DryRun(
  'True: the request is checked and the response shows what is due; nothing is confirmed.',
);

export function registerRetentionRoutes(
  app: HttpServer,
  { applicationFor, operationsFor, limits }: HttpContext,
): void {
  app.get(
    '/api/retention',
    {
      schema: {
        operationId: 'getRetention',
        right: 'operate',
        tags: ['Erasure'],
        summary: 'Show what retention will delete',
        description:
          'Lists threads without activity for longer than `RETENTION_DAYS`, or the value in the accounts file. Only a small ' +
          'share of all emails is deleted in an hour; anything beyond it is held.',
        response: {
          200: jsonResponse('Emails that are due.', RetentionSchema),
          ...errorResponses('invalid_request', 'unauthorized', 'forbidden_account', 'database_unavailable'),
        },
      },
    },
    async (request) => toJson(await applicationFor(request).readRetention()),
  );

  app.post(
    '/api/retention/confirm',
    {
      schema: {
        operationId: 'confirmRetention',
        right: 'operate',
        tags: ['Erasure'],
        summary: 'Confirm held deletions of retention',
        description:
          'Allows retention to delete this many emails beyond the hourly limit within a day. Check `GET /api/retention` first: ' +
          'deletion is permanent. Refused while clocks are wrong.',
        querystring: ConfirmDryRun,
        body: ConfirmBody,
        response: {
          200: jsonResponse('Confirmed; with `dry_run` nothing was.', RetentionSchema),
          ...errorResponses(
            ...JSON_BODY_ERRORS,
            'unauthorized',
            'forbidden_account',
            ...DELETION_ERRORS,
            'database_unavailable',
          ),
        },
      },
      preValidation: smallJsonBody(limits),
    },
    async (request) => {
      const { emails } = request.body;
      const { dry_run: dryRun = false } = request.query;
      return toJson(await operationsFor(request).confirmRetention({ emails, dryRun }));
    },
  );
}

function toJson(retention: Retention): XStatic<typeof RetentionSchema> {
  const { due, bound, deleted, began, heldSince, confirmed, confirmedUntil } = retention;
  return {
    emails: due.reduce((sum, { emails }) => sum + emails, 0),
    bound,
    deleted,
    hour_began: began.toISOString(),
    held_since: heldSince?.toISOString() ?? null,
    confirmed,
    confirmed_until: confirmedUntil?.toISOString() ?? null,
    accounts: due.map(({ accountId, days, threads, emails }) => ({
      account_id: accountId,
      retention_days: days,
      threads,
      emails,
    })),
  };
}
