/**
 * The loop that puts written events into the feed, and notifies waiting readers. Events that this process writes are
 * numbered at once; those of another process that died before numbering them are found by looking now and then.
 */
import type { EventFeed, FeedSignal } from './event-ports.ts';
import type { Logger } from '../../platform/base/basics.ts';
import { createFailureLog } from '../../platform/base/failure-log.ts';
import { systemTimers, type Timers } from '../../platform/base/timers.ts';

/** The time between two looks without a cause, in ms. */
const LOOK_MS = 10_000;
/** While a caller waits, the time between two looks for events that other processes numbered, in ms. */
const FOLLOW_MS = 75;
/** From the first event to its numbering, in ms: events of the same moment share it. */
const GATHER_MS = 15;
/**
 * From one numbering to the next while events keep coming, in ms: each has its own commit, and costs nearly the same for
 * few as for many.
 */
const REST_MS = 100;
/** From a failed numbering to the next try, in ms: when the database is back, its events wait no longer than this. */
const RETRY_MS = 1000;
/** Rows of the inbox numbered by one statement; a row holds the events of one writing statement, mostly few. */
const BATCH = 200;

export interface EventNumberer {
  /** Called when this process has written an event. */
  wake(): void;
  /** Throws the reason while events can't be put into the feed. */
  check(): void;
  /** A caller waits for events. */
  follow(): void;
  /** Waits for the statements under way. */
  stop(): Promise<void>;
}

export interface EventNumbererPorts {
  readonly feed: Pick<EventFeed, 'number' | 'readLatest'>;
  readonly signal: FeedSignal;
  readonly logger: Logger;
  /** Default: those of the system. */
  readonly timers?: Timers;
}

export function startEventNumberer(ports: EventNumbererPorts): EventNumberer {
  const { feed, signal, logger, timers = systemTimers } = ports;
  let stopped = false;
  let cancel = () => {};
  let dueAt = Infinity;
  let running: Promise<void> | null = null;
  const failures = createFailureLog(logger, 'events could not be numbered');
  let isWritten = true;
  let lookedAt = -Infinity;
  let numberedAt = -Infinity;
  let latest: number | null = null;
  let failure: unknown = null;

  function plan(delayMs: number): void {
    const at = timers.now() + delayMs;
    if (stopped || at >= dueAt) return;
    cancel();
    dueAt = at;
    cancel = timers.after(delayMs, () => {
      dueAt = Infinity;
      // The numbering under way has missed the event that was just written.
      running = (running ?? Promise.resolve()).then(runOnce);
    });
  }

  async function numberAll(): Promise<void> {
    isWritten = false;
    lookedAt = timers.now();
    let moved = BATCH;
    while (moved === BATCH) {
      moved = await feed.number(BATCH);
      if (moved > 0) {
        numberedAt = timers.now();
        signal.notify();
      }
    }
  }

  /** Looks for events that other processes numbered. */
  async function followOthers(): Promise<void> {
    const before = latest;
    latest = await feed.readLatest();
    if (latest !== before) signal.notify();
  }

  async function runOnce(): Promise<void> {
    try {
      if (isWritten || timers.now() >= lookedAt + LOOK_MS) await numberAll();
      if (signal.waiting > 0) await followOthers();
      failures.worked();
      failure = null;
      plan(signal.waiting > 0 ? FOLLOW_MS : LOOK_MS);
    } catch (error) {
      failures.failed(error);
      failure = error;
      isWritten = true;
      plan(RETRY_MS);
    }
  }

  plan(0);
  return {
    wake() {
      isWritten = true;
      plan(Math.max(GATHER_MS, numberedAt + REST_MS - timers.now()));
    },
    check() {
      if (failure !== null) throw failure;
    },
    follow: () => plan(FOLLOW_MS),
    async stop() {
      stopped = true;
      cancel();
      await running;
    },
  };
}
