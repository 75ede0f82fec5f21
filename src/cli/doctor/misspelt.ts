/** Environment variables that were meant for the service but that it does not know. */

/** One letter may be wrong for each of so many, up to MAX_SLIPS. */
const LETTERS_FOR_A_SLIP = 4;
const MAX_SLIPS = 2;
/** Shorter names resemble too many others. */
const MIN_LENGTH = 5;
/** Longer names are not misspelt names of ours, and the cost of comparing is the product of both lengths. */
const MAX_LENGTH = 60;

/** Names of other programs, however close they are to one of ours. */
const OTHERS: ReadonlySet<string> = new Set(['SSL_CERT_FILE', 'SSL_CERT_DIR']);

export interface Misspelt {
  readonly name: string;
  /** The known name that was probably meant. */
  readonly meant: string;
}

/**
 * @param set the names that are set
 * @param known the names that the service can read
 * @param read the names that it has read, because the accounts file names them
 */
export function findMisspelt(
  set: readonly string[],
  known: readonly string[],
  read: ReadonlySet<string>,
): readonly Misspelt[] {
  const all = new Set(known);
  return set.flatMap((name) => {
    if (all.has(name) || read.has(name) || OTHERS.has(name)) return [];
    if (name.length < MIN_LENGTH || name.length > MAX_LENGTH) return [];
    const slips = Math.min(MAX_SLIPS, Math.floor(name.length / LETTERS_FOR_A_SLIP));
    const upper = name.toUpperCase();
    const [nearest] = known
      .map((meant) => ({ meant, distance: distanceOf(upper, meant) }))
      .filter(({ distance }) => distance <= slips)
      .sort((one, other) => one.distance - other.distance);
    return nearest === undefined ? [] : [{ name, meant: nearest.meant }];
  });
}

/** The number of letters to remove, add, replace or swap with the next one. */
function distanceOf(one: string, other: string): number {
  let beforeLast: readonly number[] = [];
  let last: readonly number[] = Array.from({ length: other.length + 1 }, (_, at) => at);
  for (let row = 1; row <= one.length; row += 1) {
    const current = [row];
    for (let at = 1; at <= other.length; at += 1) {
      const isSame = one[row - 1] === other[at - 1];
      const isSwapped = row > 1 && at > 1 && one[row - 1] === other[at - 2] && one[row - 2] === other[at - 1];
      current.push(
        Math.min(
          (last[at] ?? 0) + 1,
          (current[at - 1] ?? 0) + 1,
          (last[at - 1] ?? 0) + (isSame ? 0 : 1),
          isSwapped ? (beforeLast[at - 2] ?? 0) + 1 : Infinity,
        ),
      );
    }
    beforeLast = last;
    last = current;
  }
  return last[other.length] ?? 0;
}
