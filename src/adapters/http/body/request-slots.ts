/**
 * Bounds the number of requests that hold something expensive at once: a large body, a large answer, a wait for events. A request needs a
 * slot from the moment this is known until it is answered.
 */
import { ServiceError } from '../../../core/errors.ts';

export interface RequestSlot {
  /** Takes the slot, once; throws `busy` when all are taken. */
  take(): void;
  /** Returns the slot; does nothing when it was not taken. */
  release(): void;
}

export class RequestSlots {
  #free: number;

  constructor(count: number) {
    this.#free = count;
  }

  /** Costs nothing until it is taken. */
  reserve(): RequestSlot {
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
