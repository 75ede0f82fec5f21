/** GET /api/refused-merges: threads of different customers that mail would have joined. */
import type { RefusedMerge } from './refused-merge-store.ts';
import type { HttpContext, HttpServer } from '../../platform/http/answers/context.ts';
import { routed, type ThreadDeps } from './routed.ts';
import type { RefusedMergesPage, RefusedMergesRequest } from './use-cases.ts';
import { schemaOfOperation } from '../../platform/http/operations/operation-schema.ts';
import { PLACEMENT_RULES } from '../emails/email-schemas.ts';
import {
  ACCOUNT_PAGE_ERRORS,
  AccountPageQuery,
  pageSchema,
  toAccountPage,
} from '../../platform/schemas/page-schemas.ts';
import { errorResponses } from '../../platform/schemas/error-schemas.ts';
import {
  jsonResponse,
  MessageIdText,
  NullableUuid,
  record,
  Timestamp,
  Uuid,
} from '../../platform/schemas/schemas.ts';

export const RefusedMergeSchema = record('RefusedMerge', {
  account_id: { type: 'string' },
  email_id: { ...Uuid, description: 'The email that names both.' },
  thread_id: { ...Uuid, description: 'Thread of the email.' },
  customer_id: { ...NullableUuid, description: 'Customer of that thread.' },
  other_thread_id: { ...Uuid, description: 'The other thread that the email names.' },
  other_customer_id: { ...NullableUuid, description: 'Customer of the other thread.' },
  rule: {
    type: 'string',
    enum: PLACEMENT_RULES.filter((rule) => !['new', 'thread_id', 'decision'].includes(rule)),
    description: 'How the email names the other thread.',
  },
  message_id: { ...MessageIdText, description: 'Message-ID in the email that belongs to the other thread.' },
  refused_at: Timestamp,
});

const RefusedMerges = pageSchema('RefusedMerges', 'refused_merges', RefusedMergeSchema);

const listRefusedMerges = routed<RefusedMergesRequest, RefusedMergesPage>()({
  id: 'listRefusedMerges',
  method: 'GET',
  path: '/api/refused-merges',
  right: 'read',
  tag: 'Threads',
  summary: 'List refused merges',
  description:
    'Mail never joins threads that sends named for different customers: it stays in the thread of its best link, and ' +
    'is listed here, newest first, until POST /api/thread/{threadId}/merge makes one thread of the two.',
  account: 'list',
});

export function registerRefusedMergeRoutes(app: HttpServer, { perform }: HttpContext<ThreadDeps>): void {
  app.get(
    listRefusedMerges.path,
    {
      schema: {
        ...schemaOfOperation(listRefusedMerges),
        querystring: AccountPageQuery,
        response: {
          200: jsonResponse('One page.', RefusedMerges),
          ...errorResponses(...ACCOUNT_PAGE_ERRORS),
        },
      },
    },
    async (request) => {
      const page = await perform(request, listRefusedMerges, toAccountPage(request.query), (asked, threads) =>
        threads.listRefusedMerges(asked),
      );
      return { refused_merges: page.refusedMerges.map(toRefusedMergeJson), next_cursor: page.nextCursor };
    },
  );
}

export function toRefusedMergeJson(merge: RefusedMerge) {
  return {
    account_id: merge.accountId,
    email_id: merge.emailId,
    thread_id: merge.threadId,
    customer_id: merge.customerId,
    other_thread_id: merge.otherThreadId,
    other_customer_id: merge.otherCustomerId,
    rule: merge.rule,
    message_id: `<${merge.messageId}>`,
    refused_at: merge.refusedAt.toISOString(),
  };
}
