/**
 * The queue's loop, heartbeat, settling and hand-over, as they are, over a model of the database, the journal and the mail
 * server: several processes and an operator, in orders that fast-check chooses, with lost answers, late commits, full disks,
 * stalls, and kills at any step.
 *
 * `MODEL_RUNS` sets the number of runs, for long searches.
 */
import fc from 'fast-check';
import { expect, it } from 'vitest';
import type { HandOverPorts } from '../../src/app/hand-over-claim.ts';
import type { BlobStore, Transport, TransportResult } from '../../src/app/ports.ts';
import type { AttemptJournal, EndedAttempt, JournalAttempt, SendQueue } from '../../src/app/queue-ports.ts';
import type { DeliveryState } from '../../src/core/delivery/states.ts';
import { startSendQueue, type SendQueueLoop } from '../../src/worker/send-queue.ts';
import { silentLogger } from '../helpers/silent-logger.ts';
import { QueueDatabase, type ModelEmail } from './queue-database.ts';
import { Process, World } from './world.ts';

const RUNS = Number(process.env['MODEL_RUNS'] ?? 2000);
/** Steps with faults, then as many as it takes without, up to a bound that only a fault in the code reaches. */
const STEPS = 350;
const MAX_HEALING_STEPS = 6_000;
/** A few polls long, so that leases run out all the time. */
const LEASE_MS = 60;
const POLL_MS = 10;
const NODES = ['one', 'two'] as const;
const FINAL = new Set(['sent', 'failed', 'unknown', 'cancelled']);

interface JournalEntry {
  readonly attempt: JournalAttempt;
  ended: EndedAttempt | null;
}

/** What of a node outlives its process. */
type Disk = Map<string, JournalEntry>;

class QueueWorld {
  readonly world: World;
  readonly database: QueueDatabase;
  /** Email ids, as the mail server accepted them. */
  readonly accepted: string[] = [];
  readonly #disks = new Map<string, Disk>(NODES.map((name) => [name, new Map()]));
  readonly #running = new Map<string, { readonly process: Process; readonly loop: SendQueueLoop }>();

  constructor(scheduler: fc.Scheduler, seed: number) {
    this.world = new World(scheduler, seed);
    this.database = new QueueDatabase(() => this.world.now);
    for (const id of ['email-0', 'email-1']) this.database.enqueue(id);
    for (const name of NODES) this.start(name);
  }

  start(name: string): void {
    if (this.#running.has(name)) return;
    const process = new Process(this.world, name);
    const ports: HandOverPorts = {
      owner: name,
      queue: this.#queue(process),
      attempts: this.#journal(process, this.#disks.get(name)!),
      retry: { schedule: { delaysMs: [20], giveUpAfterMs: 100_000 }, random: () => 0.5 },
      clock: () => new Date(this.world.now),
      blobs: {} as BlobStore,
      spool: { create: () => ({ write: () => Promise.reject(new Error('unused')), remove: async () => {} }) },
      transportOf: () => this.#transport(process),
      logger: silentLogger,
    };
    const rate = { perMinute: null, perDay: null };
    const loop = startSendQueue(ports, {
      accounts: [{ id: 'default', slots: 2, rate }],
      leaseMs: LEASE_MS,
      pollMs: POLL_MS,
      timers: process.timers,
    });
    this.#running.set(name, { process, loop });
  }

  /** Something that happens to the world from outside. */
  disturb(): void {
    const { world } = this;
    const name = world.pick(NODES);
    const node = this.#running.get(name);
    const email = world.pick([...this.database.emails.values()]);
    const disturbances: readonly (() => void)[] = [
      () => {
        node?.process.kill();
        this.#running.delete(name);
      },
      () => this.start(name),
      () => this.start(name),
      () => node?.loop.wake(),
      () => void (world.now += LEASE_MS * 2),
      () => node?.process.suspend(LEASE_MS * 2),
      () => this.#terminate(name),
      () => this.database.enqueue(`email-${this.database.emails.size}`),
      () => this.database.enqueue(`email-${this.database.emails.size}`),
      () => this.database.cancel(email),
      () => this.database.retry(email),
      () => this.database.resolve(email, world.pick(['sent', 'failed'])),
    ];
    world.pick(disturbances)();
  }

  /** SIGTERM: the process ends when its loop has. */
  #terminate(name: string): void {
    const node = this.#running.get(name);
    void node?.loop.stop().then(() => {
      node.process.kill();
      if (this.#running.get(name) === node) this.#running.delete(name);
    });
  }

  /** What keeps this from being over; null when it is. */
  unfinished(): string | null {
    for (const { id, state, row } of this.database.emails.values()) {
      if (!FINAL.has(state)) return `${id} stays ${state}`;
      if (row !== null && state !== 'unknown') return `${id} is ${state} and in the queue`;
    }
    for (const [name, disk] of this.#disks) if (disk.size > 0) return `the journal of ${name} is not empty`;
    return null;
  }

  #queue(process: Process): SendQueue {
    const { database } = this;
    const unused = () => Promise.reject(new Error('unused'));
    return {
      dueAccounts: () => process.call('due', () => database.dueAccounts()),
      claim: ({ owner, limit, leaseMs, afterLane }) =>
        process.call('claim', () => ({
          claims: database.claim(owner, limit, leaseMs).map(({ isOpen, ...ref }) => ({
            ...ref,
            accountId: 'default',
            envelope: {
              mailFrom: 'a@example.com',
              rcptTo: isOpen ? ['b@example.com'] : [],
              envelopeId: ref.emailId,
            },
            suppressed: [],
            raw: Buffer.alloc(0),
            rawPath: null,
          })),
          lastLane: afterLane,
        })),
      renew: (owner, refs, leaseMs) => process.call('renew', () => database.renew(owner, refs, leaseMs)),
      begin: (owner, ref, leaseMs) => process.call('begin', () => database.begin(owner, ref, leaseMs)),
      release: (owner, ref, { evenBegun }) =>
        process.call('release', () => database.release(owner, ref, evenBegun)),
      claimsOf: (owner) => process.call('claims', () => database.claimsOf(owner)),
      expire: (owner) => process.call('expire', () => database.expire(owner)),
      settle: (owner, ended, decide) =>
        process.call('settle', () => {
          database.settle(owner, ended, decide);
          return [];
        }),
      giveUpOrphans: () => process.call('orphans', () => 0),
      takeRoom: unused,
    };
  }

  #journal(process: Process, disk: Disk): AttemptJournal {
    return {
      prepareAttempt: (attempt) =>
        process.write('attempt', () => void disk.set(attempt.claimId, { attempt, ended: null })),
      settleAttempt(ended) {
        const entry = disk.get(ended.claimId);
        if (entry !== undefined) entry.ended = ended;
        return { flush: () => process.write('outcome', () => {}) };
      },
      removeAttempt: ({ claimId }) => process.write('removal', () => void disk.delete(claimId)),
      hasAttempt: ({ claimId }) => disk.has(claimId),
      async *attempts() {
        for (const entry of disk.values()) yield { ...entry };
      },
    };
  }

  #transport(process: Process): Transport {
    return {
      send: (envelope, _raw, beforeFirstByte) =>
        process.whileAlive(this.#handOver(envelope.envelopeId!, beforeFirstByte)),
      verify: async () => {},
      close: async () => {},
    };
  }

  async #handOver(emailId: string, beforeFirstByte?: () => Promise<void>): Promise<TransportResult> {
    const { world } = this;
    const faulty = world.faulty;
    const draw = faulty ? world.random() : 0;
    await world.step(`${emailId}: connecting`);
    if (draw > 0.9) return resultOf('refused', true);
    await beforeFirstByte?.();
    await world.step(`${emailId}: the message is under way`);
    if (draw > 0.8) return resultOf('refused', true);
    if (draw > 0.75) return resultOf('refused', false);
    if (draw > 0.7) return resultOf('unknown', false);
    this.accepted.push(emailId);
    await world.step(`${emailId}: the reply is under way`);
    return draw > 0.65 ? resultOf('unknown', false) : resultOf('accepted', false);
  }
}

function resultOf(kind: TransportResult['kind'], temporary: boolean): TransportResult {
  const state: DeliveryState = kind === 'refused' ? (temporary ? 'deferred' : 'rejected') : kind;
  const recipients = [{ address: 'b@example.com', state, reply: null }];
  const result = { recipients, reply: null, detail: kind, relayMessageId: null };
  return kind === 'refused' ? { ...result, kind, temporary } : { ...result, kind };
}

function faultsOf(email: ModelEmail, copies: number): readonly string[] {
  const { id, state, permissions, isResolvedSent } = email;
  const faults: string[] = [];
  if (copies > 1 + permissions)
    faults.push(`${id} was accepted ${copies} times, with ${permissions} permissions`);
  if (permissions === 0 && copies > 0 && (state === 'failed' || state === 'cancelled'))
    faults.push(`${id} is ${state} and was accepted`);
  if (state === 'sent' && copies === 0 && !isResolvedSent) faults.push(`${id} is sent and was not accepted`);
  return faults;
}

it(
  'accepts no email twice, whatever the order of steps and whatever fails',
  async () => {
    const property = fc.asyncProperty(fc.scheduler(), fc.nat(), async (scheduler, seed) => {
      const queue = new QueueWorld(scheduler, seed);
      const { world, database } = queue;
      const check = () => {
        const copiesOf = (id: string) => queue.accepted.filter((accepted) => accepted === id).length;
        const faults = [...database.emails.values()].flatMap((email) => faultsOf(email, copiesOf(email.id)));
        expect(faults).toEqual([]);
      };
      for (let step = 0; step < STEPS; step += 1) {
        if (world.chance(0.06)) queue.disturb();
        await world.turn();
        if (queue.accepted.length > 1) check();
      }
      world.faulty = false;
      let steps = 0;
      for (; queue.unfinished() !== null && steps < MAX_HEALING_STEPS; steps += 1) {
        if (steps % 100 === 0) for (const name of NODES) queue.start(name);
        await world.turn();
      }
      expect(queue.unfinished()).toBe(null);
      check();
    });
    await fc.assert(property, { numRuns: RUNS, endOnFailure: true });
  },
  60_000 + RUNS * 100,
);
