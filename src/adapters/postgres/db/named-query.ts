/** Queries by name: a named statement is parsed once for each connection, and planned a few times at most. */
import type { Pool, QueryResultRow } from 'pg';
import { guard } from './pool.ts';

/** Runs one statement; failures of the server become `database_unavailable`. The same name is always the same text. */
export type NamedQuery = <Row extends QueryResultRow>(
  name: string,
  text: string,
  values: unknown[],
) => Promise<Row[]>;

export function createNamedQuery(pool: Pool): NamedQuery {
  return async <Row extends QueryResultRow>(name: string, text: string, values: unknown[]) =>
    (await guard(pool.query<Row>({ name, text, values }))).rows;
}
