/** Several reads of one snapshot in one round trip. */

/**
 * The text of a statement whose columns are the rows of the queries as JSON, each in its order: points in time are text there,
 * numbers of any size are numbers.
 */
export const readTogether = (queries: Readonly<Record<string, string>>): string =>
  `select ${Object.entries(queries)
    .map(([name, query]) => `(select coalesce(json_agg(q), '[]') from (${query}) q) as ${name}`)
    .join(', ')}`;
