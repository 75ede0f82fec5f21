/** Work of several askers, a bounded number of pieces at the same moment; of one asker fewer, so that it leaves some to others. */
import { ServiceError } from '../../core/errors.ts';
import { FairQueue } from './fair-queue.ts';

export interface TurnsOptions {
  /** Pieces of work at the same moment. */
  readonly size: number;
  /** The same of one asker. */
  readonly sizeOfOne: number;
  /** Pieces of all askers that may wait. */
  readonly maxWaiting: number;
  /** The same of one asker. */
  readonly maxWaitingOfOne: number;
}

export class Turns {
  readonly #options: TurnsOptions;
  readonly #queue = new FairQueue<() => void>();
  /** By asker; none is 0. */
  readonly #running = new Map<string, number>();
  #count = 0;
  #waiting = 0;

  constructor(options: TurnsOptions) {
    this.#options = options;
  }

  /**
   * Runs `work` as soon as its asker has a turn, and rejects as it does. Throws `busy` when too many pieces wait, and `rate_limited` when too
   * many of this asker do.
   */
  async run<T>(asker: string, work: () => Promise<T>): Promise<T> {
    const { maxWaiting, maxWaitingOfOne } = this.#options;
    if (this.#mayBegin(asker)) this.#take(asker);
    else if (this.#queue.countOf(asker) >= maxWaitingOfOne) throw new ServiceError('rate_limited');
    else if (this.#waiting >= maxWaiting) throw new ServiceError('busy');
    else {
      this.#waiting += 1;
      await new Promise<void>((begin) => this.#queue.push(asker, this.#taking(asker, begin)));
    }
    try {
      return await work();
    } finally {
      this.#leave(asker);
    }
  }

  readonly #mayBegin = (asker: string): boolean =>
    this.#count < this.#options.size && (this.#running.get(asker) ?? 0) < this.#options.sizeOfOne;

  #taking(asker: string, begin: () => void): () => void {
    return () => {
      this.#waiting -= 1;
      this.#take(asker);
      begin();
    };
  }

  #take(asker: string): void {
    this.#count += 1;
    this.#running.set(asker, (this.#running.get(asker) ?? 0) + 1);
  }

  #leave(asker: string): void {
    const left = (this.#running.get(asker) ?? 1) - 1;
    if (left === 0) this.#running.delete(asker);
    else this.#running.set(asker, left);
    this.#count -= 1;
    this.#queue.take(this.#mayBegin)?.();
  }
}
