/** Reports to its listeners how long statements took: a channel of Node.js, which costs nothing without listeners. */
import diagnosticsChannel from 'node:diagnostics_channel';

export const statementTimes = diagnosticsChannel.channel('email-worker:statement');

/** @returns a function that stops listening */
export function onStatement(note: (durationMs: number) => void): () => void {
  const listener = (message: unknown) => note(message as number);
  statementTimes.subscribe(listener);
  return () => void statementTimes.unsubscribe(listener);
}

/** Returns the same answer, and reports how long it took from now on, including the wait for a connection. */
export async function timed<T>(answer: Promise<T>): Promise<T> {
  const started = performance.now();
  try {
    return await answer;
  } finally {
    statementTimes.publish(performance.now() - started);
  }
}
