/** `DeliveryLog` on PostgreSQL: a partition for each day (UTC), so that forgetting means dropping a table. */
import type { Pool } from 'pg';
import type { Delivery, DeliveryLog } from './webhook-ports.ts';
import { dayOf } from '../../core/event/event-id.ts';
import { run, statement, statements, runCounting, type Executor } from '../../platform/db/statement.ts';

export interface WebhookDeliveries extends DeliveryLog {
  /** Creates the tables that are needed to store the deliveries. */
  prepare(deliveries: readonly Delivery[]): Promise<void>;
  /** After a failure to store: the tables are looked for again, since one of them may be missing. */
  prepareAgain(): void;
}

export function createWebhookDeliveries(pool: Pool): WebhookDeliveries {
  /** Days whose table exists. */
  const days = new Set<number>();

  async function prepare(deliveries: readonly Delivery[]): Promise<void> {
    for (const { startedAt } of deliveries) {
      const day = dayOf(startedAt);
      if (days.has(day)) continue;
      await run(pool, MAKE_PARTITION, { day });
      days.add(day);
    }
  }

  const prepareAgain = () => days.clear();

  return {
    prepare,
    prepareAgain,

    async add(webhookId, delivery) {
      await prepare([delivery]);
      await run(pool, ADD, toDeliveryValues([{ webhookId, delivery }])).catch((error: unknown) => {
        prepareAgain();
        throw error;
      });
    },

    async list(webhookId, outcome, before, limit) {
      const list = LIST.of({ hasOutcome: outcome !== null, isAfter: before !== null });
      const { date = null, id = null } = before ?? {};
      const rows = await run(pool, list, { webhookId, outcome, date, id, limit });
      return rows.map((row) => ({
        id: row.id,
        eventId: row.event_id,
        type: row.type,
        attempt: row.attempt,
        startedAt: row.started_at,
        durationMs: row.duration_ms,
        outcome: row.outcome,
        status: row.status,
        error: row.error,
        answer: row.answer,
      }));
    },

    async forget(keptDays) {
      // Any of them may be dropped, here or by another process.
      prepareAgain();
      const [row] = await run(pool, FORGET, { keptDays });
      return row?.days ?? 0;
    },
  };
}

interface LoggedDelivery {
  readonly webhookId: string;
  readonly delivery: Delivery;
}

/** Parameters of `INSERT_DELIVERIES`. */
export function toDeliveryValues(logged: readonly LoggedDelivery[]) {
  const column = <T>(read: (delivery: Delivery) => T): T[] => logged.map(({ delivery }) => read(delivery));
  return {
    webhookIds: logged.map(({ webhookId }) => webhookId),
    startedAts: column(({ startedAt }) => startedAt.toISOString()),
    deliveryIds: column(({ id }) => id),
    eventIds: column(({ eventId }) => eventId),
    types: column(({ type }) => type),
    attempts: column(({ attempt }) => attempt),
    durations: column(({ durationMs }) => Math.round(durationMs)),
    outcomes: column(({ outcome }) => outcome),
    statuses: column(({ status }) => status),
    errors: column(({ error }) => error),
    answers: column(({ answer }) => answer),
  };
}

export const INSERT_DELIVERIES = `
  insert into webhook_deliveries (webhook_id, started_at, id, event_id, type, attempt, duration_ms, outcome, status,
    error, answer)
  select * from unnest($webhookIds::uuid[], $startedAts::timestamptz[], $deliveryIds::uuid[], $eventIds::text[],
    $types::text[], $attempts::int[], $durations::int[], $outcomes::text[], $statuses::int[], $errors::text[],
    $answers::text[])
  on conflict do nothing`;

const ADD = statement('add-webhook-deliveries', INSERT_DELIVERIES);

const MAKE_PARTITION = statement('make-webhook-partition', 'select make_webhook_partition($day)');

const FORGET = statement('forget-webhook-deliveries', 'select forget_webhook_deliveries($keptDays) as days');

const LIST = statements(
  'list-webhook-deliveries',
  { hasOutcome: [false, true], isAfter: [false, true] },
  ({ hasOutcome, isAfter }) => `
    select d.id, d.event_id, d.type, d.attempt, d.started_at, d.duration_ms, d.outcome, d.status, d.error, d.answer
    from webhook_deliveries d
    where d.webhook_id = $webhookId ${hasOutcome ? 'and d.outcome = $outcome' : ''}
      ${isAfter ? 'and (d.started_at, d.id) < ($date::timestamptz, $id::uuid)' : ''}
    order by d.started_at desc, d.id desc limit $limit::int`,
);

/**
 * Redacts answers of endpoints to redacted events, and answers that name an address; @param pattern see addressPattern
 *
 * @returns how many answers
 */
export function redactDeliveries(executor: Executor, pattern: string, redacted: string): Promise<number> {
  return runCounting(executor, REDACT_DELIVERIES, { pattern, redacted });
}

const REDACT_DELIVERIES = statement(
  'redact-webhook-deliveries',
  `update webhook_deliveries d set answer = '', error = case when d.error is not null then 'erased' end
  where (d.answer <> '' or d.error is distinct from 'erased' and d.error is not null) and (
    lower(concat(d.answer, d.error)) ~ $pattern
    or d.event_id in (select lpad(to_hex(position), 16, '0') from events where data = $redacted)
  )`,
);
