/**
 * GET /api/emails/{id}/placement: why an email is in its thread.
 */
import { routed, type ThreadDeps } from './routed.ts';
import type { ExplainedPlacement, PlacedEmail } from './placement-facts.ts';
import type { HttpContext, HttpServer } from '../../platform/http/answers/context.ts';
import { OF_EMAIL } from '../../platform/http/operations/account-rules.ts';
import { schemaOfOperation } from '../../platform/http/operations/operation-schema.ts';
import { PlacementRule, PLACEMENT_RULES } from '../emails/email-schemas.ts';
import { errorResponses } from '../../platform/schemas/error-schemas.ts';
import {
  Direction,
  EmailParams,
  jsonResponse,
  MessageIdText,
  NullableMessageId,
  NullableUuid,
  record,
  Timestamp,
  Uuid,
} from '../../platform/schemas/schemas.ts';
import { RefusedMergeSchema, toRefusedMergeJson } from './refused-merges-route.ts';

const PlacedEmailSchema = record('PlacedEmail', {
  id: Uuid,
  message_id: MessageIdText,
  direction: Direction,
  date: Timestamp,
});

const TieSchema = record('Tie', {
  email_id: Uuid,
  rule: {
    type: 'string',
    enum: PLACEMENT_RULES.filter((rule) => rule !== 'new'),
    description:
      'How the email is tied to the Message-ID: it has it (`message_id`) or names it (the others).',
  },
  message_id: { ...NullableMessageId, description: 'null for `thread_id` and `decision`.' },
});

const DecisionSchema = record('PlacementDecision', {
  id: Uuid,
  kind: { type: 'string', enum: ['split', 'merge', 'move'] },
  thread_id: { ...Uuid, description: 'The thread of the request.' },
  other_thread_id: {
    ...NullableUuid,
    description: 'For a split the new thread, for a merge the thread that ended; null for a move.',
  },
  names_email: { type: 'boolean', description: 'True when the decision removed this email from its thread.' },
  reason: { type: ['string', 'null'] },
  decided_at: Timestamp,
});

const PlacementSchema = record('ExplainedPlacement', {
  email_id: Uuid,
  message_id: MessageIdText,
  account_id: { type: 'string' },
  thread_id: Uuid,
  rule: {
    ...PlacementRule,
    description: 'As in `placement` of GET /api/emails/{id}.',
  },
  matched_message_id: NullableMessageId,
  matched_emails: {
    type: 'array',
    items: PlacedEmailSchema,
    description: 'Emails with the matched Message-ID, oldest first, at most 10; may be empty.',
  },
  first_named_by: {
    anyOf: [PlacedEmailSchema, { type: 'null' }],
    description: 'The first recorded email of the thread that names the matched Message-ID.',
  },
  chain: {
    anyOf: [{ type: 'array', items: TieSchema }, { type: 'null' }],
    description:
      'Links from the email to the first one of the thread; empty for that one. null when there are none any more, or in a ' +
      'thread of more than 10,000 emails.',
  },
  merges: {
    type: 'array',
    description: 'Threads that ended in this one, the newest first, at most 100.',
    items: record('ThreadMerge', { thread_id: Uuid, merged_at: Timestamp }),
  },
  decisions: {
    type: 'array',
    items: DecisionSchema,
    description: 'About the email or its thread, the newest first, at most 100.',
  },
  refused: {
    type: 'array',
    items: RefusedMergeSchema,
    description: 'References to threads of other customers that did not merge, newest first, at most 100.',
  },
  explanation: { type: 'string', description: 'One or two English sentences.' },
});

const explainPlacement = routed<{ readonly id: string }, ExplainedPlacement>()({
  id: 'explainPlacement',
  method: 'GET',
  path: '/api/emails/:id/placement',
  right: 'read',
  tag: 'Threads',
  summary: 'Read why an email is in its thread',
  description: 'The rule, the links to other emails, merges of the thread and decisions of operators.',
  account: OF_EMAIL,
});

export function registerPlacementRoutes(app: HttpServer, { perform }: HttpContext<ThreadDeps>): void {
  app.get(
    explainPlacement.path,
    {
      schema: {
        ...schemaOfOperation(explainPlacement),
        params: EmailParams,
        response: {
          200: jsonResponse('The reasons.', PlacementSchema),
          ...errorResponses('invalid_uuid', 'invalid_credentials', 'email_not_found', 'database_unavailable'),
        },
      },
    },
    async (request) =>
      toPlacementJson(
        await perform(request, explainPlacement, { id: request.params.id.toLowerCase() }, ({ id }, threads) =>
          threads.explainPlacement(id),
        ),
      ),
  );
}

const brackets = (messageId: string | null) => (messageId === null ? null : `<${messageId}>`);

function toPlacementJson(placement: ExplainedPlacement) {
  return {
    email_id: placement.emailId,
    message_id: brackets(placement.messageId),
    account_id: placement.accountId,
    thread_id: placement.threadId,
    rule: placement.rule,
    matched_message_id: brackets(placement.matchedMessageId),
    matched_emails: placement.matchedEmails.map(toPlacedJson),
    first_named_by: placement.firstNamedBy === null ? null : toPlacedJson(placement.firstNamedBy),
    chain:
      placement.chain?.map(({ emailId, rule, messageId }) => ({
        email_id: emailId,
        rule,
        message_id: brackets(messageId),
      })) ?? null,
    merges: placement.merges.map(({ threadId, mergedAt }) => ({
      thread_id: threadId,
      merged_at: mergedAt.toISOString(),
    })),
    decisions: placement.decisions.map((decision) => ({
      id: decision.id,
      kind: decision.kind,
      thread_id: decision.threadId,
      other_thread_id: decision.otherThreadId,
      names_email: decision.namesEmail,
      reason: decision.reason,
      decided_at: decision.decidedAt.toISOString(),
    })),
    refused: placement.refused.map(toRefusedMergeJson),
    explanation: placement.explanation,
  };
}

function toPlacedJson({ id, messageId, direction, date }: PlacedEmail) {
  return { id, message_id: `<${messageId}>`, direction, date: date.toISOString() };
}
