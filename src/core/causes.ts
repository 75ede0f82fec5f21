/** The errors behind an error. */

/** A cause may be its own. */
const MAX_CAUSES = 5;

/** What was thrown, what caused that, and so on. */
export function causesOf(thrown: unknown): readonly unknown[] {
  const causes = thrown === undefined ? [] : [thrown];
  for (let last = thrown; last instanceof Error && causes.length < MAX_CAUSES;) {
    last = last.cause;
    if (last !== undefined) causes.push(last);
  }
  return causes;
}
