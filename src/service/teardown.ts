/** Takes down what was set up, the last first. */
import type { Logger } from '../platform/base/basics.ts';

/** The steps to undo, in the order of the set-up. */
export type Teardown = (() => Promise<void>)[];

/** A step that fails is logged, and stops none of the others; a second call does nothing. */
export async function takeDown(teardown: Teardown, logger: Logger): Promise<void> {
  for (const step of teardown.splice(0).reverse()) {
    await step().catch((err: unknown) => logger.error({ err }, 'a part could not be stopped'));
  }
}

/**
 * One step that ends parts which do not need each other: all are told before it waits for any, since each may be in the middle of a statement.
 */
export const together = (parts: readonly { stop(): Promise<void> }[]) => async (): Promise<void> => {
  const ends = await Promise.allSettled(parts.map((part) => part.stop()));
  const reasons = ends.flatMap((end) => (end.status === 'rejected' ? [end.reason as unknown] : []));
  if (reasons.length > 0) throw new AggregateError(reasons);
};
