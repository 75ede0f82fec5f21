/** How far the lines of a list have moved between two loads of it. */
interface Moving {
  readonly id: string;
  /** The time of its latest mail, which decides its place. */
  readonly at: string;
}

/**
 * The number of lines by which the first visible line has moved. A line with newer mail moved up by itself, and must not take the others
 * along: the line below it then decides.
 * @param first index of the topmost visible line
 */
export function moveOf(old: readonly Moving[], now: readonly Moving[], first: number): number {
  const places = new Map(now.map((row, index) => [markOf(row), index]));
  const stayed = old.findIndex((row, index) => index >= first && places.has(markOf(row)));
  const row = old[stayed];
  return row === undefined ? 0 : (places.get(markOf(row)) ?? stayed) - stayed;
}

const markOf = ({ id, at }: Moving): string => `${id} ${at}`;
