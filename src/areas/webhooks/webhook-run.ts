/**
 * Delivers events to one webhook, in the order of the feed, as long as this process has it.
 *
 * The events after the webhook's position are a short list: those that wait, those under way, those that failed and wait
 * for another attempt, and, if several may be under way, those that are delivered already while an earlier one is not.
 * The position moves to the first that is not delivered. With one request at a time only the first of the list is ever
 * tried, so the order is kept and a failed event delays those behind it; with more, they overtake it, up to `REACH`.
 *
 * Progress is stored some moments later, for many events at once: events whose progress a killed process did not store
 * are delivered again.
 */
import type { IdSource, Logger } from '../../platform/base/basics.ts';
import { createFailureLog } from '../../platform/base/failure-log.ts';
import type { Timers } from '../../platform/base/timers.ts';
import { formatEventId } from '../../core/event/event-id.ts';
import { ServiceError } from '../../core/errors.ts';
import { nextDeliveryInMs } from '../../core/webhook/retry-plan.ts';
import type { PauseReason } from '../../core/webhook/webhook.ts';
import { toDelivery } from './delivery-record.ts';
import {
  filterOf,
  type ClaimedWebhook,
  type Progress,
  type PutOffEvent,
  type PostWebhook,
  type WebhookAnswer,
  type WebhookQueue,
} from './delivery-ports.ts';
import type { FeedTail, TailEvent } from './feed-tail.ts';
import type { Delivery, WebhookSecrets } from './webhook-ports.ts';

/** The part of the list that may be tried while its first event is not delivered, when the order is not kept. */
const REACH = 100;
/** Events read at a time; more are read when this few untried ones are left. */
const READ_LIMIT = 50;
const FEW = 10;
/** The maximum number of attempts that are not stored yet; beyond it no attempt is begun. */
const MAX_UNSTORED = 50;
/** From the first attempt to storing it, in ms: attempts of the same moment share the statement. */
const GATHER_MS = 50;
/** From reaching a position without anything to deliver until storing it, in ms. */
const IDLE_STORE_MS = 60_000;
/** From a failure of the database to the next try, in ms. */
const AGAIN_MS = 1000;
/** The time that requests under way get when the process stops, in ms. */
const STOP_MS = 3000;
/**
 * From cutting them off to abandoning them, in ms: the end of the process does not wait for a request that ignores the
 * abort.
 */
const LEAVE_MS = 1000;

export interface WebhookRunPorts {
  readonly tail: FeedTail;
  readonly queue: Pick<WebhookQueue, 'recordProgress' | 'pause'>;
  readonly post: PostWebhook;
  readonly timers: Timers;
  readonly ids: IdSource;
  /** From 0 (inclusive) to 1 (exclusive). */
  readonly random: () => number;
  readonly logger: Logger;
  /** The end of this process's lease of the webhook, by `Timers.now`. */
  readonly leasedUntil: () => number;
  /** Called when it ends by itself: it was paused, or another process has it. */
  readonly onEnd: () => void;
}

interface Item {
  readonly position: number;
  /** null once it is delivered. */
  event: TailEvent | null;
  state: 'waiting' | 'sending' | 'delivered';
  attempts: number;
  /** When it first failed, by `Timers.now`. */
  since: number | null;
  /** When it may be tried, by `Timers.now`; null: now. */
  dueAt: number | null;
}

/** Moments by `Timers.now`. */
interface Failure {
  readonly attempts: number;
  readonly since: number;
  readonly dueAt: number;
}

interface Ending {
  readonly reason: PauseReason;
  readonly detail: string;
}

export class WebhookRun {
  readonly webhook: ClaimedWebhook;
  readonly #secrets: WebhookSecrets;
  readonly #ports: WebhookRunPorts;
  readonly #failures;
  readonly #aborting = new AbortController();
  /** In the order of their positions. */
  readonly #items: Item[] = [];
  /** The positions that an earlier run delivered, of events that this one has not read yet. */
  readonly #delivered: Set<number>;
  /** Those that an earlier run tried, of events that this one has not read yet. */
  readonly #failed: Map<number, Failure>;
  readonly #sending = new Set<Promise<void>>();
  #unstored: Delivery[] = [];
  /** The feed is read up to here. */
  #readTo: number;
  #isAtEnd = false;
  #storedPosition: number;
  #storedAt: number;
  /** By `Timers.now`. */
  #holdUntil = -Infinity;
  #ending: Ending | null = null;
  #isOver = false;
  #isWoken = false;
  #isWorking = false;
  #working = Promise.resolve();
  #storing: Promise<void> | null = null;
  #cancelWake = () => {};
  /** When unstored progress will be stored. */
  #storeAt = Infinity;
  #cancelStore = () => {};

  constructor(webhook: ClaimedWebhook, secrets: WebhookSecrets, ports: WebhookRunPorts) {
    this.webhook = webhook;
    this.#secrets = secrets;
    this.#ports = ports;
    this.#failures = createFailureLog(ports.logger, 'events can not be read or stored for a webhook');
    this.#delivered = new Set(webhook.beyond.delivered);
    const now = ports.timers.now();
    const toSteady = (at: Date) => now + at.getTime() - webhook.readAt.getTime();
    this.#failed = new Map(
      webhook.beyond.failed.map(({ position, attempts, since, dueAt }) => [
        position,
        { attempts, since: toSteady(since), dueAt: toSteady(dueAt) },
      ]),
    );
    this.#readTo = webhook.position;
    this.#storedPosition = webhook.position;
    this.#storedAt = now;
  }

  /** There may be something to do. */
  readonly wake = (): void => {
    this.#isWoken = true;
    if (this.#isOver || this.#isWorking) return;
    this.#isWorking = true;
    this.#working = this.#work();
  };

  /** The feed may have grown. */
  grown(): void {
    this.#isAtEnd = false;
    this.wake();
  }

  /** Lets requests under way end, for a moment, and stores the progress. Never rejects. */
  async stop(): Promise<void> {
    this.#isOver = true;
    this.#cancelWake();
    await this.#working;
    await this.#endSending();
    this.#cancelStore();
    await this.#storing;
    if (this.#isWorthStoring()) await this.#store().catch((error: unknown) => this.#failures.failed(error));
  }

  /** A request that is abandoned counts as not delivered, and its event is delivered again. */
  async #endSending(): Promise<void> {
    const { timers, logger } = this.#ports;
    let cancel = () => {};
    const late = new Promise<void>((resolve) => {
      cancel = timers.after(STOP_MS, () => {
        this.#aborting.abort(new Error('the process stops'));
        cancel = timers.after(LEAVE_MS, () => {
          logger.warn(
            { webhookId: this.webhook.id },
            'a delivery to a webhook does not end; it is abandoned',
          );
          resolve();
        });
      });
    });
    await Promise.race([Promise.all(this.#sending), late]);
    cancel();
  }

  async #work(): Promise<void> {
    // A caller may have woken it in the middle of the caller's own work.
    await Promise.resolve();
    while (this.#isWoken && !this.#isOver) {
      this.#isWoken = false;
      try {
        if (this.#ending === null) await this.#read();
        if (this.#ending === null) this.#begin();
        else if (this.#sending.size === 0) await this.#pause(this.#ending);
        this.#failures.worked();
        this.#planWake();
      } catch (error) {
        if (error instanceof ServiceError && error.code === 'events_expired') {
          this.#ending = {
            reason: 'events_expired',
            detail: `events behind ${formatEventId(this.#readTo)} are not kept any more; the first that is kept is behind ${error.details}`,
          };
          this.#isWoken = true;
        } else {
          this.#failures.failed(error);
          this.#cancelWake();
          this.#cancelWake = this.#ports.timers.after(AGAIN_MS, this.wake);
        }
      }
    }
    // In the same synchronous step as the check for a wake: a call in between would be lost.
    this.#isWorking = false;
  }

  async #read(): Promise<void> {
    while (!this.#isAtEnd && !this.#isOver && this.#hasFew()) {
      // Set first, so that events that come during the reading are not missed.
      this.#isAtEnd = true;
      const filter = filterOf(this.webhook);
      const page = await this.#ports.tail.read(this.#readTo, filter, READ_LIMIT).catch((error: unknown) => {
        this.#isAtEnd = false;
        throw error;
      });
      for (const event of page.events) this.#add(event);
      this.#readTo = page.next;
      if (!page.isLast) this.#isAtEnd = false;
    }
    this.#shift();
  }

  #hasFew(): boolean {
    return this.#items.filter(({ state, attempts }) => state === 'waiting' && attempts === 0).length < FEW;
  }

  #add(event: TailEvent): void {
    const { position } = event;
    const failed = this.#failed.get(position);
    const isDelivered = this.#delivered.has(position);
    this.#failed.delete(position);
    this.#delivered.delete(position);
    this.#items.push({
      position,
      event: isDelivered ? null : event,
      state: isDelivered ? 'delivered' : 'waiting',
      attempts: failed?.attempts ?? 0,
      since: failed?.since ?? null,
      dueAt: failed?.dueAt ?? null,
    });
  }

  /** Removes delivered events that have nothing before them. */
  #shift(): void {
    while (this.#items[0]?.state === 'delivered') this.#items.shift();
    if (this.#position > this.#storedPosition) this.#storeSoon();
  }

  get #position(): number {
    const [first] = this.#items;
    return first === undefined ? this.#readTo : first.position - 1;
  }

  /** The items that may be tried. */
  get #reach(): readonly Item[] {
    return this.#items.slice(0, this.webhook.maxInFlight === 1 ? 1 : REACH);
  }

  #begin(): void {
    const { timers, leasedUntil } = this.#ports;
    const now = timers.now();
    if (now < this.#holdUntil || now >= leasedUntil()) return;
    for (const item of this.#reach) {
      const isFull = this.#sending.size >= this.webhook.maxInFlight || this.#unstored.length >= MAX_UNSTORED;
      if (isFull || this.#isOver) return;
      if (item.state !== 'waiting' || item.event === null) continue;
      if (item.dueAt !== null && item.dueAt > now) continue;
      item.state = 'sending';
      const sending: Promise<void> = this.#deliver(item, item.event).finally(() => {
        this.#sending.delete(sending);
        this.wake();
      });
      this.#sending.add(sending);
    }
  }

  async #deliver(item: Item, event: TailEvent): Promise<void> {
    const { post, ids } = this.#ports;
    const eventId = formatEventId(event.position);
    const body = this.webhook.payload === 'thin' ? event.thin : event.json;
    const request = { url: this.webhook.url, secrets: this.#secrets, eventId, body };
    let answer: WebhookAnswer;
    try {
      answer = await post(request, this.#aborting.signal);
    } catch (error) {
      // Cut off by the stop: it is unknown if it arrived, so it is delivered again.
      item.state = 'waiting';
      if (!this.#aborting.signal.aborted) {
        this.#failures.failed(error);
        item.dueAt = this.#ports.timers.now() + AGAIN_MS;
      }
      return;
    }
    item.attempts += 1;
    const delivery = toDelivery(ids.uuid(), { eventId, type: event.type, attempt: item.attempts }, answer);
    this.#unstored.push(delivery);
    if (delivery.outcome === 'delivered') {
      item.state = 'delivered';
      item.event = null;
      this.#shift();
    } else {
      item.state = 'waiting';
      this.#putOff(item, answer, delivery);
    }
    this.#storeSoon();
  }

  #putOff(item: Item, answer: WebhookAnswer, { error, eventId }: Delivery): void {
    const { timers, random } = this.#ports;
    const { status, retryAfterMs, durationMs } = answer;
    const now = timers.now();
    item.since ??= now - durationMs;
    const dueInMs = nextDeliveryInMs({
      attempts: item.attempts,
      failingMs: now - item.since,
      retryAfterMs,
      random: random(),
    });
    // Tried once more when the webhook is resumed, even if that is not stored.
    item.dueAt = now + (dueInMs ?? 0);
    // The endpoint asked for a pause of all requests, not of this event only.
    if (retryAfterMs !== null && dueInMs !== null) this.#holdUntil = Math.max(this.#holdUntil, item.dueAt);
    const detail = `event ${eventId}: ${error}`;
    // RFC 9110 §15.5.11: the endpoint is permanently gone.
    if (status === 410) this.#ending ??= { reason: 'gone', detail };
    else if (dueInMs === null) this.#ending ??= { reason: 'failed', detail };
  }

  #planWake(): void {
    this.#cancelWake();
    const waiting = this.#reach.filter(({ state }) => state === 'waiting');
    if (waiting.length === 0 || this.#isOver) return;
    const now = this.#ports.timers.now();
    const due = Math.min(...waiting.map(({ dueAt }) => dueAt ?? now));
    const delayMs = Math.max(due, this.#holdUntil) - now;
    // An event that is due now waits for a request to end, for storing, or for the claim to be renewed: each of these
    // wakes it.
    if (delayMs > 0) this.#cancelWake = this.#ports.timers.after(delayMs, this.wake);
  }

  #beyond(): Pick<Progress, 'delivered' | 'failed'> {
    const items = this.#items.filter(({ position }) => position > this.#position);
    const now = this.#ports.timers.now();
    const toFailed = (position: number, { attempts, since, dueAt }: Failure): PutOffEvent => ({
      position,
      attempts,
      failingMs: now - since,
      dueInMs: dueAt - now,
    });
    return {
      delivered: [
        ...items.filter(({ state }) => state === 'delivered').map(({ position }) => position),
        ...this.#delivered,
      ],
      failed: [
        ...items.flatMap(({ position, state, attempts, since, dueAt }) =>
          state === 'delivered' || since === null || dueAt === null
            ? []
            : [toFailed(position, { attempts, since, dueAt })],
        ),
        ...[...this.#failed].map(([position, failure]) => toFailed(position, failure)),
      ],
    };
  }

  #isWorthStoring(): boolean {
    return this.#unstored.length > 0 || this.#position > this.#storedPosition;
  }

  /** Attempts are stored within a moment, a position without anything to deliver much later. */
  #storeSoon(): void {
    const { timers } = this.#ports;
    const idleMs = Math.max(GATHER_MS, this.#storedAt + IDLE_STORE_MS - timers.now());
    this.#storeIn(this.#unstored.length > 0 ? GATHER_MS : idleMs);
  }

  #storeIn(delayMs: number): void {
    const { timers } = this.#ports;
    const at = timers.now() + delayMs;
    if (this.#isOver || this.#storing !== null || at >= this.#storeAt) return;
    this.#cancelStore();
    this.#storeAt = at;
    this.#cancelStore = timers.after(delayMs, () => {
      this.#storeAt = Infinity;
      this.#storing = this.#store().then(
        () => {
          this.#storing = null;
          if (this.#isWorthStoring()) this.#storeSoon();
          this.wake();
        },
        (error: unknown) => {
          this.#storing = null;
          this.#failures.failed(error);
          this.#storeIn(AGAIN_MS);
        },
      );
    });
  }

  async #store(): Promise<void> {
    const { queue, timers, onEnd } = this.#ports;
    const deliveries = this.#unstored;
    const position = this.#position;
    this.#unstored = [];
    try {
      const { id: webhookId, epoch } = this.webhook;
      const isOurs = await queue.recordProgress({
        webhookId,
        epoch,
        position,
        ...this.#beyond(),
        deliveries,
      });
      this.#storedPosition = position;
      this.#storedAt = timers.now();
      if (isOurs || this.#isOver) return;
      this.#isOver = true;
      onEnd();
    } catch (error) {
      this.#unstored = [...deliveries, ...this.#unstored];
      throw error;
    }
  }

  async #pause({ reason, detail }: Ending): Promise<void> {
    const { queue, logger, onEnd } = this.#ports;
    this.#cancelStore();
    this.#storeAt = Infinity;
    await this.#storing;
    if (this.#isWorthStoring()) await this.#store();
    await queue.pause(this.webhook, reason, detail);
    logger.warn({ webhookId: this.webhook.id, reason }, 'a webhook was paused');
    this.#isOver = true;
    onEnd();
  }
}
