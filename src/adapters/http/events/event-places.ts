/** How many requests may wait for events at the same moment. */
import { ServiceError } from '../../../core/errors.ts';

export class EventPlaces {
  readonly #max: number;
  #taken = 0;

  constructor(max: number) {
    this.#max = max;
  }

  /** Throws `busy` when none is free. Returns what gives the place back; a second call does nothing. */
  take(): () => void {
    if (this.#taken >= this.#max) throw new ServiceError('busy');
    this.#taken += 1;
    let isHeld = true;
    return () => {
      if (isHeld) this.#taken -= 1;
      isHeld = false;
    };
  }
}
