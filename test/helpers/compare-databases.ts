/** The contents of two databases, as text, so that they can be compared row by row. */
import { query } from './query.ts';

/**
 * Tables that commands write by themselves, or that a restore or a move has to change: transactions of another server have other numbers,
 * another storage of files has another identity, and each process that looks at the database's clock writes down what it saw.
 */
const OF_COMMANDS = [
  'audit_log',
  'audit_outcomes',
  'event_clock',
  'database_clock',
  'storage_identity',
  'storage_faults',
];

/** Table → its rows, sorted. Without the migrations, the tables that commands change, and `except`. */
export async function readEverything(
  connectionString: string,
  except: readonly string[] = [],
): Promise<Record<string, readonly string[]>> {
  const tables = await query(
    connectionString,
    `select c.relname::text as name from pg_class c
    where c.relnamespace = 'email_worker'::regnamespace and c.relkind in ('r', 'p') and not c.relispartition
      and c.relname <> all ($1) order by 1`,
    [['schema_migrations', ...OF_COMMANDS, ...except]],
  );
  const found: Record<string, readonly string[]> = {};
  for (const { name } of tables) {
    const rows = await query(connectionString, `select t::text as row from ${String(name)} t order by 1`);
    found[String(name)] = rows.map(({ row }) => String(row));
  }
  return found;
}
