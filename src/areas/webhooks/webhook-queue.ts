/**
 * `WebhookQueue` on PostgreSQL: one process at a time delivers to a webhook, and renews its lease. Rows are locked in the order of their
 * ids.
 */
import type { Pool } from 'pg';
import type { Progress, WebhookQueue } from './delivery-ports.ts';
import { createBatches } from '../../platform/db/batches.ts';
import { fromNow } from '../../platform/db/from-now.ts';
import { run, statement } from '../../platform/db/statement.ts';
import { inTransaction } from '../../platform/db/transaction.ts';
import { INSERT_DELIVERIES, toDeliveryValues, type WebhookDeliveries } from './webhook-deliveries.ts';
import { beyondColumn, nextRevision, toBeyondValue, toWebhook, WEBHOOK_COLUMNS } from './webhook-rows.ts';

/** The number of webhooks whose progress one statement stores: nearly all that can exist. */
const BATCH = { items: 50, bytes: 4 * 1024 * 1024, failTogether: true };
/** Approximate size of an attempt without its answer. */
const DELIVERY_BYTES = 300;

export interface WebhookQueueOptions {
  readonly pool: Pool;
  readonly deliveries: WebhookDeliveries;
  /** Identifies this process, and the one that replaces it after a restart. */
  readonly owner: string;
  readonly leaseMs: number;
}

export function createWebhookQueue({ pool, deliveries, owner, leaseMs }: WebhookQueueOptions): WebhookQueue {
  const recordProgress = createBatches<Progress, boolean>(
    { name: 'record-webhook-progress', ...BATCH },
    (progress) => progress.deliveries.reduce((sum, { answer }) => sum + answer.length + DELIVERY_BYTES, 0),
    async (batch) => {
      const logged = batch.flatMap((one) =>
        one.deliveries.map((delivery) => ({ webhookId: one.webhookId, delivery })),
      );
      await deliveries.prepare(logged.map(({ delivery }) => delivery));
      const rows = await run(pool, RECORD_PROGRESS, {
        owner,
        progressIds: batch.map(({ webhookId }) => webhookId),
        epochs: batch.map(({ epoch }) => epoch),
        positions: batch.map(({ position }) => position),
        beyonds: batch.map(toBeyondValue),
        ...toDeliveryValues(logged),
      }).catch((error: unknown) => {
        deliveries.prepareAgain();
        throw error;
      });
      const recorded = new Set(rows.map(({ webhook_id: id }) => id));
      return batch.map(({ webhookId }) => recorded.has(webhookId));
    },
  );

  return {
    recordProgress,

    async claim(keyIds) {
      const rows = await run(pool, CLAIM, { owner, leaseMs, keyIds: [...keyIds] });
      return rows.map(toWebhook);
    },

    pause: ({ id, revision: was }, reason, detail) =>
      inTransaction(pool, async (client) => {
        const revision = await nextRevision(client);
        await run(client, PAUSE, { id, was, revision, reason, detail });
      }),

    async release(kept) {
      await run(pool, RELEASE, { owner, kept: [...kept] });
    },

    async reseal({ id, sealed: was }, { sealed, keyId }) {
      await run(pool, RESEAL, { id, was, sealed, keyId });
    },
  };
}

const CLAIM = statement(
  'claim-webhooks',
  `with mine as (
    select webhook_id from webhook_positions where owner = $owner order by webhook_id for update
  ), free as (
    select q.webhook_id from webhook_positions q join webhooks v on v.id = q.webhook_id
    where v.paused_at is null and q.owner is distinct from $owner
      -- One that was given back before the database's clock went back is free since a moment to come.
      and (q.owner is null or q.lease_until < now())
      -- A process that can't open it only says so, when no other one has come for it.
      and (v.key_id = any ($keyIds::bytea[]) or q.lease_until < now() - interval '5 minutes')
    order by q.webhook_id
    for update of q skip locked
  )
  update webhook_positions p set owner = $owner, lease_until = ${fromNow('$leaseMs')}
  from webhooks w
  where w.id = p.webhook_id and w.paused_at is null
    and p.webhook_id in (select webhook_id from mine union all select webhook_id from free)
  returning ${WEBHOOK_COLUMNS}`,
).narrow<{ read_at: Date }>();

const RECORD_PROGRESS = statement(
  'record-webhook-progress',
  `with logged as (${INSERT_DELIVERIES}), locked as (
    select p.webhook_id, i.position, i.beyond
    from unnest($progressIds::uuid[], $epochs::bigint[], $positions::bigint[], $beyonds::text[])
      as i (webhook_id, epoch, position, beyond)
    join webhook_positions p on p.webhook_id = i.webhook_id and p.epoch = i.epoch and p.owner = $owner
    order by p.webhook_id
    for update of p
  )
  update webhook_positions p set position = l.position, beyond = ${beyondColumn('l.beyond')}
  from locked l where p.webhook_id = l.webhook_id
  returning p.webhook_id`,
);

const PAUSE = statement(
  'pause-failing-webhook',
  `update webhooks set revision = $revision, updated_at = now(), paused_at = now(), pause_reason = $reason,
    pause_detail = $detail
  where id = $id and revision = $was and paused_at is null`,
);

const RELEASE = statement(
  'release-webhooks',
  `with mine as (
    select webhook_id from webhook_positions where owner = $owner and webhook_id <> all ($kept::uuid[])
    order by webhook_id for update
  )
  update webhook_positions p set owner = null, lease_until = now() from mine m where p.webhook_id = m.webhook_id`,
);

const RESEAL = statement(
  'reseal-webhook',
  'update webhooks set sealed = $sealed, key_id = $keyId where id = $id and sealed = $was',
);
