/**
 * `SuppressionStore` on PostgreSQL. Every change takes the next number of `suppression_clock`, whose only row is locked
 * until the commit: so the numbers grow in the order of commits, and a reader that has read up to one has missed none before it.
 */
import type { Pool, PoolClient } from 'pg';
import type {
  SuppressionChange,
  SuppressionStore,
  SuppressionsQuery,
} from '../../../app/send/suppression-ports.ts';
import {
  SUPPRESSION_REASONS,
  type Suppression,
  type SuppressionReason,
} from '../../../core/delivery/suppression.ts';
import { createNamedQuery } from '../db/named-query.ts';
import { inTransaction } from '../db/transaction.ts';

export function createSuppressionStore(pool: Pool): SuppressionStore {
  const query = createNamedQuery(pool);
  return {
    async findSuppressed(addresses) {
      const rows = await query<SuppressionRow>(
        'find-suppressed',
        `select ${COLUMNS} from suppressions s where address = any ($1::text[]) and lifted_at is null`,
        [addresses],
      );
      return rows.map(toSuppression);
    },

    async listSuppressions(request) {
      const { name, text, values } = listQuery(request);
      const rows = await query<SuppressionRow>(name, text, values);
      return rows.map((row) => ({ ...toSuppression(row), version: Number(row.version) }));
    },

    suppress: (address, note) =>
      inTransaction(pool, async (client) => {
        const version = await nextVersion(client);
        const { rows } = await client.query<SuppressionRow>(
          `insert into suppressions as s (address, reason, since, diagnostic, note, version)
          values ($1, 'manual', now(), '', $2, $3)
          on conflict (address) do update set reason = 'manual', note = excluded.note, version = excluded.version,
            since = case when s.lifted_at is null then s.since else excluded.since end,
            status = case when s.lifted_at is null then s.status end,
            diagnostic = case when s.lifted_at is null then s.diagnostic else '' end,
            email_id = case when s.lifted_at is null then s.email_id end,
            report_id = case when s.lifted_at is null then s.report_id end,
            lifted_at = null
          returning ${COLUMNS}`,
          [address, note, version],
        );
        return toSuppression(rows[0] as SuppressionRow);
      }),

    lift: (address) =>
      inTransaction(pool, async (client) => {
        const version = await nextVersion(client);
        const { rows } = await client.query<{ lifted_at: Date }>(
          `update suppressions set lifted_at = clock_timestamp(), version = $2
          where address = $1 and lifted_at is null returning lifted_at`,
          [address, version],
        );
        const [row] = rows;
        return row === undefined ? null : { liftedAt: row.lifted_at };
      }),

    async changesAfter(version, limit) {
      const rows = await query<ChangeRow>(
        'suppression-changes',
        `select address, reason, since, lifted_at is null as active, version from suppressions
        where version > $1 order by version limit $2`,
        [version, limit],
      );
      return rows.map((row): SuppressionChange => ({ ...row, version: Number(row.version) }));
    },
  };
}

/** What a report has to say about an address. */
export interface SuppressionEvidence extends Omit<Suppression, 'note'> {
  /** When the reported failure happened: it does not count when the address was lifted later. */
  readonly evidenceAt: Date;
}

/** Suppresses unless it is lifted after the evidence, or suppressed already for as strong a reason. */
export async function suppressByReport(client: PoolClient, evidence: SuppressionEvidence): Promise<void> {
  const version = await nextVersion(client);
  await client.query(
    `insert into suppressions as s (address, reason, since, status, diagnostic, email_id, report_id, version)
    values ($1, $2, $3, $4, $5, $6, $7, $8)
    on conflict (address) do update set
      since = case when s.lifted_at is null then least(s.since, excluded.since) else excluded.since end,
      note = case when s.lifted_at is null then s.note end,
      reason = excluded.reason, status = excluded.status, diagnostic = excluded.diagnostic,
      email_id = excluded.email_id, report_id = excluded.report_id, version = excluded.version, lifted_at = null
    where case
      when s.lifted_at is null then array_position($10::text[], excluded.reason) > array_position($10::text[], s.reason)
      else $9::timestamptz > s.lifted_at
    end`,
    [
      evidence.address,
      evidence.reason,
      evidence.since,
      evidence.status,
      evidence.diagnostic,
      evidence.emailId,
      evidence.reportId,
      version,
      evidence.evidenceAt,
      SUPPRESSION_REASONS,
    ],
  );
}

/** Locks out every other change until the commit. */
async function nextVersion(client: PoolClient): Promise<string> {
  const { rows } = await client.query<{ version: string }>(
    'update suppression_clock set version = version + 1 returning version',
  );
  const [row] = rows;
  if (row === undefined) throw new Error('suppression_clock has no row');
  return row.version;
}

interface ChangeRow {
  address: string;
  reason: SuppressionReason;
  since: Date;
  active: boolean;
  version: string;
}

interface SuppressionRow {
  address: string;
  reason: SuppressionReason;
  since: Date;
  status: string | null;
  diagnostic: string;
  note: string | null;
  email_id: string | null;
  report_id: string | null;
  version: string;
}

const COLUMNS = `s.address, s.reason, s.since, s.status, s.diagnostic, s.note, s.email_id, s.report_id, s.version`;

function toSuppression(row: SuppressionRow): Suppression {
  return {
    address: row.address,
    reason: row.reason,
    since: row.since,
    status: row.status,
    diagnostic: row.diagnostic,
    note: row.note,
    emailId: row.email_id,
    reportId: row.report_id,
  };
}

/** One text for each set of conditions, so that the planner sees what it may use an index for. */
function listQuery({ address, reason, before, limit }: SuppressionsQuery): {
  name: string;
  text: string;
  values: unknown[];
} {
  const values: unknown[] = [limit];
  const parameter = (value: unknown) => `$${values.push(value)}`;
  const conditions = [
    's.lifted_at is null',
    ...(address === null ? [] : [`s.address = ${parameter(address)}`]),
    ...(reason === null ? [] : [`s.reason = ${parameter(reason)}`]),
    ...(before === null ? [] : [`s.version < ${parameter(before)}`]),
  ];
  const asked = [address, reason, before].map((value) => (value === null ? '0' : '1')).join('');
  return {
    name: `list-suppressions-${asked}`,
    text: `select ${COLUMNS} from suppressions s where ${conditions.join(' and ')} order by s.version desc limit $1`,
    values,
  };
}
