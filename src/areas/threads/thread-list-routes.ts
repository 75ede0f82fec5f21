/**
 * GET /api/threads: all threads, newest activity first, page by page. POST /api/thread/{threadId}/read and /unread: mark its emails as read
 * or unread.
 */
import { routed, type ThreadDeps } from './routed.ts';
import { requestOf, THREAD_FILTERS, type ThreadFilters } from './thread-filters.ts';
import { fromJson } from '../../platform/operation/values.ts';
import { MAX_SHOWN_RECIPIENTS, type ThreadListing, type ThreadMark } from './thread-list-ports.ts';
import { senderWarnings, type OwnSenders } from '../../core/address/sender-warnings.ts';
import type { HttpContext, HttpServer } from '../../platform/http/answers/context.ts';
import { OF_THREAD } from '../../platform/http/operations/account-rules.ts';
import type { ThreadsPage, ThreadsRequest } from './use-cases.ts';
import { schemaOfOperation } from '../../platform/http/operations/operation-schema.ts';
import { keyIdOf } from '../../core/keys/caller.ts';
import {
  PAGE_PARAMETERS,
  toPageRequest,
  pageSchema,
  PAGE_ERRORS,
} from '../../platform/schemas/page-schemas.ts';
import { JSON_BODY_ERRORS, optionalJsonBody } from '../../platform/http/body/json-body.ts';
import { SenderWarnings } from '../emails/sender-warnings.ts';
import { AutomaticKind } from '../emails/email-schemas.ts';
import { toAddressJson } from '../emails/email-view.ts';
import { errorResponses } from '../../platform/schemas/error-schemas.ts';
import { toWorkJson, UndeliveredCount, workProperties } from '../../platform/schemas/thread-schemas.ts';
import {
  AddressObject,
  Direction,
  jsonResponse,
  NullableUuid,
  record,
  ThreadParams,
  Timestamp,
  Uuid,
} from '../../platform/schemas/schemas.ts';

const ThreadsQuerySchema = {
  type: 'object',
  // A misspelt filter must not return threads that it was meant to exclude.
  additionalProperties: false,
  properties: { ...PAGE_PARAMETERS, ...THREAD_FILTERS },
} as const;

const readQuery = fromJson(THREAD_FILTERS);

const ThreadSummary = record('ThreadSummary', {
  id: Uuid,
  account_id: { type: 'string' },
  subject: { type: 'string', description: 'Subject of the first email.' },
  customer_id: NullableUuid,
  company_id: NullableUuid,
  participants: {
    type: 'array',
    items: AddressObject,
    maxItems: 10,
    description: 'Senders, then recipients, of the newest 20 emails; each address once.',
  },
  email_count: {
    type: 'integer',
    minimum: 0,
    description: 'Without emails that certainly did not go out; 0 when nothing else is in the thread.',
  },
  unread_count: { type: 'integer', minimum: 0 },
  unanswered: { type: 'boolean' },
  undelivered: UndeliveredCount,
  has_attachments: { type: 'boolean' },
  ...workProperties,
  last_activity_at: {
    ...Timestamp,
    description: 'The date of the newest email, or the time it was recorded if that is earlier.',
  },
  newest_email: record('EmailPreview', {
    id: Uuid,
    direction: Direction,
    from_address: AddressObject,
    sender_warnings: SenderWarnings,
    to_addresses: {
      type: 'array',
      items: AddressObject,
      maxItems: MAX_SHOWN_RECIPIENTS,
      description: 'The first of them; `GET /api/emails/{id}` has all.',
    },
    automatic: AutomaticKind,
    date: Timestamp,
    snippet: {
      type: 'string',
      maxLength: 200,
      description: 'The beginning of the text on one line, without recognised quotes.',
    },
  }),
});

const Threads = pageSchema('Threads', 'threads', ThreadSummary);

const MarkResult = record('ThreadMark', {
  id: {
    ...Uuid,
    description:
      'Id of the thread. It differs from the requested id when that thread was merged into this one.',
  },
  unread_count: { type: 'integer', minimum: 0, description: 'Number of unread emails.' },
});

const listThreads = routed<ThreadsRequest, ThreadsPage>()({
  id: 'listThreads',
  method: 'GET',
  path: '/api/threads',
  right: 'read',
  tag: 'Emails',
  summary: 'List threads',
  description:
    'Newest activity first. Filters combine. Threads with only `failed` or `cancelled` sends are excluded, unless a ' +
    'failed send needs attention. A thread that begins with a send of a program, outside of a session of the page, is ' +
    'done until an email arrives; a thread with undelivered sends is open.',
  account: 'list',
});

const marking = (mark: 'read' | 'unread') =>
  routed<{ readonly threadId: string }, ThreadMark>()({
    id: mark === 'read' ? 'markThreadRead' : 'markThreadUnread',
    method: 'POST',
    path: `/api/thread/:threadId/${mark}`,
    right: 'handle',
    tag: 'Emails',
    summary: `Mark the received emails of a thread as ${mark}`,
    description:
      'Marks all emails that the thread contains now. A repeat changes nothing. Needs no body; a body with fields is refused.',
    account: OF_THREAD,
  });

export function registerThreadListRoutes(
  app: HttpServer,
  { perform, limits, ownSenders }: HttpContext<ThreadDeps>,
): void {
  app.get(
    listThreads.path,
    {
      schema: {
        ...schemaOfOperation(listThreads),
        querystring: ThreadsQuerySchema,
        response: {
          200: jsonResponse('One page.', Threads),
          ...errorResponses(...PAGE_ERRORS, 'invalid_uuid', 'unknown_account'),
        },
      },
    },
    async (request) => {
      const query = readQuery(request.query) as ThreadFilters;
      const asked = { ...requestOf(query), ...toPageRequest(request.query) };
      const page = await perform(request, listThreads, asked, (within, threads) =>
        threads.listThreads(within),
      );
      return {
        threads: page.threads.map((thread) => toThreadJson(thread, ownSenders)),
        next_cursor: page.nextCursor,
      };
    },
  );

  for (const mark of ['read', 'unread'] as const) {
    const operation = marking(mark);
    app.post(
      operation.path,
      {
        schema: {
          ...schemaOfOperation(operation),
          params: ThreadParams,
          response: {
            200: jsonResponse('Marked.', MarkResult),
            ...errorResponses(
              ...JSON_BODY_ERRORS,
              'invalid_uuid',
              'invalid_credentials',
              'thread_not_found',
              'database_unavailable',
            ),
          },
        },
        preValidation: optionalJsonBody(limits),
      },
      async (request) =>
        toMarkJson(
          await perform(
            request,
            operation,
            { threadId: request.params.threadId.toLowerCase() },
            ({ threadId }, threads, caller) => threads.markThread(threadId, mark, keyIdOf(caller)),
          ),
        ),
    );
  }
}

const toMarkJson = ({ threadId, unreadCount }: ThreadMark) => ({ id: threadId, unread_count: unreadCount });

function toThreadJson(thread: ThreadListing, own: OwnSenders) {
  const { newestEmail } = thread;
  return {
    id: thread.id,
    account_id: thread.accountId,
    subject: thread.subject,
    customer_id: thread.customerId,
    company_id: thread.companyId,
    participants: thread.participants.map(toAddressJson),
    email_count: thread.emailCount,
    unread_count: thread.unreadCount,
    unanswered: thread.unanswered,
    undelivered: thread.undelivered,
    has_attachments: thread.hasAttachments,
    ...toWorkJson(thread),
    last_activity_at: thread.lastActivityAt.toISOString(),
    newest_email: {
      id: newestEmail.id,
      direction: newestEmail.direction,
      from_address: toAddressJson(newestEmail.from),
      sender_warnings: [...senderWarnings({ ...newestEmail.from, ...newestEmail }, own)],
      to_addresses: newestEmail.to.map(toAddressJson),
      automatic: newestEmail.automatic,
      date: newestEmail.date.toISOString(),
      snippet: newestEmail.snippet,
    },
  };
}
