/** A part of the composition root: webhooks, and the loops that belong to them. */
import { createWebhookDeliveries } from '../areas/webhooks/webhook-deliveries.ts';
import { createWebhookQueue } from '../areas/webhooks/webhook-queue.ts';
import { createWebhookStore } from '../areas/webhooks/webhook-store.ts';
import { createEndpointRules } from '../connectors/webhooks/endpoint-rules.ts';
import { createWebhookPoster } from '../connectors/webhooks/post-webhook.ts';
import { createTargetRules } from '../connectors/webhooks/public-addresses.ts';
import { createWebhookSealer } from '../connectors/webhooks/webhook-sealer.ts';
import { traced } from '../platform/base/tracing.ts';
import { NO_METER, type Meter } from '../platform/base/meter.ts';
import type { EventFeed, FeedSignal } from '../areas/events/event-ports.ts';
import { createWebhooks, type Webhooks } from '../areas/webhooks/webhooks.ts';
import { isTaken } from '../areas/webhooks/delivery-record.ts';
import type { PostWebhook } from '../areas/webhooks/delivery-ports.ts';
import { startWebhookDeliverer } from '../areas/webhooks/webhook-deliverer.ts';
import { startWebhookKeeper } from '../areas/webhooks/webhook-keeper.ts';
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
