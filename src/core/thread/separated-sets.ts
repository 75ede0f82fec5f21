/** Union-find that keeps for each set the sets it is separated from and its parties. */

export interface SeparatedSets {
  find(number: number): number;
  /** Does nothing when the two are separated. */
  join(a: number, b: number): void;
  /** Call it after joining equal labels. A label that is not in use separates nothing. */
  separate(labels: readonly (string | null)[], pairs: readonly (readonly [string, string])[]): void;
  addParty(number: number, partyId: string): void;
  areSeparated(a: number, b: number): boolean;
  /** True if a join would bring two parties together. */
  areOfTwoParties(a: number, b: number): boolean;
}

export function createSeparatedSets(size: number): SeparatedSets {
  const parents = Uint32Array.from({ length: size }, (_, index) => index);
  /** Root → roots it never joins; kept for both sides. */
  const foes = new Map<number, Set<number>>();
  /** Root → its parties. */
  const parties = new Map<number, Set<string>>();

  const find = (number: number): number => {
    let root = number;
    while (parents[root] !== root) root = parents[root] ?? root;
    let at = number;
    while (at !== root) {
      const next = parents[at] ?? root;
      parents[at] = root;
      at = next;
    }
    return root;
  };

  const addParties = (root: number, added: Iterable<string>): void => {
    const known = parties.get(root) ?? new Set();
    for (const party of added) known.add(party);
    parties.set(root, known);
  };

  const oppose = (a: number, b: number): void => {
    for (const [one, other] of [[a, b] as const, [b, a] as const]) {
      const known = foes.get(one);
      if (known === undefined) foes.set(one, new Set([other]));
      else known.add(other);
    }
  };

  const join = (a: number, b: number): void => {
    const [kept, gone] = [find(a), find(b)];
    if (kept === gone || foes.get(kept)?.has(gone) === true) return;
    parents[gone] = kept;
    const brought = parties.get(gone);
    if (brought !== undefined) addParties(kept, brought);
    parties.delete(gone);
    const taken = foes.get(gone);
    if (taken === undefined) return;
    foes.delete(gone);
    for (const foe of taken) {
      foes.get(foe)?.delete(gone);
      oppose(kept, foe);
    }
  };

  return {
    find,
    join,
    separate(labels, pairs) {
      const numbers = new Map<string, number>();
      for (const [number, label] of labels.entries()) if (label !== null) numbers.set(label, number);
      for (const [one, other] of pairs) {
        const [a, b] = [numbers.get(one), numbers.get(other)];
        if (a !== undefined && b !== undefined) oppose(find(a), find(b));
      }
    },
    addParty: (number, partyId) => addParties(find(number), [partyId]),
    areSeparated: (a, b) => foes.get(find(a))?.has(find(b)) === true,
    areOfTwoParties(a, b) {
      const [one, other] = [find(a), find(b)];
      const [ours, theirs] = [parties.get(one), parties.get(other)];
      if (one === other || ours === undefined || theirs === undefined) return false;
      return new Set([...ours, ...theirs]).size > 1;
    },
  };
}
