/** Reading the feed: a page, a page that waits for its first event, and a stream. */
import { formatEventId, readPosition, START } from '../../core/event/event-id.ts';
import type { EventFeed, EventFilter, EventPage, FeedSignal } from './event-ports.ts';
import type { EventsResult, EventUseCases } from './use-cases.ts';

/** A stream shows at least this often that it is alive, in ms: proxies cut connections that are silent for 30 to 60 s. */
export const HEARTBEAT_MS = 15_000;
/** Events of one piece of a stream. */
const STREAM_LIMIT = 500;

export interface ReadEventsPorts {
  readonly feed: EventFeed;
  readonly signal: FeedSignal;
}

export function createEventReads({ feed, signal: grown }: ReadEventsPorts): EventUseCases {
  /**
   * The first page with an event; when none comes in time, an empty page with the end of the feed, or how far it was
   * read.
   */
  async function readWithin(
    after: number,
    filter: EventFilter,
    limit: number,
    waitMs: number,
    signal: AbortSignal,
  ): Promise<EventPage> {
    const deadline = performance.now() + waitMs;
    let from = after;
    for (;;) {
      const stop = new AbortController();
      // Requested before reading, so that an event that arrives meanwhile is not missed.
      const growth = grown.wait(deadline - performance.now(), AbortSignal.any([signal, stop.signal]));
      try {
        const page = await feed.read(from, filter, limit);
        if (page.events.length > 0 || signal.aborted || performance.now() >= deadline) return page;
        from = page.next;
        if (page.isLast) await growth;
      } finally {
        stop.abort();
      }
    }
  }

  return {
    async listEvents({ after, limit, waitMs, ...filter }, signal) {
      const from = after === null ? START : readPosition(after);
      return toResult(await readWithin(from, filter, limit, waitMs, signal));
    },

    async readLatestEventId() {
      return formatEventId(await feed.readLatest());
    },

    async streamEvents({ after, ...filter }, signal) {
      const from = after === null ? await feed.readLatest() : readPosition(after);
      const first = await feed.read(from, filter, STREAM_LIMIT);
      return (async function* () {
        let page = first;
        while (!signal.aborted) {
          yield toResult(page);
          page = await readWithin(page.next, filter, STREAM_LIMIT, page.isLast ? HEARTBEAT_MS : 0, signal);
        }
      })();
    },
  };
}

const toResult = ({ events, next }: EventPage): EventsResult => ({ events, next: formatEventId(next) });
