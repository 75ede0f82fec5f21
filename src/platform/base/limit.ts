/**
 * A limit on work at the same moment: on its number and, where it has one, its weight. What exceeds the limit waits in the
 * order it came.
 */
import { setMaxListeners } from 'node:events';

export interface LimitOptions {
  /** Pieces of work at the same moment; at least 1. */
  readonly size: number;
  /** Their weight together, such as the bytes that they hold; one alone may always begin. Default: no limit. */
  readonly maxWeight?: number;
  /**
   * Work that makes no progress for this long, in ms, gives up its place to the next one, so that hanging servers do not
   * keep the others waiting; it continues all the same. Default: never.
   */
  readonly stallMs?: number;
}

export interface WorkOptions {
  /** Ends the wait; without effect afterwards. */
  readonly signal?: AbortSignal;
  /** Default: 0. */
  readonly weight?: number;
}

interface Waiting {
  readonly weight: number;
  readonly begin: () => void;
}

export class Limit {
  readonly #options: LimitOptions;
  readonly #waiting = new Set<Waiting>();
  #running = 0;
  #weight = 0;
  #idle: (() => void)[] = [];

  constructor(options: LimitOptions) {
    this.#options = options;
  }

  /**
   * Runs `work` as soon as there is room. Rejects as `work` does, or with the reason of `signal` when that comes first.
   * `work` calls its argument whenever it makes progress.
   */
  async run<T>(work: (onProgress: () => void) => Promise<T>, options: WorkOptions = {}): Promise<T> {
    const end = await this.begin(options);
    const { stallMs } = this.#options;
    let isOver = false;
    const makeRoom = () => {
      isOver = true;
      end();
    };
    const timer = stallMs === undefined ? null : setTimeout(makeRoom, stallMs);
    try {
      // A timer that has fired would be restarted.
      return await work(() => {
        if (!isOver) timer?.refresh();
      });
    } finally {
      if (timer !== null) clearTimeout(timer);
      makeRoom();
    }
  }

  /** Waits until there is room, takes it, and returns the function that gives it back. Rejects with the reason of `signal`. */
  async begin({ signal, weight = 0 }: WorkOptions = {}): Promise<() => void> {
    signal?.throwIfAborted();
    if (this.#waiting.size > 0 || !this.#fits(weight)) await this.#wait(weight, signal);
    else this.#take(weight);
    let isOver = false;
    const end = () => {
      if (isOver) return;
      isOver = true;
      this.#running -= 1;
      this.#weight -= weight;
      this.#goOn();
    };
    if (signal?.aborted === true) {
      end();
      signal.throwIfAborted();
    }
    return end;
  }

  /** Resolves when no work is under way, and none waits. */
  async idle(): Promise<void> {
    if (this.#running > 0) await new Promise<void>((resolve) => this.#idle.push(resolve));
  }

  #fits(weight: number): boolean {
    const { size, maxWeight = Infinity } = this.#options;
    return this.#running === 0 || (this.#running < size && this.#weight + weight <= maxWeight);
  }

  #take(weight: number): void {
    this.#running += 1;
    this.#weight += weight;
  }

  #wait(weight: number, signal: AbortSignal | undefined): Promise<void> {
    return new Promise((resolve, reject) => {
      const stop = () => {
        this.#waiting.delete(waiting);
        reject(signal?.reason as Error);
        // The next in line may be lighter.
        this.#goOn();
      };
      const begin = () => {
        signal?.removeEventListener('abort', stop);
        resolve();
      };
      const waiting = { weight, begin };
      this.#waiting.add(waiting);
      // Dozens may wait on one signal, which Node.js would report as a leak.
      if (signal !== undefined) setMaxListeners(0, signal);
      signal?.addEventListener('abort', stop, { once: true });
    });
  }

  #goOn(): void {
    for (const waiting of this.#waiting) {
      if (!this.#fits(waiting.weight)) return;
      this.#waiting.delete(waiting);
      this.#take(waiting.weight);
      waiting.begin();
    }
    if (this.#running === 0) for (const resolve of this.#idle.splice(0)) resolve();
  }
}
