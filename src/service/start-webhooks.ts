/** A part of the composition root: webhooks, and the loops that belong to them. */
import { createWebhookDeliveries } from '../adapters/postgres/webhooks/webhook-deliveries.ts';
import { createWebhookQueue } from '../adapters/postgres/webhooks/webhook-queue.ts';
import { createWebhookStore } from '../adapters/postgres/webhooks/webhook-store.ts';
import { createEndpointRules } from '../adapters/webhooks/endpoint-rules.ts';
import { createWebhookPoster } from '../adapters/webhooks/post-webhook.ts';
import { createTargetRules } from '../adapters/webhooks/public-addresses.ts';
import { createWebhookSealer } from '../adapters/webhooks/webhook-sealer.ts';
import { traced } from '../app/base/tracing.ts';
import { NO_METER, type Meter } from '../app/metrics/meter.ts';
import type { EventFeed, FeedSignal } from '../app/events/event-ports.ts';
import { createWebhooks, type Webhooks } from '../app/webhooks/webhooks.ts';
import { isTaken } from '../app/webhooks/delivery-record.ts';
import type { PostWebhook } from '../app/webhooks/delivery-ports.ts';
import { startWebhookDeliverer } from '../worker/webhook-deliverer.ts';
import { startWebhookKeeper } from '../worker/webhook-keeper.ts';
import { followedBy } from './followed-by.ts';
import type { Parts } from './open-parts.ts';
import type { Teardown } from './teardown.ts';

/** @param secrets those of the API */
export function startWebhooks(
  { config, logger, clock, guard, ids, pool, callers, instanceId, watch, meter = NO_METER }: Parts,
  secrets: readonly string[],
  { feed, signal }: { readonly feed: EventFeed; readonly signal: FeedSignal },
  teardown: Teardown,
): Webhooks {
  const { allow, timeoutMs, leaseMs } = config.webhooks;
  const targets = createTargetRules(allow);
  const poster = createWebhookPoster({ targets, timeoutMs, clock });
  teardown.push(async () => poster.close());
  const sealer = createWebhookSealer(secrets);
  const log = createWebhookDeliveries(pool);
  const post = countDeliveries(poster.post, meter);
  const queue = createWebhookQueue({ pool, deliveries: log, owner: instanceId, leaseMs });
  const deliverer = startWebhookDeliverer({ queue, feed, sealer, post, ids, logger, leaseMs });
  teardown.push(() => deliverer.stop());
  signal.onGrowth(deliverer.grown);
  watch.on('webhooks', deliverer.wake);
  const keeper = startWebhookKeeper({
    log,
    requireTime: guard.require,
    logger,
    eventsDays: config.eventsDays,
  });
  teardown.push(() => keeper.stop());
  const rules = createEndpointRules(targets);
  const webhooks = createWebhooks({
    store: createWebhookStore(callers),
    log: createWebhookDeliveries(callers),
    sealer,
    rules,
    post,
    clock,
    ids,
  });
  const { create, change, delete: remove, pause, resume, replay, rotateSecret, ...others } = webhooks;
  return {
    ...others,
    ...followedBy(deliverer.changed, { create, change, delete: remove, pause, resume, replay, rotateSecret }),
  };
}

const countDeliveries =
  (post: PostWebhook, meter: Meter): PostWebhook =>
  async (request, signal) => {
    const answer = await traced(
      { name: 'deliver to webhook', kind: 'client', attributes: { 'http.request.method': 'POST' } },
      () => post(request, signal),
      ({ status }) => ({
        attributes: status === null ? {} : { 'http.response.status_code': status },
        failure: status === null ? 'no_answer' : isTaken(status) ? null : String(status),
      }),
    );
    meter.noteWebhook(isTaken(answer.status), answer.durationMs);
    return answer;
  };
