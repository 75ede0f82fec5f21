/**
 * Which process reads an account: the real reader of mailboxes with its leases, over a model of the database and of one mailbox to
 * which mail comes all the time. Two processes stall, are killed and started, lose answers and connections.
 */
import type fc from 'fast-check';
import { it } from 'vitest';
import { MailboxError, type MailboxSession } from '../../src/app/mailboxes/mailbox-ports.ts';
import { LeaseLost, type MailboxRecords } from '../../src/app/mailboxes/mailbox-record-ports.ts';
import type { MailboxProgress } from '../../src/core/mailbox/sync-plan.ts';
import { toUidSet, type UidSet } from '../../src/core/mailbox/uid-set.ts';
import {
  startMailboxReader,
  type MailboxReader,
  type MailboxReaderPorts,
} from '../../src/worker/mailbox-reader.ts';
import { silentLogger } from '../helpers/silent-logger.ts';
import { Nodes, expectModel } from './expect-model.ts';
import { World, type Process } from './world.ts';
import { runs } from '../helpers/runs.ts';

const RUNS = runs(300);
const STEPS = 300;
const MAX_HEALING_STEPS = 5_000;
const LEASE_MS = 300;
const ACCOUNT = 'default';

interface Running {
  readonly process: Process;
  readonly reader: MailboxReader;
}

const NO_PROGRESS: MailboxProgress = {
  uidValidity: null,
  uidNext: null,
  exists: 0,
  highestModSeq: null,
  since: null,
};

class MailboxWorld {
  readonly world: World;
  readonly nodes: Nodes<Running>;
  /** UIDs of the mailbox are 1 to this. */
  mails = 3;
  readonly recorded = new Set<number>();
  progress: MailboxProgress = NO_PROGRESS;
  lease: { readonly owner: string; until: number } | null = null;
  /** Sessions of processes that live. */
  readonly #sessions = new Map<MailboxSession, Process>();
  readonly #leaks: string[] = [];

  constructor(scheduler: fc.Scheduler, seed: number) {
    this.world = new World(scheduler, seed);
    this.nodes = new Nodes(this.world, (process, name) => this.#launch(process, name));
  }

  #launch(process: Process, name: string): Running {
    const ports = {
      records: this.#records(process) as MailboxRecords,
      source: {
        connect: (_id: string, signal: AbortSignal) => process.whileAlive(this.#connect(process, signal)),
      },
      clock: () => new Date(this.world.now),
      logger: silentLogger,
      random: () => 0.5,
    } as unknown as MailboxReaderPorts;
    const reader = startMailboxReader(ports, {
      owner: name,
      accounts: [{ id: ACCOUNT, since: null }],
      leaseMs: LEASE_MS,
      pollMs: 50,
      timers: process.timers,
    });
    return { process, reader };
  }

  disturb(): void {
    const { world, nodes } = this;
    const name = nodes.pick();
    const disturbances: readonly (() => void)[] = [
      ...nodes.disturbances(name, LEASE_MS * 2),
      () => nodes.get(name)?.reader.wake(ACCOUNT),
      () => void (this.mails += 1),
      () => void (this.mails += 1),
      () =>
        nodes.terminate(
          name,
          ({ reader }) => reader.stop(),
          ({ process }) => {
            if ([...this.#sessions.values()].includes(process))
              this.#leaks.push(`${name} ended with a session open`);
          },
        ),
    ];
    world.pick(disturbances)();
  }

  unfinished(): string | null {
    for (let uid = 1; uid <= this.mails; uid += 1)
      if (!this.recorded.has(uid)) return `${uid} is not recorded`;
    const living = [...this.#sessions.values()].filter(({ alive }) => alive);
    return living.length > 1 ? `${living.length} sessions are open` : null;
  }

  /** Mail that the next look would not ask for any more. */
  faults(): readonly string[] {
    const { uidNext } = this.progress;
    const faults = [...this.#leaks];
    for (let uid = 1; uid < (uidNext ?? 1); uid += 1)
      if (!this.recorded.has(uid)) faults.push(`${uid} was passed by`);
    const sessions = new Map<Process, number>();
    for (const process of this.#sessions.values()) sessions.set(process, (sessions.get(process) ?? 0) + 1);
    for (const [process, count] of sessions) {
      if (process.alive && count > 1) faults.push(`one process has ${count} sessions for one account`);
    }
    return faults;
  }

  #records(process: Process): Partial<MailboxRecords> {
    const fenced = <T>(label: string, owner: string, effect: () => T) =>
      process.call(label, () => {
        const { lease, world } = this;
        if (lease === null || lease.owner !== owner || lease.until <= world.now) throw new LeaseLost(ACCOUNT);
        return effect();
      });
    return {
      claim: (owner, _ids, leaseMs) =>
        process.call('claim', () => {
          const { lease, world } = this;
          if (lease !== null && lease.owner !== owner && lease.until >= world.now) return new Map();
          this.lease = { owner, until: world.now + leaseMs };
          return new Map([[ACCOUNT, { due: world.chance(0.2) }]]);
        }),
      release: (owner) =>
        process.call('release', () => {
          if (this.lease?.owner === owner) this.lease = null;
        }),
      noteAttempt: (owner) => fenced('attempt', owner, () => {}),
      noteAccountFailure: (owner) => fenced('failure', owner, () => {}),
      openMailboxes: (owner, _id, found) =>
        fenced('mailboxes', owner, () =>
          found.map(({ path, specialUse }) => ({ id: path, path, specialUse, progress: this.progress })),
        ),
      readUids: () => process.call('uids', () => toUidSet([...this.recorded].sort((a, b) => a - b))),
      recordChanges: ({ owner }, { arrived }) =>
        fenced('changes', owner, () => {
          for (let uid = 1; uid <= this.mails; uid += 1) if (has(arrived, uid)) this.recorded.add(uid);
        }),
      recordProgress: ({ owner }, progress) =>
        fenced('progress', owner, () => {
          this.progress = progress;
        }),
      nextMessages: () => process.call('next', () => []),
      concludePass: ({ owner }) => fenced('pass', owner, () => ({ waiting: 0, nextTryMs: null })),
      noteMailboxFailure: ({ owner }) => fenced('mailbox failure', owner, () => {}),
    };
  }

  async #connect(process: Process, signal: AbortSignal): Promise<MailboxSession> {
    await this.world.step('a connection is made');
    if (signal.aborted || this.#fails()) throw new MailboxError('connection', 'refused');
    const session: MailboxSession = {
      canIdle: true,
      listMailboxes: () => command('list', () => [{ path: 'INBOX', specialUse: '\\Inbox' }]),
      open: () =>
        command('examine', () => ({
          uidValidity: 1,
          uidNext: this.mails + 1,
          exists: this.mails,
          highestModSeq: null,
          vanished: null,
        })),
      listUids: (first) =>
        command('search', () =>
          Array.from({ length: this.mails }, (_, index) => index + 1).filter((uid) => uid >= first),
        ),
      fetchSummaries: () => unused(),
      fetchMessages: () => unused(),
      waitForChange: async (_timeoutMs, stop) => {
        await command('idle', () => {});
        return stop.aborted ? 'stopped' : 'changed';
      },
      close: async () => {
        this.#sessions.delete(session);
      },
    };
    const command = <T>(label: string, answer: () => T): Promise<T> =>
      process.whileAlive(
        (async () => {
          await this.world.step(label);
          if (!this.#sessions.has(session) || this.#fails()) throw new MailboxError('connection', 'cut');
          const result = answer();
          await this.world.step(`${label} is answered`);
          return result;
        })(),
      );
    this.#sessions.set(session, process);
    return session;
  }

  #fails(): boolean {
    return this.world.faulty && this.world.chance(0.05);
  }
}

function has(uids: UidSet, uid: number): boolean {
  return uids.some(({ first, last }) => first <= uid && uid <= last);
}

function unused(): never {
  throw new Error('unused');
}

it(
  'misses no mail and keeps one session for an account, whatever happens to leases and processes',
  () =>
    expectModel((scheduler, seed) => new MailboxWorld(scheduler, seed), {
      runs: RUNS,
      steps: STEPS,
      disturbed: 0.06,
      healingSteps: [0, MAX_HEALING_STEPS],
    }),
  60_000 + RUNS * 200,
);
