/** Groupings of a list of things, such as the thread of each email. */

/** Equal for equal groupings, however the groups are named. */
export function numbered<T>(groups: readonly T[]): readonly number[] {
  const first = new Map<T, number>();
  for (const group of groups) if (!first.has(group)) first.set(group, first.size);
  return groups.map((group) => first.get(group)!);
}

/** Pairs of neighbours in a group of `fine` that `coarse` puts into different groups. */
export function torn(
  fine: readonly number[],
  coarse: readonly number[],
): readonly (readonly [number, number])[] {
  const last = new Map<number, number>();
  return fine.flatMap((group, index) => {
    const before = last.get(group);
    last.set(group, index);
    return before !== undefined && coarse[before] !== coarse[index] ? [[before, index] as const] : [];
  });
}

/** Number of groups with more than one member. */
export function countShared(groups: readonly number[]): number {
  const sizes = new Map<number, number>();
  for (const group of groups) sizes.set(group, (sizes.get(group) ?? 0) + 1);
  return [...sizes.values()].filter((size) => size > 1).length;
}
