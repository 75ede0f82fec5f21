/** The operations that delivering events needs: claims of webhooks, and requests. */
import type { EventFilter } from '../events/event-ports.ts';
import type { PauseReason } from '../../core/webhook/webhook.ts';
import type { Delivery, StoredWebhook, WebhookSecrets } from './webhook-ports.ts';

/** A webhook that this process delivers to. */
export interface ClaimedWebhook extends StoredWebhook {
  readonly epoch: number;
}

/** `FailedEvent`, as the process knows it that tries it. */
export interface PutOffEvent {
  readonly position: number;
  readonly attempts: number;
  /** The time since its first failure, in ms. */
  readonly failingMs: number;
  /** The time until its next attempt, in ms. */
  readonly dueInMs: number;
}

/** How far a webhook has come, and the attempts since the last time. */
export interface Progress {
  readonly webhookId: string;
  readonly epoch: number;
  readonly position: number;
  readonly delivered: readonly number[];
  readonly failed: readonly PutOffEvent[];
  readonly deliveries: readonly Delivery[];
}

/** All throw `ServiceError('database_unavailable')`. */
export interface WebhookQueue {
  /**
   * Claims the webhooks that are not paused and that no other process has, and renews the claims of this one; returns all
   * of these. Webhooks sealed with a key that is not in `keyIds` are left to others for some minutes.
   */
  claim(keyIds: readonly Buffer[]): Promise<readonly ClaimedWebhook[]>;
  /** Stores it; false: another process has the webhook now, or it was moved, so only the attempts are stored. */
  recordProgress(progress: Progress): Promise<boolean>;
  /** Pauses a webhook that this process has; without effect when it was changed meanwhile. */
  pause(
    webhook: Pick<ClaimedWebhook, 'id' | 'revision'>,
    reason: PauseReason,
    detail: string | null,
  ): Promise<void>;
  /** Gives back the webhooks that this process has, except `kept`. */
  release(kept: readonly string[]): Promise<void>;
  /** Seals secrets that an earlier key sealed with the current key. */
  reseal(
    webhook: Pick<ClaimedWebhook, 'id' | 'sealed'>,
    now: { readonly sealed: Buffer; readonly keyId: Buffer },
  ): Promise<void>;
}

/** A request to an endpoint. */
export interface WebhookRequest {
  readonly url: string;
  readonly secrets: WebhookSecrets;
  readonly eventId: string;
  readonly body: string;
}

export interface WebhookAnswer {
  readonly startedAt: Date;
  readonly durationMs: number;
  /** The HTTP status; null when there was no answer. */
  readonly status: number | null;
  /** Why there was no answer, in English. */
  readonly error: string | null;
  readonly retryAfterMs: number | null;
  /** The first 4 kB of its body, as text. */
  readonly text: string;
}

/** Never rejects, except with the reason of `signal`. */
export type PostWebhook = (request: WebhookRequest, signal: AbortSignal) => Promise<WebhookAnswer>;

export const filterOf = ({ types, accountId, customerId, isHistorical }: StoredWebhook): EventFilter => ({
  types,
  accountId,
  customerId,
  isHistorical,
});
