/**
 * The feed of events: everything that happened, in the order of commits and without gaps; see
 * docs/decisions/0019-events.md.
 */
import type { AccountFilter } from '../../platform/base/account-filter.ts';
import type { EventType } from '../../core/event/event-types.ts';

/** Selects events; null: all. */
export interface EventFilter extends AccountFilter {
  readonly types: readonly EventType[] | null;
  readonly customerId: string | null;
  /** True: only mail of the past, imported or found at the first reading of a mailbox; false: without such mail. */
  readonly isHistorical: boolean | null;
}

export interface FeedEvent {
  readonly position: number;
  readonly type: EventType;
  /** The event as the API shows it: a JSON object on one line. */
  readonly json: string;
}

export interface EventPage {
  /** In the order of their positions. */
  readonly events: readonly FeedEvent[];
  /** Where to continue: behind the events that were looked at, including those that the filter left out. */
  readonly next: number;
  /** False when there may be more at this moment. */
  readonly isLast: boolean;
}

/** All throw `ServiceError('database_unavailable')`. */
export interface EventFeed {
  /** Throws `ServiceError('events_expired')` when events behind `after` have been forgotten. */
  read(after: number, filter: EventFilter, limit: number): Promise<EventPage>;
  /** The last position that was assigned. */
  readLatest(): Promise<number>;
  /**
   * Puts the events of at most this many statements into the feed; returns how many statements: `atMost` when there may
   * be more.
   */
  number(atMost: number): Promise<number>;
  /**
   * Prepares for today and tomorrow, and forgets all but so many whole days before today, by the database's clock (null:
   * forgets nothing); returns how many were forgotten. null: not now, since it would have to wait for a transaction that reads events.
   */
  keep(days: number | null): Promise<number | null>;
}

/** Notifies waiting readers that the feed has grown. */
export interface FeedSignal {
  readonly waiting: number;
  notify(): void;
  /** Calls `listener` with each `notify`; unlike `wait`, it starts no search for new events. */
  onGrowth(listener: () => void): void;
  /** Resolves with the next `notify`, after `timeoutMs` at the latest, or when `signal` is aborted. Never rejects. */
  wait(timeoutMs: number, signal: AbortSignal): Promise<void>;
}
