/** The use cases of events that the edges call. */
import type { EventFilter, FeedEvent } from './event-ports.ts';

export interface EventsRequest extends EventFilter {
  /** An event's id; null: from the first one that is kept. */
  readonly after: string | null;
  readonly limit: number;
  /** How long to wait for the first event, in ms; 0: not at all. */
  readonly waitMs: number;
}

export interface EventsResult {
  readonly events: readonly FeedEvent[];
  /** Where to continue. */
  readonly next: string;
}

export interface EventStreamRequest extends EventFilter {
  /** An event's id; null: from now on. */
  readonly after: string | null;
}

/** Errors: `invalid_request` for an `after` that is not an id, `events_expired`, `database_unavailable`. */
export interface EventUseCases {
  /** @param signal ends the wait; the events found by then are returned */
  listEvents(request: EventsRequest, signal: AbortSignal): Promise<EventsResult>;
  readLatestEventId(): Promise<string>;
  /**
   * Yields events for as long as the reader takes them; an empty list at least every `HEARTBEAT_MS`. Ends with `signal`.
   * The first page is read before this resolves, so that its errors are those of the request.
   */
  streamEvents(request: EventStreamRequest, signal: AbortSignal): Promise<AsyncIterable<EventsResult>>;
}
