/** UIDs as commands name them (RFC 9051 §9 "sequence-set"), and in portions that a command line can hold. */
import type { Uid } from '../../app/mailboxes/mailbox-ports.ts';

/**
 * `1:3,7` of 3, 1, 2, 7: the order is lost. Only UIDs that are given are named, so that nothing else is asked for.
 * Must not be called with an empty list, which no command can name.
 */
export function formatUidSet(uids: readonly Uid[]): string {
  const ascending = uids.toSorted((a, b) => a - b);
  const ranges: { first: Uid; last: Uid }[] = [];
  for (const uid of ascending) {
    const range = ranges.at(-1);
    if (range !== undefined && uid <= range.last + 1) range.last = uid;
    else ranges.push({ first: uid, last: uid });
  }
  return ranges.map(({ first, last }) => (first === last ? `${first}` : `${first}:${last}`)).join(',');
}

/** In portions of at most `size`, in order. */
export function* inPortions<T>(items: readonly T[], size: number): Generator<readonly T[]> {
  for (let start = 0; start < items.length; start += size) yield items.slice(start, start + size);
}
