/** Traces statements as spans, by their names: neither their texts nor their values. */
import { isTracing, partOf } from '../base/tracing.ts';

/** Returns the answer to statements that were sent together, within a span if tracing is on. */
export function tracedStatements<T>(toNames: () => readonly string[], answer: Promise<T>): Promise<T> {
  if (!isTracing()) return answer;
  const names = toNames();
  return partOf(
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
}
