/**
 * `SuppressionStore` on PostgreSQL. Every change takes the next number of `suppression_clock`, whose only row is locked until the commit:
 * so the numbers grow in the order of commits, and a reader that has read up to a number has missed none before it.
 */
import type { Pool } from 'pg';
import {
  SUPPRESSION_REASONS,
  type Suppression,
  type SuppressionReason,
} from '../../core/delivery/suppression.ts';
import { ServiceError } from '../../core/errors.ts';
import { nameAuthor } from '../../platform/db/name-author.ts';
import {
  run,
  runCounting,
  statement,
  statements,
  type Executor,
  type RowOf,
} from '../../platform/db/statement.ts';
import { inTransaction } from '../../platform/db/transaction.ts';
import type { DigestKey } from '../../core/erase/keyed-digest.ts';

/** One change of the list. */
export interface SuppressionChange {
  readonly address: string;
  readonly reason: SuppressionReason;
  readonly since: Date;
  /** False: lifted. */
  readonly active: boolean;
  readonly version: number;
}

export interface SuppressionsQuery {
  /** In the form of deliveryAddressKey. */
  readonly address: string | null;
  readonly reason: SuppressionReason | null;
  readonly limit: number;
  /** `version` of the last entry of the previous page; null for the first page. */
  readonly before: number | null;
}

/** An entry of the list, with its sort key: the newest change comes first. */
export type ListedSuppression = Suppression & { readonly version: number };

/**
 * All throw `ServiceError('database_unavailable')` like `ReportStore`. Addresses are in the form of deliveryAddressKey.
 */
export interface SuppressionStore {
  /** Those of the addresses that are on the list now. */
  findSuppressed(addresses: readonly string[]): Promise<readonly ListedSuppression[]>;
  listSuppressions(query: SuppressionsQuery): Promise<readonly ListedSuppression[]>;
  /**
   * Adds it as `manual`; an address that is on the list for another reason gets this reason. Throws `suppression_changed`.
   *
   * @param wanted the version that the entry must have; null: any, or none
   */
  suppress(
    address: string,
    note: string | null,
    wanted: number | null,
    keyId?: string | null,
  ): Promise<ListedSuppression>;
  /** null when it is not on the list. Throws `suppression_changed`. @param wanted as for `suppress` */
  lift(
    address: string,
    wanted: number | null,
    keyId?: string | null,
  ): Promise<{ readonly liftedAt: Date } | null>;
  /** The key of the digests that recognise erased addresses; see core/erase/erased-address.ts. */
  readDigestKey(): Promise<DigestKey>;
  /** Everything that changed after that version, in order; at most `limit`. 0 for all changes. */
  changesAfter(version: number, limit: number): Promise<readonly SuppressionChange[]>;
}

export function createSuppressionStore(pool: Pool): SuppressionStore {
  return {
    findSuppressed: async (addresses) => (await run(pool, FIND, { addresses })).map(toSuppression),

    async listSuppressions({ address, reason, before, limit }) {
      const isAfter = before !== null;
      const list = LIST.of({ hasAddress: address !== null, hasReason: reason !== null, isAfter });
      const rows = await run(pool, list, { address, reason, before, limit });
      return rows.map(toSuppression);
    },

    suppress: (address, note, wanted, keyId) =>
      inTransaction(pool, async (client) => {
        await nameAuthor(client, keyId);
        const version = await nextVersion(client);
        await requireVersion(client, address, wanted);
        const [changed] = await run(client, SUPPRESS, { address, note, version });
        const [row] = changed === undefined ? await run(client, FIND, { addresses: [address] }) : [changed];
        if (row === undefined) throw new Error('an address was not suppressed');
        return toSuppression(row);
      }),

    lift: (address, wanted, keyId) =>
      inTransaction(pool, async (client) => {
        await nameAuthor(client, keyId);
        const version = await nextVersion(client);
        await requireVersion(client, address, wanted);
        const [row] = await run(client, LIFT, { address, version });
        return row === undefined ? null : { liftedAt: row.lifted_at };
      }),

    async readDigestKey() {
      const [row] = await run(pool, DIGEST_KEY);
      if (row === undefined) throw new Error('digest_key has no row');
      return { inner: row.inner_key, outer: row.outer_key };
    },

    async changesAfter(version, limit) {
      const rows = await run(pool, CHANGES, { version: String(version), limit });
      return rows.map((row): SuppressionChange => ({ ...row, version: Number(row.version) }));
    },
  };
}

/** No other change can be under way. Throws `suppression_changed`. */
async function requireVersion(executor: Executor, address: string, wanted: number | null): Promise<void> {
  if (wanted === null) return;
  const [row] = await run(executor, FIND, { addresses: [address] });
  const version = Number(row?.version ?? 0);
  if (version !== wanted) throw new ServiceError('suppression_changed', { details: String(version) });
}

const COLUMNS = `s.address, s.reason, s.since, s.status, s.diagnostic, s.note, s.email_id, s.report_id, s.version`;

const FIND = statement(
  'find-suppressed',
  `select n.address, s.reason, s.since, s.status, s.diagnostic, s.note, s.email_id, s.report_id, s.version
  from unnest($addresses::text[]) n (address)
  join suppressions s on s.address = any (array[n.address, erased_address(n.address)])
  where s.lifted_at is null`,
).narrow<{ address: string }>();

const LIST = statements(
  'list-suppressions',
  { hasAddress: [false, true], hasReason: [false, true], isAfter: [false, true] },
  ({ hasAddress, hasReason, isAfter }) => `
    select ${COLUMNS} from suppressions s
    where s.lifted_at is null ${hasAddress ? 'and s.address in ($address, erased_address($address))' : ''}
      ${hasReason ? 'and s.reason = $reason' : ''} ${isAfter ? 'and s.version < $before' : ''}
    order by s.version desc limit $limit::int`,
);

const SUPPRESS = statement(
  'suppress-by-hand',
  `insert into suppressions as s (address, reason, since, diagnostic, note, version)
  values ($address, 'manual', now(), '', $note, $version)
  on conflict (address) do update set reason = 'manual', note = excluded.note, version = excluded.version,
    since = case when s.lifted_at is null then s.since else excluded.since end,
    status = case when s.lifted_at is null then s.status end,
    diagnostic = case when s.lifted_at is null then s.diagnostic else '' end,
    email_id = case when s.lifted_at is null then s.email_id end,
    report_id = case when s.lifted_at is null then s.report_id end,
    lifted_at = null
  -- What changes nothing is no change.
  where s.lifted_at is not null or s.reason <> 'manual' or s.note is distinct from excluded.note
  returning ${COLUMNS}`,
);

const LIFT = statement(
  'lift-suppression',
  `update suppressions set lifted_at = clock_timestamp(), version = $version
  where address in ($address, erased_address($address)) and lifted_at is null returning lifted_at`,
).narrow<{ lifted_at: Date }>();

const CHANGES = statement(
  'suppression-changes',
  `select address, reason, since, lifted_at is null as active, version from suppressions
  where version > $version order by version limit $limit::int`,
).narrow<{ active: boolean }>();

/** A report's evidence about an address. */
export interface SuppressionEvidence extends Omit<Suppression, 'note'> {
  /** When the reported failure happened: it does not count if the suppression of the address was lifted later. */
  readonly evidenceAt: Date;
}

/**
 * Suppresses the address unless its suppression was lifted after the evidence, or it is already suppressed for a reason at least as strong.
 */
export async function suppressByReport(
  executor: Executor,
  { address, reason, since, status, diagnostic, emailId, reportId, evidenceAt }: SuppressionEvidence,
): Promise<void> {
  const version = await nextVersion(executor);
  const evidence = { address, reason, since, status, diagnostic, emailId, reportId, evidenceAt };
  await run(executor, SUPPRESS_BY_REPORT, { ...evidence, version, reasons: SUPPRESSION_REASONS });
}

const SUPPRESS_BY_REPORT = statement(
  'suppress-by-report',
  `insert into suppressions as s (address, reason, since, status, diagnostic, email_id, report_id, version)
  values ($address, $reason, $since, $status, $diagnostic, $emailId, $reportId, $version)
  on conflict (address) do update set
    since = case when s.lifted_at is null then least(s.since, excluded.since) else excluded.since end,
    note = case when s.lifted_at is null then s.note end,
    reason = excluded.reason, status = excluded.status, diagnostic = excluded.diagnostic,
    email_id = excluded.email_id, report_id = excluded.report_id, version = excluded.version, lifted_at = null
  where case
    when s.lifted_at is null
      then array_position($reasons::text[], excluded.reason) > array_position($reasons::text[], s.reason)
    else $evidenceAt::timestamptz > s.lifted_at
  end`,
);

/** Locks out every other change until the commit. */
async function nextVersion(executor: Executor): Promise<string> {
  const [row] = await run(executor, NEXT_VERSION);
  if (row === undefined) throw new Error('suppression_clock has no row');
  return row.version;
}

const NEXT_VERSION = statement(
  'next-version-of-suppressions',
  'update suppression_clock set version = version + 1 returning version',
);

function toSuppression(row: RowOf<typeof FIND>): ListedSuppression {
  return {
    address: row.address,
    reason: row.reason,
    since: row.since,
    status: row.status,
    diagnostic: row.diagnostic,
    note: row.note,
    emailId: row.email_id,
    reportId: row.report_id,
    version: Number(row.version),
  };
}

const DIGEST_KEY = statement('read-digest-key', 'select inner_key, outer_key from digest_key');

/**
 * Erases all data about the addresses but a digest, by which nothing is sent to them. Lifted suppressions are forgotten, and so are
 * mentions of the addresses in entries of other addresses. @param pattern see addressPattern
 *
 * @returns how many entries there were
 */
export async function eraseSuppressions(
  executor: Executor,
  addresses: readonly string[],
  pattern: string,
): Promise<number> {
  const lifted = await runCounting(executor, FORGET_LIFTED, { addresses });
  const found = await run(executor, FIND_TO_ERASE, { addresses });
  for (const { address } of found) {
    await run(executor, ERASE, { address, version: await nextVersion(executor) });
  }
  const naming = await runCounting(executor, FORGET_NAMING, { pattern });
  return lifted + found.length + naming;
}

/** Such as the bounce of an address that forwards to them. */
const FORGET_NAMING = statement(
  'forget-suppressions-naming',
  `update suppressions set note = case when lower(note) ~ $pattern then null else note end,
    diagnostic = case when lower(diagnostic) ~ $pattern then '' else diagnostic end
  where lower(note) ~ $pattern or lower(diagnostic) ~ $pattern`,
);

const FORGET_LIFTED = statement(
  'forget-lifted-suppressions',
  'delete from suppressions where lower(address) = any ($addresses::text[]) and lifted_at is not null',
);

const FIND_TO_ERASE = statement(
  'find-suppressions-to-erase',
  'select address from suppressions where lower(address) = any ($addresses::text[]) order by address',
);

const ERASE = statement(
  'erase-suppression',
  `with gone as (
    delete from suppressions where address = $address returning *
  )
  insert into suppressions (address, reason, since, status, diagnostic, version)
  select erased_address(address), reason, since, null, '', $version::bigint from gone
  on conflict (address) do update set reason = excluded.reason, version = excluded.version, lifted_at = null`,
);
