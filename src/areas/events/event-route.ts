/**
 * GET /api/events: the feed of events, page by page, waiting for the next one, or as a stream of server-sent events (WHATWG HTML
 * §9.2). GET /api/events/latest: the position to begin at.
 */
import type { FastifyReply, FastifyRequest } from 'fastify';
import { Readable } from 'node:stream';
import type { EventsResult, EventStreamRequest, EventUseCases } from './use-cases.ts';
import { watchKey } from '../../platform/access/key-ring.ts';
import { keyIdOf, shownKeyOf } from '../../platform/http/connections/auth.ts';
import { formatEventId } from '../../core/event/event-id.ts';
import { EVENT_TYPES } from '../../core/event/event-types.ts';
import { RequestSlots } from '../../platform/http/body/request-slots.ts';
import type { HttpContext, HttpServer } from '../../platform/http/answers/context.ts';
import { routedWith } from '../../platform/operation/declaration.ts';
import { schemaOfOperation } from '../../platform/http/operations/operation-schema.ts';
import { leavePlace } from '../../platform/http/connections/caller-shares.ts';
import { cutStalledReader } from '../../platform/http/connections/stalled-reader.ts';
import { AccountId } from '../../platform/schemas/page-schemas.ts';
import { NullableKeyAuthor } from '../../platform/schemas/author.ts';
import { errorResponses } from '../../platform/schemas/error-schemas.ts';
import { EventId, EventTypeName } from '../../platform/schemas/event-schemas.ts';
import { jsonResponse, NullableUuid, record, Timestamp, Uuid } from '../../platform/schemas/schemas.ts';

const routed = routedWith<EventUseCases>();

const DEFAULT_LIMIT = 100;
const MAX_LIMIT = 1000;
const MAX_WAIT_S = 60;

const NullableText = { type: ['string', 'null'] } as const;

const EventSchema = record('Event', {
  id: EventId,
  type: EventTypeName,
  occurred_at: Timestamp,
  account_id: { ...NullableText, description: 'Account of the event; null when it concerns no account.' },
  email_id: NullableUuid,
  thread_id: NullableUuid,
  customer_id: { ...NullableUuid, description: 'Value at the time of the event.' },
  company_id: { ...NullableUuid, description: 'Value at the time of the event.' },
  historical: {
    type: 'boolean',
    description: 'True for mail of the past: imported, or found at the first reading of a mailbox.',
  },
  author: {
    ...NullableKeyAuthor,
    description:
      'Id of the key that caused the event; for states of a send, the key that sent the email; null when there is none.',
  },
  data: {
    title: 'EventData',
    $comment: 'Depends on the type; see the [guide](/api/docs/events).',
    type: 'object',
    additionalProperties: true,
  },
});

const EventsQuery = {
  type: 'object',
  // A misspelt filter must not return events that it was meant to exclude.
  additionalProperties: false,
  properties: {
    after: {
      ...EventId,
      description:
        'Only events after this one. Default: from the first event that is kept; for a stream, only new events.',
    },
    type: {
      type: 'array',
      items: EventTypeName,
      minItems: 1,
      maxItems: EVENT_TYPES.length,
      description: 'Only these types; repeat the parameter for several.',
    },
    account_id: { ...AccountId, description: 'Only of this account.' },
    customer_id: { ...Uuid, description: 'Only of this customer.' },
    historical: {
      type: 'boolean',
      description: 'False: without historical mail, such as that of an import; true: only historical mail.',
    },
    limit: {
      type: 'integer',
      minimum: 1,
      maximum: MAX_LIMIT,
      default: DEFAULT_LIMIT,
      description: 'Maximum number of entries on a page.',
    },
    wait: {
      type: 'integer',
      minimum: 0,
      maximum: MAX_WAIT_S,
      default: 0,
      description: 'Seconds to wait for the first event when there is none yet.',
    },
  },
} as const;

const StreamHeaders = {
  type: 'object',
  properties: {
    'last-event-id': { ...EventId, description: 'As `after`, over which it takes precedence; for streams.' },
  },
} as const;

const Events = record('Events', {
  events: { type: 'array', items: EventSchema },
  next: {
    ...EventId,
    description:
      'Value of `after` for the next request. It advances even when the filters excluded all events.',
  },
});
const LatestEvent = record('LatestEvent', { id: EventId });

const EVENT_STREAM = 'text/event-stream';

const listEvents = routed<EventStreamRequest, EventsResult | AsyncIterable<EventsResult>>()({
  id: 'listEvents',
  method: 'GET',
  path: '/api/events',
  right: 'read',
  tag: 'Events',
  summary: 'Read the feed of events',
  description:
    'All events in the order in which they were recorded, without gaps: a new event never appears before one that was ' +
    'already read. Store `next` in one transaction with the results of the events to process each event exactly once. With ' +
    '`Accept: text/event-stream` the response is a stream that stays open until one side ends it.',
  account: 'list',
});

const getLatestEvent = routed<object, string>()({
  id: 'getLatestEvent',
  method: 'GET',
  path: '/api/events/latest',
  right: 'read',
  tag: 'Events',
  summary: 'Read the current position of the feed',
  description: 'The id of the newest event; new events follow after it.',
  account: 'none',
});

export function registerEventRoutes(app: HttpServer, context: HttpContext<EventUseCases>): void {
  const { perform, limits, stopping } = context;
  const slots = new RequestSlots(limits.maxEventReaders);

  app.get(
    listEvents.path,
    {
      schema: {
        ...schemaOfOperation(listEvents),
        querystring: EventsQuery,
        headers: StreamHeaders,
        response: {
          200: {
            description: 'One page, or the stream.',
            content: {
              'application/json': { schema: Events },
              [EVENT_STREAM]: { schema: { type: 'string' } },
            },
          },
          ...errorResponses(
            'invalid_uuid',
            'invalid_request',
            'unknown_account',
            'invalid_credentials',
            'events_expired',
            'busy',
            'database_unavailable',
          ),
        },
      },
    },
    async (request, reply) => {
      const { query, headers } = request;
      const filter = {
        types: query.type ?? null,
        accountId: query.account_id ?? null,
        customerId: query.customer_id?.toLowerCase() ?? null,
        isHistorical: query.historical ?? null,
      };
      const waitMs = (query.wait ?? 0) * 1000;
      const isStream = request.method === 'GET' && acceptsStream(request);
      const after = (isStream ? headers['last-event-id'] : undefined) ?? query.after ?? null;
      const slot = slots.reserve(keyIdOf(request));
      if (isStream || waitMs > 0) {
        slot.take();
        leavePlace(request);
      }
      reply.raw.once('close', slot.release);
      if (isStream) {
        const gone = endWith(request, reply, context);
        const results = await perform(request, listEvents, { ...filter, after }, (asked, events) =>
          events.streamEvents(asked, gone),
        );
        return sendStream(reply, context, results);
      }
      const { limit = DEFAULT_LIMIT } = query;
      const signal = waitMs > 0 ? endWith(request, reply, context) : stopping;
      const result = await perform(request, listEvents, { ...filter, after }, (asked, events) =>
        events.listEvents({ ...asked, limit, waitMs }, signal),
      );
      reply.header('content-type', 'application/json; charset=utf-8');
      return reply.send(
        `{"events":[${result.events.map(({ json }) => json).join(',')}],"next":"${result.next}"}`,
      );
    },
  );

  app.get(
    getLatestEvent.path,
    {
      schema: {
        ...schemaOfOperation(getLatestEvent),
        response: {
          200: jsonResponse('The position.', LatestEvent),
          ...errorResponses('invalid_credentials', 'database_unavailable'),
        },
      },
    },
    async (request) => ({
      id: await perform(request, getLatestEvent, {}, (_, events) => events.readLatestEventId()),
    }),
  );
}

/** As much of RFC 9110 §12.5.1 as is needed here: a stream must be requested by its media type. */
const acceptsStream = ({ headers }: FastifyRequest) =>
  (headers.accept ?? '')
    .split(',')
    .some((range) => range.split(';')[0]?.trim().toLowerCase() === EVENT_STREAM);

/** Aborted when the client is gone, its key is no longer valid, or the service ends. */
function endWith(
  request: FastifyRequest,
  reply: FastifyReply,
  { keys, stopping }: Pick<HttpContext<EventUseCases>, 'keys' | 'stopping'>,
): AbortSignal {
  const gone = new AbortController();
  const { ended, stop } = watchKey(keys, shownKeyOf(request));
  reply.raw.once('close', () => {
    stop();
    gone.abort();
  });
  return AbortSignal.any([gone.signal, ended, stopping]);
}

function sendStream(
  reply: FastifyReply,
  { limits, logger }: HttpContext<EventUseCases>,
  results: AsyncIterable<EventsResult>,
): FastifyReply {
  reply.header('content-type', `${EVENT_STREAM}; charset=utf-8`);
  // For nginx: buffered events would arrive late.
  reply.header('x-accel-buffering', 'no');
  cutStalledReader(reply, limits);
  const stream = Readable.from(toEventStream(results), { objectMode: false, highWaterMark: 0 });
  stream.once('error', (err) => {
    // The client reconnects with the last id that it has.
    if (reply.raw.headersSent)
      logger.warn({ err, requestId: reply.request.id }, 'a stream of events was cut');
  });
  return reply.send(stream);
}

async function* toEventStream(results: AsyncIterable<EventsResult>): AsyncGenerator<string, void, void> {
  yield 'retry: 1000\n\n';
  for await (const { events, next } of results) {
    const blocks = events.map(
      ({ position, type, json }) => `id: ${formatEventId(position)}\nevent: ${type}\ndata: ${json}\n\n`,
    );
    // Without data nothing is dispatched, but a reader that reconnects continues from there.
    yield blocks.length > 0 ? blocks.join('') : `: still here\nid: ${next}\n\n`;
  }
}
