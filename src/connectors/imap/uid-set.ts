/** UIDs as written in commands (RFC 9051 §9 "sequence-set"), and in portions that fit in a command line. */
import type { Uid } from '../../areas/mailboxes/mailbox-ports.ts';

/**
 * `1:3,7` for 3, 1, 2, 7: the order is lost. A range contains only UIDs from the list, so that no other message is requested. The list must
 * not be empty: no command can name an empty set.
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
