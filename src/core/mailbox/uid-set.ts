/**
 * Sets of UIDs as ranges, like the sequence-set of RFC 9051 §9: a mailbox of a million messages needs only a few.
 *
 * A set does not record the mailbox and UIDVALIDITY of its UIDs; the caller never mixes two.
 */

export interface UidRange {
  readonly first: number;
  /** Included. */
  readonly last: number;
}

/** Ascending, without overlap, never touching: each set has exactly one form. */
export type UidSet = readonly UidRange[];

export const NO_UIDS: UidSet = [];

/** In any order, repeats allowed. */
export function toUidSet(uids: Iterable<number>): UidSet {
  return joinRanges(Array.from(uids, (uid) => ({ first: uid, last: uid })));
}

/** Ranges in any order, overlapping or not, as a set. */
export function joinRanges(ranges: readonly UidRange[]): UidSet {
  const result: { first: number; last: number }[] = [];
  for (const { first, last } of ranges.toSorted((a, b) => a.first - b.first)) {
    const current = result.at(-1);
    if (current !== undefined && first <= current.last + 1) current.last = Math.max(current.last, last);
    else result.push({ first, last });
  }
  return result;
}

/** The UIDs that are in `a` but not in `b`. */
export function differenceOf(a: UidSet, b: UidSet): UidSet {
  const result: UidRange[] = [];
  let next = 0;
  for (const range of a) {
    let { first } = range;
    // Ranges of b that end before this one begins end before all later ones as well.
    while ((b[next]?.last ?? Infinity) < first) next += 1;
    for (let index = next; first <= range.last; index += 1) {
      const hole = b[index];
      if (hole === undefined || hole.first > range.last) {
        result.push({ first, last: range.last });
        break;
      }
      if (hole.first > first) result.push({ first, last: hole.first - 1 });
      first = hole.last + 1;
    }
  }
  return result;
}

/** The set in pieces of at most `size` UIDs, the highest first; together they are the set. */
export function* piecesOf(set: UidSet, size: number): Generator<UidSet> {
  let piece: UidRange[] = [];
  let room = size;
  for (const range of set.toReversed()) {
    let { last } = range;
    while (last >= range.first) {
      const first = Math.max(range.first, last - room + 1);
      piece.push({ first, last });
      room -= last - first + 1;
      last = first - 1;
      if (room > 0) continue;
      yield piece.reverse();
      piece = [];
      room = size;
    }
  }
  if (piece.length > 0) yield piece.reverse();
}
