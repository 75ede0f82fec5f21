/** The decisions of operators about threads, in the API: /api/thread/{threadId}/split, /merge and /move. */
import { operationsWith, type ActFields } from '../../platform/operation/declaration.ts';
import type { Seen } from '../../platform/operation/seen-accounts.ts';
import type { Value } from '../../platform/operation/values.ts';
import { DryRun } from '../../platform/schemas/dry-run.ts';
import {
  NullableTimestamp,
  NullableUuid,
  record,
  ThreadParams,
  Uuid,
} from '../../platform/schemas/schemas.ts';
import { ServiceError } from '../../core/errors.ts';
import type { EmailDetail } from '../emails/email-ports.ts';
import type { AccountOf } from '../../platform/access/account-of.ts';
import type { Decisions } from './decide-threads.ts';
import { MAX_DECISION_EMAILS, MAX_REASON_CHARS, type DecisionResult } from './thread-decisions.ts';

/** The longest list of emails and the longest reason, escaped, in bytes. */
const MAX_BODY_BYTES = MAX_DECISION_EMAILS * 48 + MAX_REASON_CHARS * 6 + 4096;

const Reason = {
  title: 'DecisionReason',
  type: ['string', 'null'],
  minLength: 1,
  maxLength: MAX_REASON_CHARS,
  pattern: '^[^\\u0000]*$',
  description: 'Reason for people to read; stored with the decision.',
} as const;

const emailIds = (description: string) =>
  ({ type: 'array', minItems: 1, maxItems: MAX_DECISION_EMAILS, items: Uuid, description }) as const;

const SplitBody = {
  type: 'object',
  title: 'SplitRequest',
  additionalProperties: false,
  required: ['email_ids'],
  properties: {
    email_ids: emailIds('Emails to split off; at least one email must stay in the thread.'),
    reason: Reason,
  },
} as const;

const MoveBody = {
  type: 'object',
  title: 'MoveRequest',
  additionalProperties: false,
  required: ['email_ids'],
  properties: {
    email_ids: emailIds('Emails to move into this thread, from any thread of the same account.'),
    reason: Reason,
  },
} as const;

const MergeBody = {
  type: 'object',
  title: 'MergeRequest',
  additionalProperties: false,
  required: ['thread_id'],
  properties: {
    thread_id: {
      ...Uuid,
      description: 'The thread to merge into this one; it must belong to the same account.',
    },
    reason: Reason,
  },
} as const;

const Result = record('ThreadDecision', {
  thread_id: { ...Uuid, description: 'Thread that contains the emails now; after a split the new thread.' },
  changed: { type: 'boolean', description: 'False when a repeated request changed nothing.' },
  decision_id: {
    ...NullableUuid,
    description: 'Id of the decision; null when none was needed.',
  },
  decided_at: NullableTimestamp,
});

const COMMON =
  'The decision outlives later mail and rethreading: a reply joins the email that it answers, whatever its ' +
  'References name. Identifiers stay valid. A repeat of the same request changes nothing.';

/** Emails whose thread is looked up before they are moved; each is read whole. */
const MAX_LOCATED = 20;
/** Emails of a decision that are logged; beyond them only their number. */
const MAX_TOLD = 100;

const params = ThreadParams.properties;
const tag = 'Threads';
const right = 'operate';
const maxBodyBytes = MAX_BODY_BYTES;

interface Deps {
  readonly decisions: Decisions;
  readonly accountOf: Pick<AccountOf, 'thread' | 'areWithin'>;
  readonly readEmail: (id: string) => Promise<EmailDetail>;
}

const operation = operationsWith<Deps>();

const requireThread = (id: string, seen: Seen, { accountOf }: Deps) =>
  seen.require(() => accountOf.thread(id), 'thread_not_found');

interface OfEmails {
  readonly threadId: string;
  readonly emailIds: readonly string[];
}

/** A thread and emails; the caller must see all of them. */
async function withinSeen<Input extends OfEmails>(input: Input, seen: Seen, deps: Deps): Promise<Input> {
  await requireThread(input.threadId, seen, deps);
  if (seen.accounts !== null && !(await deps.accountOf.areWithin(input.emailIds, seen.accounts)))
    throw new ServiceError('email_not_found');
  return input;
}

const ofEmails = ({ threadId, emailIds }: OfEmails): ActFields => ({
  threadId,
  emailIds: emailIds.slice(0, MAX_TOLD),
  emailCount: emailIds.length,
});

const after = ({ threadId, changed, decisionId }: Value<typeof Result>): ActFields => ({
  threadId,
  changed,
  decisionId,
});

export const decisionOperations = [
  operation({
    id: 'splitThread',
    method: 'POST',
    path: '/api/thread/:threadId/split',
    right,
    account: { decide: withinSeen },
    tag,
    summary: 'Split a thread',
    description: `Moves the given emails into a new thread, which inherits the customer; the other emails keep the thread id. ${COMMON}`,
    params,
    body: SplitBody,
    maxBodyBytes,
    answer: 'The emails are in the new thread.',
    output: Result,
    errors: [
      'thread_not_found',
      'different_accounts',
      'email_not_found',
      'email_not_in_thread',
      'thread_would_be_empty',
    ],
    act: { event: 'thread.split', what: ofEmails, after },
    run: async (caller, { reason = null, ...emails }, { decisions }) =>
      toShown(await decisions.split(caller, { ...emails, reason })),
  }),

  operation({
    id: 'mergeThreads',
    method: 'POST',
    path: '/api/thread/:threadId/merge',
    right,
    account: {
      async decide(input, seen, deps) {
        await requireThread(input.threadId, seen, deps);
        await requireThread(input.body.threadId, seen, deps);
        return input;
      },
    },
    tag,
    summary: 'Merge two threads',
    description: `Merges the other thread into this one; the id of the other thread leads here from then on. ${COMMON}`,
    params,
    query: DryRun('True: the threads are not merged; the response is that of the merge, without a decision.')
      .properties,
    body: MergeBody,
    bodyAs: 'body',
    maxBodyBytes,
    answer: 'The threads are merged.',
    output: Result,
    errors: ['thread_not_found', 'different_accounts'],
    act: {
      event: 'thread.merged',
      unless: ({ dryRun }) => dryRun,
      what: ({ threadId, body }) => ({ threadId, otherThreadId: body.threadId }),
      after,
    },
    run: async (
      caller,
      { threadId, dryRun, body: { threadId: otherThreadId, reason = null } },
      { decisions },
    ) => toShown(await decisions.merge(caller, { threadId, otherThreadId, reason, dryRun })),
  }),

  operation({
    id: 'moveEmails',
    method: 'POST',
    path: '/api/thread/:threadId/move',
    right,
    account: { decide: withinSeen },
    tag,
    summary: 'Move emails into a thread',
    description: `Moves emails from any thread of the same account; a thread that loses its last email is merged into this thread. ${COMMON}`,
    params,
    body: MoveBody,
    maxBodyBytes,
    answer: 'The emails are in this thread.',
    output: Result,
    errors: ['thread_not_found', 'different_accounts', 'email_not_found'],
    act: {
      event: 'thread.emails_moved',
      what: ofEmails,
      async before({ emailIds }, { readEmail }) {
        const threads: Record<string, string> = {};
        for (const id of emailIds.slice(0, MAX_LOCATED)) threads[id] = (await readEmail(id)).threadId;
        return threads;
      },
      after,
    },
    run: async (caller, { reason = null, ...emails }, { decisions }) =>
      toShown(await decisions.move(caller, { ...emails, reason })),
  }),
];

const toShown = ({ threadId, changed, decision }: DecisionResult): Value<typeof Result> => ({
  threadId,
  changed,
  decisionId: decision?.id ?? null,
  decidedAt: decision?.decidedAt ?? null,
});
