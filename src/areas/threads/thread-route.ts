/**
 * GET /api/thread/{threadId}: all emails of one thread. The path that callers use most; see bench/.
 *
 * The version of the thread is its ETag, so for a caller that polls, emails are neither read nor sent again. The tag is weak (RFC 9110
 * §8.8.1): a large thread is read while it is sent, and may be changed meanwhile.
 */
import { routed, type ThreadDeps } from './routed.ts';
import type { HttpContext, HttpServer } from '../../platform/http/answers/context.ts';
import { OF_THREAD } from '../../platform/http/operations/account-rules.ts';
import { schemaOfOperation } from '../../platform/http/operations/operation-schema.ts';
import type { ThreadEmails } from './thread-list-ports.ts';
import { isUnchanged } from '../../platform/http/answers/entity-tag.ts';
import { errorResponses } from '../../platform/schemas/error-schemas.ts';
import { Email, jsonResponse, record, ThreadParams } from '../../platform/schemas/schemas.ts';

/** Increase it when the answers for the same emails change their form: caches still have the old ones. */
const FORM = 1;

/** The tag of a caller that sends a single one. A version has at most 16 digits. */
const OUR_TAG = new RegExp(`^W/"${FORM}-(\\d{1,16})"$`);

const ThreadResult = record('Thread', { emails: { type: 'array', items: Email } });

const ConditionalHeaders = {
  type: 'object',
  properties: {
    'if-none-match': {
      type: 'string',
      description: 'ETags of copies that the caller has; the response is 304 when one of them is current.',
    },
  },
} as const;

const CacheHeaders = {
  ETag: { type: 'string', description: 'Changes whenever the returned emails change.' },
  'Cache-Control': {
    type: 'string',
    const: 'private, no-cache',
    description: 'A browser may store the response and revalidates it by the ETag.',
  },
} as const;

const getThread = routed<{ readonly threadId: string }, ThreadEmails>()({
  id: 'getThread',
  method: 'GET',
  path: '/api/thread/:threadId',
  right: 'read',
  tag: 'Emails',
  summary: 'Read all emails of a thread',
  description:
    'Both directions, with attachment records, ordered by date and then by id. A large thread is streamed. With the ETag ' +
    'of an earlier response in `If-None-Match`, an unchanged thread gets 304 without emails.',
  account: OF_THREAD,
});

export function registerThreadRoutes(
  app: HttpServer,
  { perform, sendEmails }: HttpContext<ThreadDeps>,
): void {
  app.get(
    getThread.path,
    {
      schema: {
        ...schemaOfOperation(getThread),
        params: ThreadParams,
        headers: ConditionalHeaders,
        response: {
          200: jsonResponse('The emails of the thread.', ThreadResult, CacheHeaders),
          304: { description: 'Not modified.', headers: CacheHeaders, type: 'null' },
          ...errorResponses(
            'invalid_uuid',
            'invalid_credentials',
            'thread_not_found',
            'busy',
            'database_unavailable',
          ),
        },
      },
    },
    async (request, reply) => {
      const ifNoneMatch = request.headers['if-none-match'];
      const known = ifNoneMatch === undefined ? null : (OUR_TAG.exec(ifNoneMatch)?.[1] ?? null);
      const thread = await perform(
        request,
        getThread,
        { threadId: request.params.threadId.toLowerCase() },
        ({ threadId }, threads) => threads.readThread(threadId, known),
      );
      const tag = `"${FORM}-${thread.version}"`;
      reply.header('etag', `W/${tag}`);
      // Only the browser may cache the answer, and it must ask each time: a secret may have been revoked.
      reply.header('cache-control', 'private, no-cache');
      if (thread.emails === null || (ifNoneMatch !== undefined && isUnchanged(ifNoneMatch, tag))) {
        return reply.code(304).send();
      }
      return sendEmails(reply, thread.emails);
    },
  );
}
