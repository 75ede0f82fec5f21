/** How far lines of a list have moved between two readings of it. */
interface Moving {
  readonly id: string;
  /** Of its latest mail, which decides its place. */
  readonly at: string;
}

/**
 * By how many lines the first line that is seen has moved. A line with newer mail went up by itself, and must not take
 * the others along: the one below it decides then.
 * @param first index of the topmost line that is seen
 */
export function moveOf(old: readonly Moving[], now: readonly Moving[], first: number): number {
  const places = new Map(now.map((row, index) => [markOf(row), index]));
  const stayed = old.findIndex((row, index) => index >= first && places.has(markOf(row)));
  const row = old[stayed];
  return row === undefined ? 0 : (places.get(markOf(row)) ?? stayed) - stayed;
}

const markOf = ({ id, at }: Moving): string => `${id} ${at}`;
