/** What is due to be deleted by the accounts' rules, in the API: /api/retention. */
import { operationsWith } from '../../platform/operation/declaration.ts';
import type { Value } from '../../platform/operation/values.ts';
import { DryRun } from '../../platform/schemas/dry-run.ts';
import { DELETION_ERRORS } from '../../platform/schemas/error-schemas.ts';
import { NullableTimestamp, record, Timestamp } from '../../platform/schemas/schemas.ts';
import { emailsOf, type ConfirmRetention } from './retain.ts';
import type { Retention } from './retention-store.ts';

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

const operation = operationsWith<{ readonly retention: ConfirmRetention }>();

export const retentionOperations = [
  operation({
    id: 'getRetention',
    method: 'GET',
    path: '/api/retention',
    right: 'operate',
    account: 'every',
    tag: 'Erasure',
    summary: 'Show what retention will delete',
    description:
      'Lists threads without activity for longer than `RETENTION_DAYS`, or the value in the accounts file. Only a small ' +
      'share of all emails is deleted in an hour; anything beyond it is held.',
    answer: 'Emails that are due.',
    output: RetentionSchema,
    run: async (_caller, _input, { retention }) => toShown(await retention.read()),
  }),

  operation({
    id: 'confirmRetention',
    method: 'POST',
    path: '/api/retention/confirm',
    right: 'operate',
    account: 'every',
    tag: 'Erasure',
    summary: 'Confirm held deletions of retention',
    description:
      'Allows retention to delete this many emails beyond the hourly limit within a day. Check `GET /api/retention` first: ' +
      'deletion is permanent. Refused while clocks are wrong.',
    query: DryRun('True: the request is checked and the response shows what is due; nothing is confirmed.')
      .properties,
    body: ConfirmBody,
    answer: 'Confirmed; with `dry_run` nothing was.',
    output: RetentionSchema,
    errors: DELETION_ERRORS,
    act: {
      event: 'retention.confirmed',
      unless: ({ dryRun }) => dryRun,
      what: ({ emails }) => ({ emails }),
      after: ({ confirmed, confirmedUntil }) => ({ confirmed, confirmedUntil }),
    },
    run: async (caller, request, { retention }) => toShown(await retention.confirm(caller, request)),
  }),
];

function toShown({ due, began, ...hour }: Retention): Value<typeof RetentionSchema> {
  return {
    ...hour,
    emails: emailsOf(due),
    hourBegan: began,
    accounts: due.map(({ days, ...threads }) => ({ ...threads, retentionDays: days })),
  };
}
