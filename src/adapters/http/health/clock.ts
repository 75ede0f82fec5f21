/** GET /api/clock: the clocks of the process and of the database. POST /api/clock/confirm: the database's is right. */
import type { XStatic } from 'typebox/schema';
import type { ClockJump, ClockState } from '../../../app/base/clock-guard.ts';
import type { HttpContext, HttpServer } from '../answers/context.ts';
import { JSON_BODY_ERRORS, optionalJsonBody } from '../body/json-body.ts';
import { errorResponses } from '../../../platform/schemas/error-schemas.ts';
import { jsonResponse, NullableTimestamp, record, Timestamp } from '../../../platform/schemas/schemas.ts';

const ClockSchema = record('Clock', {
  database_at: { ...Timestamp, description: 'Time of the database, which decides what is due.' },
  ahead_seconds: {
    type: 'number',
    description: 'How far the clock of the responding process is ahead of the database.',
  },
  skewed: {
    type: 'boolean',
    description:
      'True when the clocks differ by more than a minute: this process deletes nothing and is not ready.',
  },
  in_doubt: {
    type: 'boolean',
    description:
      'True after the clock of the database jumped forward, by more than a day or while a service ran: nothing is deleted or ' +
      'given up, and a scheduled send waits until it is due by `expected_at` as well.',
  },
  expected_at: {
    ...NullableTimestamp,
    description: 'Time that the database would show without the jump; null when the clock is not in doubt.',
  },
  jumped_at: { ...NullableTimestamp, description: 'Time that the database showed after the jump.' },
  trusted_in_seconds: {
    type: ['number', 'null'],
    description:
      'Seconds of further service after which the clock is trusted without confirmation by an operator: as many as it jumped, at most a day.',
  },
});

export function registerClockRoutes(
  app: HttpServer,
  { applicationFor, operationsFor, limits }: HttpContext,
): void {
  app.get(
    '/api/clock',
    {
      schema: {
        operationId: 'getClock',
        right: 'operate',
        tags: ['Health'],
        summary: 'Compare the clocks of the process and of the database',
        description: 'Measured now.',
        response: {
          200: jsonResponse('Both clocks.', ClockSchema),
          ...errorResponses('invalid_request', 'unauthorized', 'forbidden_account', 'database_unavailable'),
        },
      },
    },
    async (request) => toJson(await applicationFor(request).readClock()),
  );

  app.post(
    '/api/clock/confirm',
    {
      schema: {
        operationId: 'confirmClock',
        right: 'operate',
        tags: ['Health'],
        summary: "Confirm the database's clock after a jump",
        description:
          'Confirms that the time is right, for example after the service was stopped for days or a backup was restored. ' +
          'Deletions that were held continue. A repeat changes nothing. Needs no body; a body with fields is refused.',
        response: {
          200: jsonResponse('The clock is trusted.', ClockSchema),
          ...errorResponses(...JSON_BODY_ERRORS, 'unauthorized', 'forbidden_account', 'database_unavailable'),
        },
      },
      preValidation: optionalJsonBody(limits),
    },
    async (request) => toJson(await operationsFor(request).confirmClock()),
  );
}

/** See migrations/0001_schema/clock.ts. */
const PROBATION_MS = 86_400_000;

function trustedInMs({ expectedAt, jumpedAt, lastedMs }: ClockJump): number {
  const stepMs = jumpedAt.getTime() - expectedAt.getTime() + lastedMs;
  return Math.max(0, Math.min(stepMs, PROBATION_MS) - lastedMs);
}

const toJson = ({ databaseAt, offsetMs, isSkewed, jump }: ClockState): XStatic<typeof ClockSchema> => ({
  database_at: databaseAt.toISOString(),
  ahead_seconds: Math.round(offsetMs) / 1000,
  skewed: isSkewed,
  in_doubt: jump !== null,
  expected_at: jump?.expectedAt.toISOString() ?? null,
  jumped_at: jump?.jumpedAt.toISOString() ?? null,
  trusted_in_seconds: jump === null ? null : Math.round(trustedInMs(jump) / 1000),
});
