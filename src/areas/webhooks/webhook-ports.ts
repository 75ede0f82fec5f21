/** The operations that managing webhooks needs: their rows, their secrets, and the check of endpoints. */
import type { Place } from '../../platform/base/paging.ts';
import type { EventType } from '../../core/event/event-types.ts';
import type { DeliveryOutcome, PauseReason, WebhookPayload } from '../../core/webhook/webhook.ts';

/** The owner's settings of a webhook, without the values of its headers. */
export interface WebhookSettings {
  readonly url: string;
  readonly description: string;
  /** null: all. */
  readonly types: readonly EventType[] | null;
  readonly accountId: string | null;
  readonly customerId: string | null;
  /** As in `EventFilter`. */
  readonly isHistorical: boolean | null;
  readonly payload: WebhookPayload;
  readonly maxInFlight: number;
  readonly headerNames: readonly string[];
}

/** The sealed part of a webhook. */
export interface SealedSecrets {
  readonly sealed: Buffer;
  readonly keyId: Buffer;
  /** The previous secret is used as well until then; null when there is none. */
  readonly oldSecretUntil: Date | null;
}

export interface WebhookPause {
  readonly since: Date;
  readonly reason: PauseReason;
  /** A description of what happened last, for people; null for a pause by hand. */
  readonly detail: string | null;
}

/** An event that waits for another attempt; the times are the database's. */
export interface FailedEvent {
  readonly position: number;
  readonly attempts: number;
  readonly since: Date;
  readonly dueAt: Date;
}

/** The known state of events after a webhook's position. */
export interface Beyond {
  readonly delivered: readonly number[];
  readonly failed: readonly FailedEvent[];
}

export interface StoredWebhook extends WebhookSettings, SealedSecrets {
  readonly id: string;
  readonly createdAt: Date;
  readonly updatedAt: Date;
  /** Grows with each change by hand, and when it pauses by itself. */
  readonly revision: number;
  readonly pause: WebhookPause | null;
  /** Every event up to it was accepted, or has failed for the last time. */
  readonly position: number;
  readonly beyond: Beyond;
  /** The database's time when this was read. */
  readonly readAt: Date;
}

/** All throw `ServiceError('database_unavailable')`; null: the webhook does not exist. */
export interface WebhookStore {
  /**
   * `position` null: from now on. Throws `too_many_webhooks`, and `events_expired` for a position before the first event
   * that is kept.
   */
  create(
    id: string,
    settings: WebhookSettings,
    secrets: SealedSecrets,
    position: number | null,
  ): Promise<StoredWebhook>;
  read(id: string): Promise<StoredWebhook | null>;
  /** The newest first. */
  /** @param accountIds null: of all accounts, and those of none */
  list(
    accountIds: readonly string[] | null,
    before: Place | null,
    limit: number,
  ): Promise<readonly StoredWebhook[]>;
  /** Does nothing, and returns null, when `sealed` is no longer the stored value: another request changed it. */
  change(
    id: string,
    settings: WebhookSettings,
    secrets: SealedSecrets,
    was: Buffer,
  ): Promise<StoredWebhook | null>;
  /** False when it does not exist. Throws `webhook_changed`. @param revision null: any */
  delete(id: string, revision: number | null): Promise<boolean>;
  pause(id: string, keyId?: string | null): Promise<StoredWebhook | null>;
  /** Also has events that wait for another attempt tried at once. Throws `events_expired`. */
  resume(id: string, keyId?: string | null): Promise<StoredWebhook | null>;
  /** Throws `events_expired`; `invalid_request` for a position that was not assigned yet. */
  moveTo(id: string, position: number): Promise<StoredWebhook | null>;
  /** The position before the first event that happened at or after the time. Throws `events_expired`. */
  positionAt(since: Date): Promise<number>;
}

/** An attempt to deliver an event. */
export interface Delivery {
  /** UUID. */
  readonly id: string;
  readonly eventId: string;
  readonly type: string;
  /** 1 for the first. */
  readonly attempt: number;
  readonly startedAt: Date;
  readonly durationMs: number;
  readonly outcome: DeliveryOutcome;
  /** The HTTP status; null when there was no answer. */
  readonly status: number | null;
  /** Why it failed, in English; null when it did not. */
  readonly error: string | null;
  /** The first 4 kB of the endpoint's answer, as text. */
  readonly answer: string;
}

/** All throw `ServiceError('database_unavailable')`. */
export interface DeliveryLog {
  add(webhookId: string, delivery: Delivery): Promise<void>;
  /** The newest first; `outcome` null: all. */
  list(
    webhookId: string,
    outcome: DeliveryOutcome | null,
    before: Place | null,
    limit: number,
  ): Promise<readonly Delivery[]>;
  /** Forgets all but so many whole days before today, by the database's clock; returns how many. */
  forget(keptDays: number): Promise<number>;
}

/** The secrets that only the sender of requests may have. */
export interface WebhookSecrets {
  /** `whsec_…`, the newest first. */
  readonly secrets: readonly { readonly secret: string; readonly until: Date | null }[];
  /** Names as the owner wrote them. */
  readonly headers: Readonly<Record<string, string>>;
}

export interface WebhookSealer {
  /** The ids of all keys that can open secrets. */
  readonly keyIds: readonly Buffer[];
  seal(webhookId: string, secrets: WebhookSecrets): { readonly sealed: Buffer; readonly keyId: Buffer };
  /** null when it was sealed with another key. */
  open(webhookId: string, sealed: Buffer): WebhookSecrets | null;
}

export interface EndpointRules {
  /** The address in its usual form. Throws `invalid_webhook_url`, `webhook_address_refused`. */
  check(url: string): string;
}
