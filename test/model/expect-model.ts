/** Runs the models: processes are started and killed, first in steps with faults, then in steps without, until all is done. */
import fc from 'fast-check';
import { expect } from 'vitest';
import type { TransportResult } from '../../src/areas/send/transport-ports.ts';
import type { DeliveryState } from '../../src/core/delivery/states.ts';
import { Process, type World } from './world.ts';

const NODES = ['one', 'two'] as const;
type NodeName = (typeof NODES)[number];

/** Two processes. Each is started again after it has ended. */
export class Nodes<Node extends { readonly process: Process }> {
  readonly #world: World;
  readonly #launch: (process: Process, name: NodeName) => Node;
  readonly #running = new Map<NodeName, Node>();

  constructor(world: World, launch: (process: Process, name: NodeName) => Node) {
    this.#world = world;
    this.#launch = launch;
    this.startAll();
  }

  startAll(): void {
    for (const name of NODES) this.start(name);
  }

  start(name: NodeName): void {
    if (this.#running.has(name)) return;
    this.#running.set(name, this.#launch(new Process(this.#world, name), name));
  }

  get(name: NodeName): Node | undefined {
    return this.#running.get(name);
  }

  pick(): NodeName {
    return this.#world.pick(NODES);
  }

  kill(name: NodeName): void {
    this.#running.get(name)?.process.kill();
    this.#running.delete(name);
  }

  /** SIGTERM: the process ends once `stop` is done; `beforeEnd` looks at it just before. */
  terminate(name: NodeName, stop: (node: Node) => Promise<void>, beforeEnd?: (node: Node) => void): void {
    const node = this.#running.get(name);
    if (node === undefined) return;
    void stop(node).then(() => {
      beforeEnd?.(node);
      node.process.kill();
      if (this.#running.get(name) === node) this.#running.delete(name);
    });
  }

  /** Disturbances that every model has: a process is killed, is started (twice as often), or stalls. */
  disturbances(name: NodeName, stallMs: number): readonly (() => void)[] {
    return [
      () => this.kill(name),
      () => this.start(name),
      () => this.start(name),
      () => void (this.#world.now += stallMs),
      () => this.get(name)?.process.suspend(stallMs),
    ];
  }
}

/** The disk contents of each node, which outlive its processes. */
export function createDisks<T>(): ReadonlyMap<NodeName, Map<string, T>> {
  return new Map(NODES.map((name) => [name, new Map<string, T>()]));
}

export interface Model {
  readonly world: World;
  readonly nodes: { startAll(): void };
  /** Makes something happen to the world from outside. */
  disturb(): void;
  /** Violations of what must hold at every step. */
  faults(): readonly string[];
  /** The reason why the run is not over yet; null when it is. */
  unfinished(): string | null;
  /** Losses found at the end. */
  losses?(): readonly string[];
}

export interface ModelOptions {
  readonly runs: number;
  /** Number of steps with faults. */
  readonly steps: number;
  /** Share of the steps at which something happens from outside. */
  readonly disturbed: number;
  /** Steps without faults: the minimum, and a maximum that only a fault in the code reaches. */
  readonly healingSteps: readonly [least: number, most: number];
}

/** Runs the model in orders that fast-check chooses. */
export async function expectModel(
  create: (scheduler: fc.Scheduler, seed: number) => Model,
  { runs, steps, disturbed, healingSteps: [least, most] }: ModelOptions,
): Promise<void> {
  const property = fc.asyncProperty(fc.scheduler(), fc.nat(), async (scheduler, seed) => {
    const model = create(scheduler, seed);
    const { world } = model;
    for (let step = 0; step < steps; step += 1) {
      if (world.chance(disturbed)) model.disturb();
      await world.turn();
      expect(model.faults()).toEqual([]);
    }
    world.faulty = false;
    for (let step = 0; step < most && (step < least || model.unfinished() !== null); step += 1) {
      if (step % 100 === 0) model.nodes.startAll();
      await world.turn();
    }
    expect(model.unfinished()).toBe(null);
    expect([...model.faults(), ...(model.losses?.() ?? [])]).toEqual([]);
  });
  await fc.assert(property, { numRuns: runs, endOnFailure: true });
}

/** A transport's result for one recipient; `temporary` applies to a refusal. */
export function resultOf(kind: TransportResult['kind'], temporary: boolean): TransportResult {
  const refused = temporary ? 'deferred' : 'rejected';
  const state: DeliveryState = kind === 'refused' ? refused : kind;
  const recipients = [{ address: 'ann@example.org', state, reply: null }];
  const result = { recipients, reply: null, detail: kind, relayMessageId: null };
  return kind === 'refused' ? { ...result, kind, temporary } : { ...result, kind };
}
