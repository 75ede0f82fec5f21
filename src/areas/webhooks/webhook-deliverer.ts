/**
 * The loop that claims webhooks and has events delivered to them. It begins a round when a webhook is changed or free, or
 * when the watch saw the feed grow; while it has webhooks, also to renew its claims. Events that this process numbers
 * wake its webhooks at once.
 */
import type { IdSource, Logger } from '../../platform/base/basics.ts';
import { RENEWALS_PER_LEASE } from '../../platform/base/leases.ts';
import { systemTimers, type Timers } from '../../platform/base/timers.ts';
import type { EventFeed } from '../events/event-ports.ts';
import { FeedTail } from './feed-tail.ts';
import { WebhookRun } from './webhook-run.ts';
import type { ClaimedWebhook, PostWebhook, WebhookQueue } from './delivery-ports.ts';
import type { WebhookSealer, WebhookSecrets } from './webhook-ports.ts';
import { startLoop, type WokenLoop } from '../../platform/base/loop.ts';

/** The minimum between two rounds, in ms. */
const INTERVAL_MS = 100;

export interface WebhookDeliverer extends WokenLoop {
  /** The feed has grown. */
  grown(): void;
  /** A webhook was changed here: nothing more is posted by its earlier settings. */
  changed(): void;
}

export interface WebhookDelivererPorts {
  readonly queue: WebhookQueue;
  readonly feed: Pick<EventFeed, 'read' | 'readLatest'>;
  readonly sealer: WebhookSealer;
  readonly post: PostWebhook;
  readonly ids: IdSource;
  readonly logger: Logger;
  readonly leaseMs: number;
  readonly random?: () => number;
  /** Default: those of the system. */
  readonly timers?: Timers;
}

export function startWebhookDeliverer(ports: WebhookDelivererPorts): WebhookDeliverer {
  const { queue, feed, sealer, post, ids, logger, leaseMs } = ports;
  const { timers = systemTimers, random = Math.random } = ports;
  const tail = new FeedTail(feed);
  const runs = new Map<string, WebhookRun>();
  /** Runs that are no longer in `runs`. */
  const ending = new Map<string, Promise<void>>();
  let leasedUntil = -Infinity;
  /** Counts the calls of `changed`. */
  let changes = 0;
  let cancelRenewal = () => {};

  function end(run: WebhookRun): void {
    const { id } = run.webhook;
    if (runs.get(id) !== run) return;
    runs.delete(id);
    ending.set(
      id,
      run.stop().finally(() => {
        ending.delete(id);
        loop.wake();
      }),
    );
  }

  async function begin(webhook: ClaimedWebhook): Promise<void> {
    const secrets = await openSecrets(webhook);
    if (secrets === null) return;
    const run: WebhookRun = new WebhookRun(webhook, secrets, {
      tail,
      queue,
      post,
      timers,
      ids,
      random,
      logger,
      leasedUntil: () => leasedUntil,
      onEnd: () => end(run),
    });
    runs.set(webhook.id, run);
    run.wake();
  }

  /** null when no key opens them: the webhook is then paused. */
  async function openSecrets(webhook: ClaimedWebhook): Promise<WebhookSecrets | null> {
    const { id, sealed, keyId } = webhook;
    const secrets = sealer.open(id, sealed);
    if (secrets === null) {
      await queue.pause(
        webhook,
        'secret_unreadable',
        'sealed with an API_SECRET that this process does not have',
      );
      logger.warn({ webhookId: id }, 'a webhook was paused: its secret was sealed with another API_SECRET');
    } else if (sealer.keyIds[0]?.equals(keyId) === false) {
      await queue.reseal(webhook, sealer.seal(id, secrets));
    }
    return secrets;
  }

  async function run(): Promise<void> {
    cancelRenewal();
    const askedAt = timers.now();
    const changesBefore = changes;
    const claimed = await queue.claim(sealer.keyIds);
    if (changes === changesBefore) leasedUntil = askedAt + leaseMs;
    const byId = new Map(claimed.map((webhook) => [webhook.id, webhook]));
    for (const one of runs.values()) {
      if (byId.get(one.webhook.id)?.revision !== one.webhook.revision) end(one);
    }
    for (const webhook of claimed) {
      // A run that is ending is replaced only once it has ended.
      if (!runs.has(webhook.id) && !ending.has(webhook.id)) await begin(webhook);
    }
    if (claimed.length > 0) cancelRenewal = timers.after(leaseMs / RENEWALS_PER_LEASE, loop.wake);
    grown();
  }

  function grown(): void {
    if (runs.size === 0) return;
    tail.grown();
    for (const one of runs.values()) one.grown();
  }

  const loop = startLoop({
    intervalMs: INTERVAL_MS,
    waitsForWake: true,
    failure: 'webhooks can not be claimed',
    logger,
    timers,
    run,
  });

  return {
    wake: loop.wake,
    grown,
    changed() {
      changes += 1;
      leasedUntil = -Infinity;
      loop.wake();
    },
    async stop() {
      await loop.stop();
      cancelRenewal();
      for (const one of runs.values()) end(one);
      await Promise.all(ending.values());
      await queue.release([]).catch((err: unknown) => {
        logger.warn(
          { err },
          'webhooks were not released; another process takes over when their claim expires',
        );
      });
    },
  };
}
