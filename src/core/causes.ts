/** The chain of causes of an error. */

/** Bounds the chain: an error may be its own cause. */
const MAX_CAUSES = 5;

/** The thrown value, its cause, the cause of that, and so on. */
export function causesOf(thrown: unknown): readonly unknown[] {
  const causes = thrown === undefined ? [] : [thrown];
  for (let last = thrown; last instanceof Error && causes.length < MAX_CAUSES;) {
    last = last.cause;
    if (last !== undefined) causes.push(last);
  }
  return causes;
}

/** The error's message followed by those of its causes. */
export function formatError(error: unknown): string {
  const messages = causesOf(error).map((cause) => (cause instanceof Error ? cause.message : String(cause)));
  return [...new Set(messages)].join(': ');
}
