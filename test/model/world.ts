/**
 * A world in which every step of several processes is a task of fast-check's scheduler: requests, answers, writes to the disk, bytes on a
 * line, and the passing of time. The scheduler decides their order; a seed decides which steps fail.
 *
 * A request that was sent takes effect even if its process is killed meanwhile. An answer can be lost, and an effect can come after its
 * process was told of a failure, as when a statement continues behind a broken connection.
 */
import type fc from 'fast-check';
import { ServiceError } from '../../src/core/errors.ts';
import type { Timers } from '../../src/platform/base/timers.ts';

/** From 0 (inclusive) to 1 (exclusive); the same seed gives the same numbers (mulberry32). */
export function createRandom(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

/** The number of calls out of 100 that have each fault. */
const FAULTS = { lostRequest: 3, lostAnswer: 4, late: 4, slowAnswer: 12 };
/** A slow answer takes this many more steps: enough for the other processes to do everything they have to. */
const SLOW_STEPS = 25;
const NEVER = new Promise<never>(() => {});

interface Timer {
  readonly process: Process;
  readonly at: number;
  readonly run: () => void;
}

export class World {
  readonly random: () => number;
  readonly statementTimeoutMs: number;
  /** Milliseconds; the clock of databases and servers. */
  now = 1_000_000;
  /** False while everything heals. */
  faulty = true;
  readonly #scheduler: fc.Scheduler;
  readonly #timers = new Set<Timer>();
  #isTicking = false;

  /** @param statementTimeoutMs a statement without a waiting caller is not carried out after this time; default: it always is */
  constructor(scheduler: fc.Scheduler, seed: number, statementTimeoutMs = Infinity) {
    this.statementTimeoutMs = statementTimeoutMs;
    this.#scheduler = scheduler;
    this.random = createRandom(seed);
  }

  chance(share: number): boolean {
    return this.random() < share;
  }

  pick<T>(items: readonly T[]): T {
    return items[Math.floor(this.random() * items.length)]!;
  }

  /** Waits until the scheduler chooses this step. */
  async step(label: string): Promise<void> {
    await this.#scheduler.schedule(Promise.resolve(), label);
  }

  addTimer(timer: Timer): () => void {
    this.#timers.add(timer);
    return () => void this.#timers.delete(timer);
  }

  /** Carries out one step, and everything that follows from it at once. */
  async turn(): Promise<void> {
    if (!this.#isTicking) {
      this.#isTicking = true;
      void this.step('time').then(() => this.#tick());
    }
    await this.#scheduler.waitOne();
    await new Promise((resolve) => setImmediate(resolve));
  }

  /** Advances the time to the next timer of a living process. */
  #tick(): void {
    this.#isTicking = false;
    let next: Timer | null = null;
    for (const timer of this.#timers) {
      if (!timer.process.alive) this.#timers.delete(timer);
      else if (next === null || timer.at < next.at) next = timer;
    }
    if (next === null) {
      this.now += 1;
      return;
    }
    this.#timers.delete(next);
    this.now = Math.max(this.now, next.at);
    next.run();
  }
}

/** One process: it can be killed or stall, and its clock may stand still while the world's goes on, as in a virtual machine. */
export class Process {
  alive = true;
  readonly timers: Timers;
  readonly #world: World;
  readonly #name: string;
  #clockBehindMs = 0;

  constructor(world: World, name: string) {
    this.#world = world;
    this.#name = name;
    this.timers = {
      now: () => world.now - this.#clockBehindMs,
      after: (delayMs, run) => world.addTimer({ process: this, at: world.now + delayMs, run }),
    };
  }

  kill(): void {
    this.alive = false;
  }

  /** Time passes that the process does not notice. */
  suspend(ms: number): void {
    this.#world.now += ms;
    this.#clockBehindMs += ms;
  }

  /** Never resolves once the process is dead: its code does not continue. */
  async whileAlive<T>(result: Promise<T>): Promise<T> {
    const settled = await result.then(
      (value) => () => value,
      (error: unknown) => () => {
        throw error;
      },
    );
    return this.alive ? settled() : NEVER;
  }

  /** A call to the database. */
  call<T>(label: string, effect: () => T): Promise<T> {
    return this.whileAlive(this.#call(`${this.#name}: ${label}`, effect));
  }

  async #call<T>(label: string, effect: () => T): Promise<T> {
    const world = this.#world;
    const draw = world.faulty ? world.random() * 100 : 100;
    const askedAt = world.now;
    await world.step(`${label} is asked`);
    if (draw < FAULTS.lostRequest) throw new ServiceError('database_unavailable');
    if (draw < FAULTS.lostRequest + FAULTS.late) {
      const happen = () => {
        if (world.now - askedAt < world.statementTimeoutMs) effect();
      };
      // No caller gets the database's answer to it.
      void world
        .step(`${label} happens late`)
        .then(happen)
        .catch(() => {});
      throw new ServiceError('database_unavailable');
    }
    const result = effect();
    await world.step(`${label} is answered`);
    const isSlow = world.faulty && world.random() * 100 < FAULTS.slowAnswer;
    for (let step = isSlow ? SLOW_STEPS : 0; step > 0; step -= 1) await world.step(`${label} takes its time`);
    if (draw < FAULTS.lostRequest + FAULTS.late + FAULTS.lostAnswer)
      throw new ServiceError('database_unavailable');
    return result;
  }

  /** A write to the disk of this process, which is durable when it happens. */
  async write(label: string, effect: () => void): Promise<void> {
    await this.whileAlive(this.#write(`${this.#name}: ${label}`, effect));
  }

  async #write(label: string, effect: () => void): Promise<void> {
    const world = this.#world;
    const isFull = world.faulty && world.chance(0.02);
    await world.step(`${label} is written`);
    if (isFull) throw new ServiceError('disk_full');
    // Unlike a request that was sent to a server, it ends with the process.
    if (!this.alive) return;
    effect();
    await world.step(`${label} is safe`);
  }
}
