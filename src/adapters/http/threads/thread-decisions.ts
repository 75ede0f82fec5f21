/** The decisions of operators about threads: POST /api/thread/{threadId}/split, /merge and /move. */
import {
  MAX_DECISION_EMAILS,
  MAX_REASON_CHARS,
  type DecisionResult,
} from '../../../app/threads/thread-decisions.ts';
import type { HttpContext, HttpServer } from '../answers/context.ts';
import { smallJsonBody } from '../body/json-body.ts';
import { DryRun } from '../../../platform/schemas/dry-run.ts';
import { errorResponses } from '../../../platform/schemas/error-schemas.ts';
import {
  jsonResponse,
  NullableTimestamp,
  NullableUuid,
  record,
  ThreadParams,
  Uuid,
} from '../../../platform/schemas/schemas.ts';

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

const MergeDryRun = DryRun(
  'True: the threads are not merged; the response is that of the merge, without a decision.',
);

const Result = record('ThreadDecision', {
  thread_id: { ...Uuid, description: 'Thread that contains the emails now; after a split the new thread.' },
  changed: { type: 'boolean', description: 'False when a repeated request changed nothing.' },
  decision_id: {
    ...NullableUuid,
    description: 'Id of the decision; null when none was needed.',
  },
  decided_at: NullableTimestamp,
});

const ERRORS = [
  'invalid_json',
  'duplicate_field',
  'invalid_request',
  'invalid_uuid',
  'unauthorized',
  'thread_not_found',
  'different_accounts',
  'unknown_field',
  'request_timeout',
  'payload_too_large',
  'unsupported_media_type',
  'unsupported_content_encoding',
  'database_unavailable',
] as const;

const COMMON =
  'The decision outlives later mail and rethreading: a reply joins the email that it answers, whatever its ' +
  'References name. Identifiers stay valid. A repeat of the same request changes nothing.';

export function registerThreadDecisionRoutes(
  app: HttpServer,
  { applicationFor, operationsFor, limits }: HttpContext,
): void {
  const preValidation = smallJsonBody(limits, MAX_BODY_BYTES);
  const lower = (ids: readonly string[]) => ids.map((id) => id.toLowerCase());

  app.post(
    '/api/thread/:threadId/split',
    {
      schema: {
        operationId: 'splitThread',
        right: 'operate',
        tags: ['Threads'],
        summary: 'Split a thread',
        description: `Moves the given emails into a new thread, which inherits the customer; the other emails keep the thread id. ${COMMON}`,
        params: ThreadParams,
        body: SplitBody,
        response: {
          200: jsonResponse('The emails are in the new thread.', Result),
          ...errorResponses(...ERRORS, 'email_not_found', 'email_not_in_thread', 'thread_would_be_empty'),
        },
      },
      preValidation,
    },
    async (request) =>
      toResultJson(
        await operationsFor(request).splitThread({
          threadId: request.params.threadId.toLowerCase(),
          emailIds: lower(request.body.email_ids),
          reason: request.body.reason ?? null,
        }),
      ),
  );

  app.post(
    '/api/thread/:threadId/merge',
    {
      schema: {
        operationId: 'mergeThreads',
        right: 'operate',
        tags: ['Threads'],
        summary: 'Merge two threads',
        description: `Merges the other thread into this one; the id of the other thread leads here from then on. ${COMMON}`,
        params: ThreadParams,
        querystring: MergeDryRun,
        body: MergeBody,
        response: {
          200: jsonResponse('The threads are merged.', Result),
          ...errorResponses(...ERRORS),
        },
      },
      preValidation,
    },
    async (request) => {
      const merge = {
        threadId: request.params.threadId.toLowerCase(),
        otherThreadId: request.body.thread_id.toLowerCase(),
        reason: request.body.reason ?? null,
      };
      return toResultJson(
        request.query.dry_run === true
          ? await applicationFor(request).checkMergeThreads(merge)
          : await operationsFor(request).mergeThreads(merge),
      );
    },
  );

  app.post(
    '/api/thread/:threadId/move',
    {
      schema: {
        operationId: 'moveEmails',
        right: 'operate',
        tags: ['Threads'],
        summary: 'Move emails into a thread',
        description: `Moves emails from any thread of the same account; a thread that loses its last email is merged into this thread. ${COMMON}`,
        params: ThreadParams,
        body: MoveBody,
        response: {
          200: jsonResponse('The emails are in this thread.', Result),
          ...errorResponses(...ERRORS, 'email_not_found'),
        },
      },
      preValidation,
    },
    async (request) =>
      toResultJson(
        await operationsFor(request).moveEmails({
          threadId: request.params.threadId.toLowerCase(),
          emailIds: lower(request.body.email_ids),
          reason: request.body.reason ?? null,
        }),
      ),
  );
}

function toResultJson({ threadId, changed, decision }: DecisionResult) {
  return {
    thread_id: threadId,
    changed,
    decision_id: decision?.id ?? null,
    decided_at: decision?.decidedAt.toISOString() ?? null,
  };
}
