/**
 * Bounds how many large bodies, of requests or of answers, are in memory at once. A request needs a place from the moment its
 * body, or that of its answer, is known to be large until it is answered.
 */
import { ServiceError } from '../../../core/errors.ts';

export interface LargePlace {
  /** Takes the place, once; throws `busy` when all are taken. */
  take(): void;
  /** Gives it back; does nothing when it was not taken. */
  release(): void;
}

export class LargePlaces {
  #free: number;

  constructor(count: number) {
    this.#free = count;
  }

  /** Costs nothing until it is taken. */
  reserve(): LargePlace {
    let taken = false;
    return {
      take: () => {
        if (taken) return;
        if (this.#free === 0) throw new ServiceError('busy');
        this.#free--;
        taken = true;
      },
      release: () => {
        if (!taken) return;
        this.#free++;
        taken = false;
      },
    };
  }
}
