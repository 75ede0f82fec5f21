/**
 * The end of the feed, read once for all webhooks of a process: events that several webhooks want come from memory. A
 * webhook that is further behind reads the feed itself until it has caught up.
 */
import type { EventFeed, EventFilter, FeedEvent } from '../events/event-ports.ts';

/** The limit of one reading. */
const READ_LIMIT = 500;
/** The maximum number of events kept: some seconds of a busy service. */
const KEPT_EVENTS = 2000;
const KEPT_CHARS = 4 * 1024 * 1024;

/** An event and its serialised forms, made once for all readers. */
export class TailEvent {
  readonly position: number;
  readonly type: FeedEvent['type'];
  readonly json: string;
  #fields: Readonly<Record<string, unknown>> | null = null;
  #thin: string | null = null;

  constructor({ position, type, json }: FeedEvent) {
    this.position = position;
    this.type = type;
    this.json = json;
  }

  /** Without its `data`. */
  get thin(): string {
    this.#thin ??= JSON.stringify({ ...this.#read(), data: undefined });
    return this.#thin;
  }

  passes({ types, accountId, customerId, isHistorical }: EventFilter): boolean {
    if (types !== null && !types.includes(this.type)) return false;
    if (isHistorical !== null && this.#read()['historical'] !== isHistorical) return false;
    if (accountId !== null && this.#read()['account_id'] !== accountId) return false;
    return customerId === null || this.#read()['customer_id'] === customerId;
  }

  #read(): Readonly<Record<string, unknown>> {
    this.#fields ??= JSON.parse(this.json) as Readonly<Record<string, unknown>>;
    return this.#fields;
  }
}

export interface TailPage {
  readonly events: readonly TailEvent[];
  readonly next: number;
  /** False when there may be more at this moment. */
  readonly isLast: boolean;
}

export class FeedTail {
  readonly #feed: Pick<EventFeed, 'read' | 'readLatest'>;
  /** All events after `#from`, up to `#to`, are kept. null before the first reading. */
  #from: number | null = null;
  #to = 0;
  #events: TailEvent[] = [];
  #chars = 0;
  #isLast = false;
  /** Counts the calls of `grown`. */
  #growth = 0;
  #reading: Promise<void> | null = null;

  constructor(feed: Pick<EventFeed, 'read' | 'readLatest'>) {
    this.#feed = feed;
  }

  /** There may be more. */
  grown(): void {
    this.#growth += 1;
    this.#isLast = false;
  }

  /** As `EventFeed.read`. */
  async read(after: number, filter: EventFilter, limit: number): Promise<TailPage> {
    if (this.#from === null) this.#restart(await this.#feed.readLatest());
    if (after < (this.#from ?? 0)) {
      const { events, next, isLast } = await this.#feed.read(after, filter, limit);
      return { events: events.map((event) => new TailEvent(event)), next, isLast };
    }
    // Nothing was read for a long time: reading on would read many events in vain.
    if (after > this.#to) this.#restart(after);
    if (after === this.#to && !this.#isLast) await this.#readOn();
    // The events that were kept may have been dropped meanwhile.
    if (after < (this.#from ?? 0)) return this.read(after, filter, limit);
    return this.#take(after, filter, limit);
  }

  #restart(at: number): void {
    this.#from = at;
    this.#to = at;
    this.#events = [];
    this.#chars = 0;
    this.#isLast = false;
  }

  #take(after: number, filter: EventFilter, limit: number): TailPage {
    const events: TailEvent[] = [];
    for (let index = this.#firstBehind(after); index < this.#events.length; index += 1) {
      const event = this.#events[index];
      if (event === undefined || !event.passes(filter)) continue;
      events.push(event);
      if (events.length === limit) return { events, next: event.position, isLast: false };
    }
    return { events, next: Math.max(after, this.#to), isLast: this.#isLast };
  }

  #firstBehind(position: number): number {
    let low = 0;
    let high = this.#events.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      if ((this.#events[middle]?.position ?? 0) > position) high = middle;
      else low = middle + 1;
    }
    return low;
  }

  /** Readers that arrive while it is under way share it. */
  #readOn(): Promise<void> {
    this.#reading ??= this.#readOnce().finally(() => {
      this.#reading = null;
    });
    return this.#reading;
  }

  async #readOnce(): Promise<void> {
    const from = this.#to;
    const growth = this.#growth;
    const all = { types: null, accountId: null, customerId: null, isHistorical: null };
    const page = await this.#feed.read(from, all, READ_LIMIT);
    // It was restarted meanwhile.
    if (this.#to !== from) return;
    for (const event of page.events) {
      this.#events.push(new TailEvent(event));
      this.#chars += event.json.length;
    }
    this.#to = page.next;
    this.#isLast = page.isLast && growth === this.#growth;
    this.#drop();
  }

  #drop(): void {
    let dropped = 0;
    while (this.#events.length - dropped > KEPT_EVENTS || this.#chars > KEPT_CHARS) {
      const event = this.#events[dropped];
      if (event === undefined) break;
      dropped += 1;
      this.#chars -= event.json.length;
      this.#from = event.position;
    }
    this.#events.splice(0, dropped);
  }
}
