/** The representation of a webhook in its two rows: `w` of `webhooks`, `p` of `webhook_positions`. */
import type { ClaimedWebhook, Progress } from './delivery-ports.ts';
import type { BeyondJson } from '../../core/webhook/beyond-json.ts';
import type { Beyond } from './webhook-ports.ts';
import { toStorableJson } from '../../core/storable-text.ts';
import { fromNow } from '../../platform/db/from-now.ts';
import { run, statement, type Executor, type RowOf } from '../../platform/db/statement.ts';

export const WEBHOOK_COLUMNS = `w.id, w.created_at, w.updated_at, w.revision, w.url, w.description, w.types, w.account_id,
  w.customer_id, w.is_historical, w.payload, w.max_in_flight, w.header_names, w.sealed, w.key_id, w.old_secret_until, w.paused_at,
  w.pause_reason, w.pause_detail, w.resumed_at, p.position, p.beyond, p.epoch, now() as read_at`;

export const READ_WEBHOOK = statement(
  'read-webhook',
  `select ${WEBHOOK_COLUMNS} from webhooks w join webhook_positions p on p.webhook_id = w.id where w.id = $id`,
).narrow<{ read_at: Date }>();
export type WebhookRow = RowOf<typeof READ_WEBHOOK>;

export function toWebhook(row: WebhookRow): ClaimedWebhook {
  const { paused_at: since, pause_reason: reason, pause_detail: detail } = row;
  return {
    id: row.id,
    createdAt: row.created_at,
    updatedAt: row.updated_at,
    revision: Number(row.revision),
    url: row.url,
    description: row.description,
    types: row.types,
    accountId: row.account_id,
    customerId: row.customer_id,
    isHistorical: row.is_historical,
    payload: row.payload,
    maxInFlight: row.max_in_flight,
    headerNames: row.header_names,
    sealed: row.sealed,
    keyId: row.key_id,
    oldSecretUntil: row.old_secret_until,
    pause: since === null || reason === null ? null : { since, reason, detail },
    position: Number(row.position),
    beyond: fromJson(row.beyond, row),
    epoch: Number(row.epoch),
    readAt: row.read_at,
  };
}

/**
 * Events that failed before the webhook was resumed count as never tried. Where the database's clock was set back since the times were
 * stored, they would hold the events for as long as the clock was ahead, so the events are due now.
 */
function fromJson(
  { delivered, failed, stored_at: storedAt }: BeyondJson,
  { resumed_at: resumedAt, read_at: readAt }: Pick<WebhookRow, 'resumed_at' | 'read_at'>,
): Beyond {
  const wasSetBack = storedAt !== undefined && new Date(storedAt) > readAt;
  const events = failed.map(({ position, attempts, since, due_at: dueAt }) => ({
    position,
    attempts,
    since: wasSetBack ? readAt : new Date(since),
    dueAt: wasSetBack ? readAt : new Date(dueAt),
  }));
  return { delivered, failed: events.filter(({ since }) => resumedAt === null || since > resumedAt) };
}

/** For `beyondColumn`. */
export function toBeyondValue({ delivered, failed }: Pick<Progress, 'delivered' | 'failed'>): string {
  return toStorableJson({
    delivered,
    failed: failed.map(({ position, attempts, failingMs, dueInMs }) => ({
      position,
      attempts,
      failing_ms: failingMs,
      due_in_ms: dueInMs,
    })),
  });
}

/** The value as `BeyondJson`, with moments instead of durations. @param value as SQL, of type text */
export const beyondColumn = (value: string): string => `(
    select jsonb_build_object('delivered', b.value -> 'delivered', 'stored_at', now(), 'failed', coalesce((
      select jsonb_agg(jsonb_build_object('position', f.position, 'attempts', f.attempts,
        'since', ${fromNow('-f.failing_ms')}, 'due_at', ${fromNow('f.due_in_ms')}) order by f.position)
      from jsonb_to_recordset(b.value -> 'failed') as f (position bigint, attempts int, failing_ms float8, due_in_ms float8)
    ), '[]'))
    from (select ${value}::jsonb as value) b
  )`;

/** The number of the next change; locks out every other change until the commit. */
export async function nextRevision(executor: Executor): Promise<string> {
  const [row] = await run(executor, NEXT_REVISION);
  if (row === undefined) throw new Error('webhook_clock has no row');
  return row.version;
}

const NEXT_REVISION = statement(
  'next-revision-of-webhooks',
  'update webhook_clock set version = version + 1 returning version',
);
