/** `client.events` */
import type { RequestOptions } from '../options.ts';
import { plain, type Transport } from '../transport.ts';
import type { Event, EventFilter, EventsPage, QueryOf, StreamFilter } from '../types.ts';

/** How long one request of a stream waits for the next event, in s: proxies cut a connection that is silent for more than a minute. */
const STREAM_WAIT_S = 25;
const STREAM_LIMIT = 500;
/** Enough for some minutes: a stream survives a restart of the service. */
const STREAM_RETRIES = 10;

/** All events, in order and without gaps. */
export class Events {
  readonly #transport: Transport;

  /** @internal */
  constructor(transport: Transport) {
    this.#transport = transport;
  }

  /** One page: the events after `after`, and `next`, which is the `after` of the next page. Fails with `events_expired`. */
  async list(filter: EventFilter = {}, options: RequestOptions = {}): Promise<EventsPage> {
    const query = plain<QueryOf<'listEvents'>>(filter);
    const page = await this.#transport.json({ ...options, repeatable: true }, (attempt) =>
      this.#transport.api.GET('/api/events', { ...attempt, params: { query } }),
    );
    // The service sends a stream only to a request that accepts one.
    return page as EventsPage;
  }

  /** The id of the newest event. */
  async latest(options: RequestOptions = {}): Promise<string> {
    const { id } = await this.#transport.json({ ...options, repeatable: true }, (attempt) =>
      this.#transport.api.GET('/api/events/latest', attempt),
    );
    return id;
  }

  /**
   * Events as they happen, until the caller's loop or `signal` ends the stream. It continues by itself after a failure that is worth a
   * retry, up to ten times in a row. Store the `id` of each event that you have dealt with, and continue after it when you restart. Without
   * `after`: from now on.
   */
  async *stream(
    { after, ...filter }: StreamFilter = {},
    options: RequestOptions = {},
  ): AsyncGenerator<Event, void, undefined> {
    let position = after ?? (await this.latest(options));
    for (;;) {
      const page = await this.list(
        { ...filter, after: position, wait: STREAM_WAIT_S, limit: STREAM_LIMIT },
        { retries: STREAM_RETRIES, ...options },
      );
      yield* page.events;
      position = page.next;
    }
  }
}
