/**
 * Bounds the number of requests that hold something expensive at once: a large body, a large answer, a wait for events. A request needs a
 * slot from the moment this is known until it is answered. A single key has half of them at most, so that it leaves some to others.
 */
import { ServiceError } from '../../../core/errors.ts';

export interface RequestSlot {
  /** Takes the slot, once; throws `busy` when all are taken, and `rate_limited` when the key has its part. */
  take(): void;
  /** Returns the slot; does nothing when it was not taken. */
  release(): void;
}

export class RequestSlots {
  readonly #count: number;
  #free: number;
  /** By key: the slots that it has. */
  readonly #taken = new Map<string, number>();

  constructor(count: number) {
    this.#count = count;
    this.#free = count;
  }

  /**
   * Costs nothing until it is taken.
   *
   * @param keyId of the request; null: a secret, whose holder runs the service
   */
  reserve(keyId: string | null): RequestSlot {
    let taken = false;
    return {
      take: () => {
        if (taken) return;
        if (this.#free === 0) throw new ServiceError('busy');
        if (keyId !== null) this.#takeFor(keyId);
        this.#free--;
        taken = true;
      },
      release: () => {
        if (!taken) return;
        this.#free++;
        if (keyId !== null) this.#taken.set(keyId, (this.#taken.get(keyId) ?? 1) - 1);
        taken = false;
      },
    };
  }

  #takeFor(keyId: string): void {
    const taken = this.#taken.get(keyId) ?? 0;
    if (taken >= Math.ceil(this.#count / 2)) throw new ServiceError('rate_limited');
    this.#taken.set(keyId, taken + 1);
  }
}
