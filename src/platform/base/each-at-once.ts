/** Works on the items of a list, several at the same moment. */

/**
 * Calls `work` with the items as they come, at most `size` at once. After a failure, of an item or of the list itself,
 * nothing more begins; work under way is awaited, and the first failure is thrown. An abort of `signal` only keeps more
 * from beginning: the caller checks the signal where it matters.
 */
export async function eachAtOnce<T>(
  items: AsyncIterable<T>,
  size: number,
  work: (item: T) => Promise<void>,
  signal: AbortSignal,
): Promise<void> {
  const underWay = new Set<Promise<void>>();
  const failures: unknown[] = [];
  try {
    for await (const item of items) {
      if (signal.aborted || failures.length > 0) break;
      const one = work(item)
        // Caught at once: it may fail while the list is awaited.
        .catch((error: unknown) => void failures.push(error))
        .finally(() => underWay.delete(one));
      underWay.add(one);
      if (underWay.size >= size) await Promise.race(underWay);
    }
  } catch (error) {
    failures.push(error);
  }
  await Promise.all(underWay);
  if (failures.length > 0) throw failures[0];
}
