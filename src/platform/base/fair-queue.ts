/** Waiting work of several askers, who take turns: however much one of them has, another one's next piece waits for one turn of each. */

export class FairQueue<T> {
  /** One lane for each asker with waiting work, in the order of their turns. None is empty. */
  readonly #lanes = new Map<string, T[]>();

  /** The pieces of work of an asker that wait. */
  countOf(asker: string): number {
    return this.#lanes.get(asker)?.length ?? 0;
  }

  push(asker: string, ...work: readonly T[]): void {
    this.#laneOf(asker).push(...work);
  }

  /** Puts work before all other work of the same asker. */
  unshift(asker: string, work: T): void {
    this.#laneOf(asker).unshift(work);
  }

  /** True when an asker that may have a turn has work. */
  has(mayHaveTurn: (asker: string) => boolean): boolean {
    return this.#next(mayHaveTurn) !== null;
  }

  /** Takes the next piece of work; null when none of the askers that may have a turn has any. */
  take(mayHaveTurn: (asker: string) => boolean): T | null {
    const asker = this.#next(mayHaveTurn);
    const lane = asker === null ? undefined : this.#lanes.get(asker);
    const work = lane?.shift();
    if (asker === null || lane === undefined || work === undefined) return null;
    this.#lanes.delete(asker);
    if (lane.length > 0) this.#lanes.set(asker, lane);
    return work;
  }

  /** Removes and returns everything. */
  clear(): readonly T[] {
    const all = [...this.#lanes.values()].flat();
    this.#lanes.clear();
    return all;
  }

  #next(mayHaveTurn: (asker: string) => boolean): string | null {
    for (const asker of this.#lanes.keys()) if (mayHaveTurn(asker)) return asker;
    return null;
  }

  #laneOf(asker: string): T[] {
    const lane = this.#lanes.get(asker) ?? [];
    this.#lanes.set(asker, lane);
    return lane;
  }
}
