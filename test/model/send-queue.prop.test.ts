/**
 * The real loop, heartbeat, settling and hand-over of the queue, over a model of the database, the journal and the mail server: several
 * processes and an operator, in orders that fast-check chooses, with lost answers, late commits, full disks, stalls, and kills at any step.
 */
import type fc from 'fast-check';
import { it } from 'vitest';
import { createHeldClaims } from '../../src/areas/send/held-claims.ts';
import { createSettling } from '../../src/areas/send/settling.ts';
import type { BlobStore } from '../../src/platform/files/file-ports.ts';
import type { Transport, TransportResult } from '../../src/areas/send/transport-ports.ts';
import type { JournalEntry } from '../../src/areas/send/journal-ports.ts';
import type { SendQueue } from '../../src/areas/send/queue-ports.ts';
import {
  startSendQueue,
  type SendQueueLoop,
  type SendQueuePorts,
} from '../../src/areas/send/send-queue-loop.ts';
import { createMemoryJournal } from '../helpers/memory-journal.ts';
import { silentLogger } from '../helpers/silent-logger.ts';
import { QueueDatabase, type ModelEmail } from './queue-database.ts';
import { createDisks, Nodes, resultOf, expectModel } from './expect-model.ts';
import { World, type Process } from './world.ts';
import { runs } from '../helpers/runs.ts';

const RUNS = runs(2000);
const STEPS = 350;
const MAX_HEALING_STEPS = 6_000;
/** A few polls long, so that leases run out all the time. */
const LEASE_MS = 60;
const POLL_MS = 10;
const ACCOUNT = { id: 'default', slots: 2, rate: { perMinute: null, perDay: null } };
const FINAL = new Set(['sent', 'failed', 'unknown', 'cancelled']);

interface Node {
  readonly process: Process;
  readonly loop: SendQueueLoop;
}

class QueueWorld {
  readonly world: World;
  readonly nodes: Nodes<Node>;
  readonly database: QueueDatabase;
  /** Email ids in the order in which the mail server accepted them. */
  readonly accepted: string[] = [];
  readonly #disks = createDisks<JournalEntry>();

  constructor(scheduler: fc.Scheduler, seed: number) {
    this.world = new World(scheduler, seed);
    this.database = new QueueDatabase(() => this.world.now);
    for (const id of ['email-0', 'email-1']) this.database.enqueue(id);
    this.nodes = new Nodes(this.world, (process, name) => this.#launch(process, name));
  }

  #launch(process: Process, name: 'one' | 'two'): Node {
    const ports: SendQueuePorts = {
      queue: this.#queue(process),
      journal: createMemoryJournal(name, this.#disks.get(name)!, (label, effect) =>
        process.write(label, effect),
      ),
      held: createHeldClaims(),
      settling: createSettling(),
      store: { recordOutbound: () => Promise.reject(new Error('unused')) },
      compareCopies: async () => {},
      retry: { schedule: { delaysMs: [20], giveUpAfterMs: 100_000 }, random: () => 0.5 },
      clock: () => new Date(this.world.now),
      blobs: {} as BlobStore,
      mayReadFiles: () => true,
      spool: {
        create: () => ({
          write: () => Promise.reject(new Error('unused')),
          adopt: () => Promise.reject(new Error('unused')),
          remove: async () => {},
        }),
      },
      transportOf: () => this.#transport(process),
      logger: silentLogger,
    };
    const loop = startSendQueue(ports, {
      accounts: [ACCOUNT],
      leaseMs: LEASE_MS,
      pollMs: POLL_MS,
      timers: process.timers,
    });
    return { process, loop };
  }

  disturb(): void {
    const { world, nodes, database } = this;
    const name = nodes.pick();
    const email = world.pick([...database.emails.values()]);
    const disturbances: readonly (() => void)[] = [
      ...nodes.disturbances(name, LEASE_MS * 2),
      () => nodes.get(name)?.loop.wake(),
      () => nodes.terminate(name, ({ loop }) => loop.stop()),
      () => database.enqueue(`email-${database.emails.size}`),
      () => database.enqueue(`email-${database.emails.size}`),
      () => database.cancel(email),
      () => database.retry(email),
      () => database.resolve(email, world.pick(['sent', 'failed'])),
      () => this.#pause(name),
    ];
    world.pick(disturbances)();
  }

  /** The account is paused at one process, and resumed there later. */
  #pause(name: Parameters<typeof this.nodes.get>[0]): void {
    const node = this.nodes.get(name);
    node?.loop.follow([]);
    node?.process.timers.after(LEASE_MS / 2, () => node.loop.follow([ACCOUNT]));
  }

  faults(): readonly string[] {
    return [...this.database.emails.values()].flatMap((email) =>
      faultsOf(email, this.accepted.filter((accepted) => accepted === email.id).length),
    );
  }

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
              rcptTo: isOpen ? ['ann@example.org'] : [],
              envelopeId: ref.emailId,
            },
            suppressed: [],
            raw: Buffer.alloc(0),
            rawPath: null,
            rawSizeBytes: 1,
          })),
          lastLane: afterLane,
          waitMs: 0,
        })),
      renew: (owner, refs, leaseMs) => process.call('renew', () => database.renew(owner, refs, leaseMs)),
      begin: (owner, ref, leaseMs) => process.call('begin', () => database.begin(owner, ref, leaseMs)),
      showSending: (owner, refs) => process.call('show', () => database.showSending(owner, refs)),
      release: (owner, ref, { evenBegun }) =>
        process.call('release', () => database.release(owner, ref, evenBegun)),
      claimsOf: (owner) => process.call('claims', () => database.claimsOf(owner)),
      expire: (owner) => process.call('expire', () => database.expire(owner)),
      settle: (owner, ended, decide) =>
        process.call('settle', () => {
          database.settle(owner, ended, decide);
          return { cameBack: false, orphans: [] };
        }),
      giveUpOrphans: () => process.call('orphans', () => 0),
      takeRoom: unused,
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
  () =>
    expectModel((scheduler, seed) => new QueueWorld(scheduler, seed), {
      runs: RUNS,
      steps: STEPS,
      disturbed: 0.06,
      healingSteps: [0, MAX_HEALING_STEPS],
    }),
  60_000 + RUNS * 100,
);
