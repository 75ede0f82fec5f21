/** `WebhookStore` on PostgreSQL. */
import type { Pool, PoolClient } from 'pg';
import type { SealedSecrets, StoredWebhook, WebhookSettings, WebhookStore } from './webhook-ports.ts';
import { eventsExpired, formatEventId } from '../../core/event/event-id.ts';
import { invalidRequest, ServiceError } from '../../core/errors.ts';
import { MAX_WEBHOOKS } from '../../core/webhook/webhook.ts';
import { nameAuthor } from '../../platform/db/name-author.ts';
import { run, statement, statements, type Executor } from '../../platform/db/statement.ts';
import { inTransaction } from '../../platform/db/transaction.ts';
import { nextRevision, READ_WEBHOOK, toWebhook, WEBHOOK_COLUMNS, type WebhookRow } from './webhook-rows.ts';

/** A separate position, so that a webhook that never moved can be told from one whose events are forgotten. */
const FIRST_POSITION = 1;

export function createWebhookStore(pool: Pool): WebhookStore {
  const read = async (executor: Executor, id: string) => toOne(await run(executor, READ_WEBHOOK, { id }));

  /** Changes a webhook by `work`, and then reads it. */
  const changing = (
    id: string,
    work: (client: PoolClient, webhook: StoredWebhook, revision: string) => Promise<void>,
  ) =>
    inTransaction(pool, async (client) => {
      const revision = await nextRevision(client);
      const webhook = await read(client, id);
      if (webhook === null) return null;
      await work(client, webhook, revision);
      return read(client, id);
    });

  return {
    create: (id, settings, secrets, position) =>
      inTransaction(pool, async (client) => {
        const revision = await nextRevision(client);
        const [count] = await run(client, COUNT);
        if ((count?.webhooks ?? 0) >= MAX_WEBHOOKS) {
          throw new ServiceError('too_many_webhooks', { values: { limit: MAX_WEBHOOKS } });
        }
        const at = await checkPosition(client, position);
        await run(client, CREATE, { id, revision, ...toValues(settings, secrets) });
        await run(client, CREATE_POSITION, { id, position: at });
        const webhook = await read(client, id);
        if (webhook === null) throw new Error('a webhook was not made');
        return webhook;
      }),

    read: (id) => read(pool, id),

    async list(within, before, limit) {
      const list = LIST.of({ ofAccounts: within !== null, isAfter: before !== null });
      const accountIds = within === null ? null : [...within];
      const place = { date: before?.date ?? null, id: before?.id ?? null };
      const rows = await run(pool, list, { accountIds, ...place, limit });
      return rows.map(toWebhook);
    },

    change: (id, settings, secrets, was) =>
      inTransaction(pool, async (client) => {
        const revision = await nextRevision(client);
        const rows = await run(client, CHANGE, { id, revision, was, ...toValues(settings, secrets) });
        return rows.length === 0 ? null : read(client, id);
      }),

    delete: (id, revision) =>
      inTransaction(pool, async (client) => {
        await nextRevision(client);
        const webhook = await read(client, id);
        if (webhook === null) return false;
        requireRevision(webhook, revision);
        await run(client, DELETE, { id });
        return true;
      }),

    pause: (id, keyId) =>
      changing(id, async (client, _webhook, revision) => {
        await nameAuthor(client, keyId);
        await run(client, PAUSE, { id, revision });
      }),

    resume: (id, keyId) =>
      changing(id, async (client, { position }, revision) => {
        await nameAuthor(client, keyId);
        await checkPosition(client, position);
        await run(client, RESUME, { id, revision });
      }),

    moveTo: (id, position) =>
      changing(id, async (client, _webhook, revision) => {
        const at = await checkPosition(client, position);
        await run(client, NOTE_CHANGE, { id, revision });
        await run(client, MOVE, { id, position: at });
      }),

    async positionAt(since) {
      const [row] = await run(pool, POSITION_AT, { since });
      if (row === undefined) throw new Error('the clock of events has no row');
      const forgotten = Number(row.forgotten);
      if (Number(row.day_start) <= forgotten) throw eventsExpired(forgotten);
      return Math.max(FIRST_POSITION, row.first === null ? Number(row.last) : Number(row.first) - 1);
    },
  };
}

/** Throws `webhook_changed`. @param wanted null: any */
export function requireRevision({ revision }: StoredWebhook, wanted: number | null): void {
  if (wanted !== null && wanted !== revision)
    throw new ServiceError('webhook_changed', { details: String(revision) });
}

/** Checks where a webhook may begin; null: now, 0: with the first event that is kept. */
async function checkPosition(client: Executor, position: number | null): Promise<number> {
  const [clock] = await run(client, READ_CLOCK);
  if (clock === undefined) throw new Error('the clock of events has no row');
  const forgotten = Number(clock.forgotten);
  // The next event gets a position of today or later.
  const last = Math.max(Number(clock.position), Number(clock.day_start));
  if (position === null) return last;
  if (position === 0) return Math.max(forgotten, FIRST_POSITION);
  if (position < forgotten) throw eventsExpired(forgotten);
  if (position > last) throw invalidRequest('too_large', { field: 'after', limit: formatEventId(last) });
  return position;
}

function toValues(settings: WebhookSettings, { sealed, keyId, oldSecretUntil }: SealedSecrets) {
  const { types, headerNames, ...others } = settings;
  return {
    ...others,
    types: types === null ? null : [...types],
    headerNames: [...headerNames],
    sealed,
    keyId,
    oldSecretUntil,
  };
}

const toOne = ([row]: readonly WebhookRow[]): StoredWebhook | null =>
  row === undefined ? null : toWebhook(row);

const COUNT = statement('count-webhooks', 'select count(*)::int as webhooks from webhooks');

const READ_CLOCK = statement(
  'read-clock-for-webhooks',
  'select position, forgotten, event_day(now()) << 36 as day_start from event_clock',
);

const CREATE = statement(
  'create-webhook',
  `insert into webhooks (id, revision, url, description, types, account_id, customer_id, is_historical, payload, max_in_flight,
    header_names, sealed, key_id, old_secret_until)
  values ($id, $revision, $url, $description, $types, $accountId, $customerId, $isHistorical, $payload, $maxInFlight, $headerNames,
    $sealed, $keyId, $oldSecretUntil)`,
);

const CREATE_POSITION = statement(
  'create-webhook-position',
  'insert into webhook_positions (webhook_id, position) values ($id, $position)',
);

const LIST = statements(
  'list-webhooks',
  { ofAccounts: [false, true], isAfter: [false, true] },
  ({ ofAccounts, isAfter }) => `
    select ${WEBHOOK_COLUMNS} from webhooks w join webhook_positions p on p.webhook_id = w.id
    where ${ofAccounts ? 'w.account_id = any ($accountIds::text[])' : 'true'}
    ${isAfter ? `and (date_trunc('milliseconds', w.created_at), w.id) < ($date::timestamptz, $id::uuid)` : ''}
    order by date_trunc('milliseconds', w.created_at) desc, w.id desc limit $limit::int`,
).narrow<{ read_at: Date }>();

const CHANGE = statement(
  'change-webhook',
  `update webhooks set revision = $revision, updated_at = now(), url = $url, description = $description,
    types = $types, account_id = $accountId, customer_id = $customerId, is_historical = $isHistorical, payload = $payload,
    max_in_flight = $maxInFlight, header_names = $headerNames, sealed = $sealed, key_id = $keyId,
    old_secret_until = $oldSecretUntil
  where id = $id and sealed = $was
  returning id`,
);

const DELETE = statement('delete-webhook', 'delete from webhooks where id = $id');

const PAUSE = statement(
  'pause-webhook',
  `update webhooks set revision = $revision, updated_at = now(), paused_at = now(), pause_reason = 'by_hand'
  where id = $id and paused_at is null`,
);

const RESUME = statement(
  'resume-webhook',
  `update webhooks set revision = $revision, updated_at = now(), paused_at = null, pause_reason = null,
    pause_detail = null, resumed_at = now()
  where id = $id`,
);

const NOTE_CHANGE = statement(
  'note-webhook-change',
  'update webhooks set revision = $revision, updated_at = now() where id = $id',
);

const MOVE = statement(
  'move-webhook',
  `update webhook_positions set position = $position, beyond = default, epoch = epoch + 1 where webhook_id = $id`,
);

/** An event is numbered after it happened, so on its day or later. */
const POSITION_AT = statement(
  'webhook-position-at',
  `select c.position as last, c.forgotten, event_day($since::timestamptz) << 36 as day_start, (
    select e.position from events e
    where e.position >= event_day($since::timestamptz) << 36 and e.occurred_at >= $since
    order by e.position limit 1
  ) as first
  from event_clock c`,
);
