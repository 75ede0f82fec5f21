/** Statements as spans of a trace, by their names: neither their texts nor their values. */
import { partOf } from '../../../app/base/tracing.ts';

/** The same answer to statements that were sent together; to be asked while something is traced. */
export const tracedStatements = <T>(names: readonly string[], answer: Promise<T>): Promise<T> =>
  partOf(
    {
      name: names.length === 1 ? (names[0] ?? '') : `${names.length} statements`,
      kind: 'client',
      attributes: {
        'db.system.name': 'postgresql',
        'db.query.summary': names.join(' '),
        ...(names.length > 1 ? { 'db.operation.batch.size': names.length } : {}),
      },
    },
    answer,
  );
