/** Union-find over numbers from 0 on, 4 bytes each; a number that was never joined is a set of its own. */
import { grown } from './key-table.ts';

export class DisjointSets {
  /** Parent + 1; 0 for a root. */
  #parents = new Uint32Array(1024);

  find(number: number): number {
    let root = number;
    for (let parent = this.#parents[root] ?? 0; parent !== 0; parent = this.#parents[root] ?? 0)
      root = parent - 1;
    let at = number;
    while (at !== root) {
      const next = (this.#parents[at] ?? 0) - 1;
      this.#parents[at] = root + 1;
      at = next;
    }
    return root;
  }

  /** The lower root stays. */
  join(a: number, b: number): void {
    const [one, other] = [this.find(a), this.find(b)];
    if (one === other) return;
    const gone = Math.max(one, other);
    while (gone >= this.#parents.length) this.#parents = grown(this.#parents, 0);
    this.#parents[gone] = Math.min(one, other) + 1;
  }
}
