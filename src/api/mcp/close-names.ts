/** Names that a caller may have meant by an unknown one. */

const MAX_SUGGESTIONS = 3;
/** Longer names are compared no further: the cost grows with the square of the length. */
const MAX_CHARS = 64;

/** The closest first; empty when none is close. */
export function closeNames(name: string, known: readonly string[]): readonly string[] {
  const wanted = plain(name.slice(0, MAX_CHARS));
  if (wanted === '') return [];
  return known
    .map((candidate) => ({ candidate, distance: distanceOf(wanted, plain(candidate)) }))
    .filter(({ candidate, distance }) => distance <= Math.max(1, Math.floor(candidate.length / 3)))
    .toSorted((one, other) => one.distance - other.distance)
    .slice(0, MAX_SUGGESTIONS)
    .map(({ candidate }) => candidate);
}

/** `sendAt`, `send-at` and `send_at` are the same. */
const plain = (name: string): string => name.toLowerCase().replaceAll(/[^a-z0-9]/g, '');

/** A name that is a part of the other is as good as a slip of the pen: `text` of `text_body`. */
function distanceOf(one: string, other: string): number {
  const isPart = Math.min(one.length, other.length) > 2 && (one.includes(other) || other.includes(one));
  const edits = editsBetween(one, other);
  return isPart ? Math.min(1, edits) : edits;
}

/** Levenshtein's distance: letters to insert, delete or replace. */
function editsBetween(one: string, other: string): number {
  let row = Array.from({ length: other.length + 1 }, (_, index) => index);
  for (const [index, letter] of [...one].entries()) {
    const next = [index + 1];
    for (const [column, otherLetter] of [...other].entries()) {
      const replaced = (row[column] ?? 0) + (letter === otherLetter ? 0 : 1);
      next.push(Math.min(replaced, (row[column + 1] ?? 0) + 1, (next[column] ?? 0) + 1));
    }
    row = next;
  }
  return row[other.length] ?? 0;
}
