/**
 * GET /api/threads: all threads, newest activity first, page by page. POST /api/thread/{threadId}/read and /unread: mark its emails as read
 * or unread.
 */
import { routed, type ThreadDeps } from './routed.ts';
import { MAX_SHOWN_RECIPIENTS, type ThreadListing, type ThreadMark } from './thread-list-ports.ts';
import { senderWarnings, type OwnSenders } from '../../core/address/sender-warnings.ts';
import { invalidRequest } from '../../core/errors.ts';
import type { HttpContext, HttpServer } from '../../platform/http/answers/context.ts';
import { OF_THREAD } from '../../platform/http/operations/account-rules.ts';
import type { ThreadsPage, ThreadsRequest } from './use-cases.ts';
import { schemaOfOperation } from '../../platform/http/operations/operation-schema.ts';
import { keyIdOf } from '../../core/keys/caller.ts';
import {
  AccountId,
  PAGE_PARAMETERS,
  toPageRequest,
  toSearchParts,
  pageSchema,
  SEARCH_PART_PARAMETERS,
  SearchQuery,
  PAGE_ERRORS,
} from '../../platform/schemas/page-schemas.ts';
import { JSON_BODY_ERRORS, optionalJsonBody } from '../../platform/http/body/json-body.ts';
import { SenderWarnings } from '../emails/sender-warnings.ts';
import { AutomaticKind } from '../emails/email-schemas.ts';
import { toAddressJson } from '../emails/email-view.ts';
import { KeyId } from '../../platform/schemas/right.ts';
import { errorResponses } from '../../platform/schemas/error-schemas.ts';
import {
  ThreadLabel,
  ThreadStatusText,
  toWorkJson,
  UndeliveredCount,
  workProperties,
} from '../../platform/schemas/thread-schemas.ts';
import {
  AddressObject,
  Direction,
  jsonResponse,
  Moment,
  NullableUuid,
  record,
  ThreadParams,
  Timestamp,
  toMoment,
  Uuid,
} from '../../platform/schemas/schemas.ts';

const ThreadsQuerySchema = {
  type: 'object',
  // A misspelt filter must not return threads that it was meant to exclude.
  additionalProperties: false,
  properties: {
    ...PAGE_PARAMETERS,
    q: { ...SearchQuery, description: 'Only threads with an email that matches all its words.' },
    ...SEARCH_PART_PARAMETERS,
    customer_id: { ...Uuid, description: 'Only threads of this customer.' },
    company_id: { ...Uuid, description: 'Only threads of this company.' },
    account_id: { ...AccountId, description: 'Only of this account.' },
    direction: {
      ...Direction,
      description: 'Only threads whose newest email has this direction.',
    },
    unread: { type: 'boolean', description: 'Only threads with unread emails, or only those without.' },
    unanswered: {
      type: 'boolean',
      description:
        '`true`: only threads whose newest email not written by a machine (`written_by`) is inbound; `false`: only the others.',
    },
    undelivered: {
      type: 'boolean',
      description:
        'Only threads with a send that failed, is unclear, was refused for some recipients, or bounced, and that was not dealt ' +
        'with; or only the others.',
    },
    status: { ...ThreadStatusText, description: 'Only threads of this status.' },
    assignee: { ...KeyId, description: 'Only threads of this assignee.' },
    assigned: {
      type: 'boolean',
      description: 'Only threads with an assignee, or only those without one.',
    },
    label: { ...ThreadLabel, description: 'Only threads with this label.' },
    has_attachments: {
      type: 'boolean',
      description: 'Only threads with attachments, or only those without.',
    },
    active_since: { ...Moment, description: 'Only threads whose last activity was at or after this time.' },
    active_until: { ...Moment, description: 'Only threads whose last activity was before this time.' },
  },
} as const;

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
      const { query } = request;
      if (query.assignee !== undefined && query.assigned === false)
        throw invalidRequest('not_with', { field: 'assignee', other: 'assigned=false' });
      const asked = {
        q: query.q ?? null,
        searchIn: toSearchParts(query),
        customerId: query.customer_id?.toLowerCase() ?? null,
        companyId: query.company_id?.toLowerCase() ?? null,
        accountId: query.account_id ?? null,
        direction: query.direction ?? null,
        unread: query.unread ?? null,
        unanswered: query.unanswered ?? null,
        undelivered: query.undelivered ?? null,
        status: query.status ?? null,
        assignee: query.assignee ?? null,
        isAssigned: query.assigned ?? null,
        label: query.label ?? null,
        hasAttachments: query.has_attachments ?? null,
        activeSince: momentOf('active_since', query.active_since),
        activeUntil: momentOf('active_until', query.active_until),
        ...toPageRequest(query),
      };
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

const momentOf = (field: string, text: string | undefined): Date | null =>
  text === undefined ? null : toMoment(field, text);

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
