/** The clocks of the process and of the database, in the API: /api/clock. */
import { operationsWith, type ActFields } from '../../platform/operation/declaration.ts';
import type { Value } from '../../platform/operation/values.ts';
import { NullableTimestamp, record, Timestamp } from '../../platform/schemas/schemas.ts';
import { keyIdOf } from '../../core/keys/caller.ts';
import type { ClockGuard, ClockJump, ClockState } from '../../platform/base/clock-guard.ts';

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

/** See migrations/0001_schema/clock.ts. */
const PROBATION_MS = 86_400_000;

interface Deps {
  readonly guard: Pick<ClockGuard, 'measure' | 'trust'>;
}

const operation = operationsWith<Deps>();

export const clockOperations = [
  operation({
    id: 'getClock',
    method: 'GET',
    path: '/api/clock',
    right: 'operate',
    account: 'every',
    tag: 'Health',
    summary: 'Compare the clocks of the process and of the database',
    description: 'Measured now.',
    answer: 'Both clocks.',
    output: ClockSchema,
    run: async (_caller, _input, { guard }) => toShown(await guard.measure()),
  }),

  operation({
    id: 'confirmClock',
    method: 'POST',
    path: '/api/clock/confirm',
    right: 'operate',
    account: 'every',
    tag: 'Health',
    summary: "Confirm the database's clock after a jump",
    description:
      'Confirms that the time is right, for example after the service was stopped for days or a backup was restored. ' +
      'Deletions that were held continue. A repeat changes nothing. Needs no body; a body with fields is refused.',
    answer: 'The clock is trusted.',
    output: ClockSchema,
    act: {
      event: 'clock.confirmed',
      what: () => ({}),
      before: async (_input, { guard }) => actFields(toShown(await guard.measure())),
      after: actFields,
    },
    run: async (caller, _input, { guard }) => toShown(await guard.trust(keyIdOf(caller))),
  }),
];

function trustedInMs({ expectedAt, jumpedAt, lastedMs }: ClockJump): number {
  const stepMs = jumpedAt.getTime() - expectedAt.getTime() + lastedMs;
  return Math.max(0, Math.min(stepMs, PROBATION_MS) - lastedMs);
}

const toShown = ({ databaseAt, offsetMs, isSkewed, jump }: ClockState): Value<typeof ClockSchema> => ({
  databaseAt,
  aheadSeconds: Math.round(offsetMs) / 1000,
  skewed: isSkewed,
  inDoubt: jump !== null,
  expectedAt: jump?.expectedAt ?? null,
  jumpedAt: jump?.jumpedAt ?? null,
  trustedInSeconds: jump === null ? null : Math.round(trustedInMs(jump) / 1000),
});

function actFields({ databaseAt, expectedAt, jumpedAt }: Value<typeof ClockSchema>): ActFields {
  return { databaseAt, expectedAt, jumpedAt };
}
