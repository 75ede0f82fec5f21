/** The database server's report about itself, for the doctor. It changes nothing. */
import type { Pool } from 'pg';
import { jsonRows, type JsonOf } from '../../platform/db/json.ts';
import { run, statement } from '../../platform/db/statement.ts';

export interface ServerFacts {
  /** Such as `16.4`. */
  readonly version: string;
  /** How far its clock is ahead of this machine's, in ms; negative when it is behind. */
  readonly aheadMs: number;
  /** How long the question took, in ms: the possible error of `aheadMs`. */
  readonly askedMs: number;
  readonly role: string;
  readonly isSuperuser: boolean;
  /** The schema of the service is there, or the role may create it. */
  readonly mayHaveSchema: boolean;
  /** A standby, or a database that is switched to read-only. */
  readonly isReadOnly: boolean;
  readonly hasTls: boolean;
  readonly connections: number;
  readonly maxConnections: number;
  readonly databaseBytes: number;
  /** Transactions since the oldest row that was not frozen; the server stops accepting writes near two thousand million. */
  readonly oldestTransaction: number;
  /** Tables of the schema that the role may not read and write. */
  readonly closedTables: readonly string[];
  /** Tables with more dead rows than live ones, the worst first. */
  readonly bloatedTables: readonly { readonly name: string; readonly dead: number; readonly live: number }[];
}

/** Throws `ServiceError('database_unavailable')`. */
export async function inspectDatabaseServer(pool: Pool, schema: string): Promise<ServerFacts> {
  const started = performance.now();
  const [row] = await run(pool, SERVER, { schema });
  const askedMs = performance.now() - started;
  const middle = Date.now() - askedMs / 2;
  const [tables] = await run(pool, TABLES, { atLeast: MIN_DEAD_ROWS });
  if (row === undefined || tables === undefined) throw new Error('the question for the server has no answer');
  return {
    version: row.version,
    aheadMs: row.asked_at.getTime() - middle,
    askedMs,
    role: row.role,
    isSuperuser: row.is_superuser,
    mayHaveSchema: row.may_have_schema,
    isReadOnly: row.is_read_only,
    hasTls: row.has_tls,
    connections: row.connections,
    maxConnections: row.max_connections,
    databaseBytes: Number(row.database_bytes),
    oldestTransaction: row.oldest_transaction,
    closedTables: tables.closed.map(({ relname }) => relname),
    bloatedTables: tables.bloated,
  };
}

/** Fewer take up too little space to matter. */
const MIN_DEAD_ROWS = 50_000;

const SERVER = statement(
  'doctor-server',
  `select split_part(current_setting('server_version'), ' ', 1) as version, clock_timestamp() as asked_at,
    current_user::text as role,
    coalesce((select r.rolsuper from pg_roles r where r.rolname = current_user), false) as is_superuser,
    exists (select from pg_namespace n where n.nspname = $schema::text)
      or has_database_privilege(current_database()::text, 'create') as may_have_schema,
    pg_is_in_recovery() or current_setting('default_transaction_read_only')::boolean as is_read_only,
    coalesce((select s.ssl from pg_stat_ssl s where s.pid = pg_backend_pid()), false) as has_tls,
    (select count(*) from pg_stat_activity a where a.backend_type = 'client backend')::int as connections,
    current_setting('max_connections')::int as max_connections,
    pg_database_size(current_database())::text as database_bytes,
    (select age(d.datfrozenxid) from pg_database d where d.datname = current_database()) as oldest_transaction`,
).narrow<{
  version: string;
  asked_at: Date;
  role: string;
  is_superuser: boolean;
  may_have_schema: boolean;
  is_read_only: boolean;
  has_tls: boolean;
  connections: number;
  max_connections: number;
  database_bytes: string;
  oldest_transaction: number;
}>();

const CLOSED = jsonRows(
  'doctor-closed-tables-json',
  `select c.relname from pg_class c
  where c.relnamespace = to_regnamespace(current_schema()::text) and c.relkind in ('r', 'p')
    and not (has_table_privilege(c.oid, 'select') and has_table_privilege(c.oid, 'insert')
      and has_table_privilege(c.oid, 'update') and has_table_privilege(c.oid, 'delete'))
  order by c.relname`,
).narrow<{ relname: string }>();

const BLOATED = jsonRows(
  'doctor-bloated-tables-json',
  `select t.relname as name, t.n_dead_tup as dead, t.n_live_tup as live from pg_stat_user_tables t
  where t.schemaname = current_schema() and t.n_dead_tup > $atLeast::int and t.n_dead_tup > t.n_live_tup
  order by t.n_dead_tup desc`,
).narrow<{ name: string; dead: number; live: number }>();

const TABLES = statement(
  'doctor-tables',
  `select ${CLOSED.array} as closed, ${BLOATED.array} as bloated`,
).narrow<{
  closed: readonly JsonOf<typeof CLOSED>[];
  bloated: readonly JsonOf<typeof BLOATED>[];
}>();
