/** Several reads of one snapshot in one round trip. */
import { sql, type RawBuilder, type Transaction } from 'kysely';
import type { Database } from './database.ts';

/** As JSON has a row: points in time as text, numbers of any size as numbers. */
type JsonRow<Row> = { [Key in keyof Row]: Row[Key] extends Date ? string : Row[Key] };

/** The rows of each query, in its order. */
export async function readTogether<Rows extends Readonly<Record<string, object>>>(
  trx: Transaction<Database>,
  queries: { readonly [Name in keyof Rows]: RawBuilder<Rows[Name]> },
): Promise<{ readonly [Name in keyof Rows]: readonly JsonRow<Rows[Name]>[] }> {
  const columns = Object.entries<RawBuilder<object>>(queries).map(
    ([name, query]) => sql`(select coalesce(json_agg(q), '[]') from (${query}) q) as ${sql.ref(name)}`,
  );
  const { rows } = await sql<{ readonly [Name in keyof Rows]: readonly JsonRow<Rows[Name]>[] }>`
    select ${sql.join(columns)}`.execute(trx);
  const [row] = rows;
  if (row === undefined) throw new Error('a select without from has one row');
  return row;
}
