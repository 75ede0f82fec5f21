/**
 * Which process reads an account: the real mailbox reader with its leases, over a model of the database and of mailboxes that receive mail
 * all the time. Two processes stall, are killed and started, lose answers and connections; accounts move from one to the other.
 */
import type fc from 'fast-check';
import { it } from 'vitest';
import { MailboxError, type MailboxSession } from '../../src/areas/mailboxes/mailbox-ports.ts';
import { LeaseLost, type MailboxRecords } from '../../src/areas/mailboxes/mailbox-record-ports.ts';
import type { MailboxProgress } from '../../src/core/mailbox/sync-plan.ts';
import { toUidSet, type UidSet } from '../../src/core/mailbox/uid-set.ts';
import {
  startMailboxReader,
  type MailboxReader,
  type MailboxReaderPorts,
} from '../../src/areas/mailboxes/mailbox-reader.ts';
import { silentLogger } from '../helpers/silent-logger.ts';
import { Nodes, expectModel } from './expect-model.ts';
import { World, type Process } from './world.ts';
import { runs } from '../helpers/runs.ts';

const RUNS = runs(300);
const STEPS = 300;
const MAX_HEALING_STEPS = 5_000;
const LEASE_MS = 300;
const accountsOf = (settings: string) =>
  ACCOUNTS.map((id) => ({ id, since: null, isOwn: () => false, capture: null, settings }));
const ACCOUNTS = ['one', 'two', 'three'] as const;

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

/** One account with one mailbox, and the database's record of it. */
class Account {
  readonly id: string;
  /** The UIDs of the mailbox are 1 to this number. */
  mails = 3;
  readonly recorded = new Set<number>();
  progress: MailboxProgress = NO_PROGRESS;
  lease: { readonly owner: string; until: number } | null = null;
  /** Sessions of living processes. */
  readonly sessions = new Map<MailboxSession, Process>();

  constructor(id: string) {
    this.id = id;
  }
}

class MailboxWorld {
  readonly world: World;
  readonly nodes: Nodes<Running>;
  readonly #accounts = ACCOUNTS.map((id) => new Account(id));
  /** Owner → the time until which it counts as a reader. */
  readonly #readers = new Map<string, number>();
  readonly #leaks: string[] = [];

  constructor(scheduler: fc.Scheduler, seed: number) {
    this.world = new World(scheduler, seed);
    this.nodes = new Nodes(this.world, (process, name) => this.#launch(process, name));
  }

  #launch(process: Process, name: string): Running {
    const ports = {
      records: this.#records(process) as MailboxRecords,
      source: {
        connect: (id: string, signal: AbortSignal) =>
          process.whileAlive(this.#connect(process, this.#account(id), signal)),
      },
      mayStoreFiles: () => true,
      clock: () => new Date(this.world.now),
      logger: silentLogger,
      random: () => 0.5,
    } as unknown as MailboxReaderPorts;
    const reader = startMailboxReader(ports, {
      owner: name,
      accounts: accountsOf('first'),
      leaseMs: LEASE_MS,
      pollMs: 50,
      timers: process.timers,
    });
    return { process, reader };
  }

  disturb(): void {
    const { world, nodes } = this;
    const name = nodes.pick();
    const account = world.pick(this.#accounts);
    const disturbances: readonly (() => void)[] = [
      ...nodes.disturbances(name, LEASE_MS * 2),
      () => nodes.get(name)?.reader.wake(account.id),
      // Acts as the watch of the process.
      () => nodes.get(name)?.reader.look(),
      () => nodes.get(name)?.reader.follow(accountsOf(String(world.now))),
      () => this.#drop(name, account.id),
      () => void (account.mails += 1),
      () => void (account.mails += 1),
      () =>
        nodes.terminate(
          name,
          ({ reader }) => reader.stop(),
          ({ process }) => {
            if (this.#accounts.some(({ sessions }) => [...sessions.values()].includes(process)))
              this.#leaks.push(`${name} ended with a session open`);
          },
        ),
    ];
    world.pick(disturbances)();
  }

  /** One process is no longer to read the account, and is to read it again later, by other settings. */
  #drop(name: Parameters<typeof this.nodes.get>[0], accountId: string): void {
    const node = this.nodes.get(name);
    node?.reader.follow(accountsOf('first').filter(({ id }) => id !== accountId));
    node?.process.timers.after(LEASE_MS / 2, () => node.reader.follow(accountsOf('second')));
  }

  unfinished(): string | null {
    const living = new Map<Process, number>();
    for (const { id, mails, recorded, sessions } of this.#accounts) {
      for (let uid = 1; uid <= mails; uid += 1)
        if (!recorded.has(uid)) return `${uid} of ${id} is not recorded`;
      const readers = [...sessions.values()].filter(({ alive }) => alive);
      if (readers.length !== 1) return `${readers.length} sessions are open for ${id}`;
      for (const process of readers) living.set(process, (living.get(process) ?? 0) + 1);
    }
    const shares = [...living.values()].sort();
    return shares.join(' ') === '1 2' ? null : `the accounts are spread as ${shares.join(' ')}`;
  }

  faults(): readonly string[] {
    return [...this.#leaks, ...this.#accounts.flatMap((account) => this.#faultsOf(account))];
  }

  /** Mail that the next look would no longer ask for, and superfluous sessions. */
  #faultsOf({ id, progress: { uidNext }, recorded, sessions }: Account): readonly string[] {
    const faults: string[] = [];
    for (let uid = 1; uid < (uidNext ?? 1); uid += 1)
      if (!recorded.has(uid)) faults.push(`${uid} of ${id} was passed by`);
    const counts = new Map<Process, number>();
    for (const process of sessions.values()) counts.set(process, (counts.get(process) ?? 0) + 1);
    for (const [process, count] of counts) {
      if (process.alive && count > 1) faults.push(`one process has ${count} sessions for ${id}`);
    }
    return faults;
  }

  #account(id: string): Account {
    const account = this.#accounts.find((one) => one.id === id);
    if (account === undefined) throw new Error(`there is no account ${id}`);
    return account;
  }

  #records(process: Process): Partial<MailboxRecords> {
    const { world } = this;
    const fenced = <T>(label: string, owner: string, id: string, effect: (account: Account) => T) =>
      process.call(label, () => {
        const account = this.#account(id);
        const { lease } = account;
        if (lease === null || lease.owner !== owner || lease.until <= world.now) throw new LeaseLost(id);
        return effect(account);
      });
    const free = (owner: string, accounts: readonly Account[]) => {
      for (const account of accounts) if (account.lease?.owner === owner) account.lease = null;
    };
    return {
      claim: (owner, { take, leaseMs }) =>
        process.call('claim', () => {
          const until = world.now + leaseMs;
          this.#readers.set(owner, until);
          for (const account of this.#accounts) {
            const { id, lease } = account;
            const isFree = lease === null || lease.until < world.now;
            if (lease?.owner === owner || (isFree && take.includes(id))) account.lease = { owner, until };
          }
          const others = [...this.#readers].filter(
            ([id, aliveUntil]) => id !== owner && aliveUntil >= world.now,
          );
          return {
            holders: new Map(
              this.#accounts.map(({ id, lease }) => [
                id,
                lease !== null && lease.until >= world.now ? lease.owner : null,
              ]),
            ),
            due: new Set(ACCOUNTS.filter(() => world.chance(0.2))),
            others: others.map(([id]) => ({ id, accountIds: new Set(ACCOUNTS) })),
          };
        }),
      release: (owner, ids) =>
        process.call('release', () =>
          free(
            owner,
            ids.map((id) => this.#account(id)),
          ),
        ),
      leave: (owner) =>
        process.call('leave', () => {
          this.#readers.delete(owner);
          free(owner, this.#accounts);
        }),
      noteAttempt: (owner, id) => fenced('attempt', owner, id, () => {}),
      noteAccountFailure: (owner, id) => fenced('failure', owner, id, () => {}),
      openMailboxes: (owner, id, found) =>
        fenced('mailboxes', owner, id, ({ progress }) =>
          found.map(({ path, specialUse }) => ({ id, path, specialUse, progress })),
        ),
      readUids: (id) =>
        process.call('uids', () => toUidSet([...this.#account(id).recorded].sort((a, b) => a - b))),
      recordChanges: ({ owner, accountId }, { arrived }) =>
        fenced('changes', owner, accountId, ({ mails, recorded }) => {
          for (let uid = 1; uid <= mails; uid += 1) if (has(arrived, uid)) recorded.add(uid);
        }),
      recordProgress: ({ owner, accountId }, progress) =>
        fenced('progress', owner, accountId, (account) => {
          account.progress = progress;
        }),
      nextMessages: () => process.call('next', () => []),
      concludePass: ({ owner, accountId }) =>
        fenced('pass', owner, accountId, () => ({ waiting: 0, nextTryMs: null })),
      noteMailboxFailure: ({ owner, accountId }) => fenced('mailbox failure', owner, accountId, () => {}),
    };
  }

  async #connect(process: Process, account: Account, signal: AbortSignal): Promise<MailboxSession> {
    const { sessions } = account;
    await this.world.step('a connection is made');
    if (signal.aborted || this.#fails()) throw new MailboxError('connection', 'refused');
    const session: MailboxSession = {
      canIdle: true,
      listMailboxes: () => command('list', () => [{ path: 'INBOX', specialUse: '\\Inbox' }]),
      open: () =>
        command('examine', () => ({
          uidValidity: 1,
          uidNext: account.mails + 1,
          exists: account.mails,
          highestModSeq: null,
          vanished: null,
        })),
      listUids: (first) =>
        command('search', () =>
          Array.from({ length: account.mails }, (_, index) => index + 1).filter((uid) => uid >= first),
        ),
      fetchSummaries: () => unused(),
      fetchMessages: () => unused(),
      waitForChange: async (_timeoutMs, stop) => {
        await command('idle', () => {});
        return stop.aborted ? 'stopped' : 'changed';
      },
      close: async () => {
        sessions.delete(session);
      },
    };
    const command = <T>(label: string, answer: () => T): Promise<T> =>
      process.whileAlive(
        (async () => {
          await this.world.step(label);
          if (!sessions.has(session) || this.#fails()) throw new MailboxError('connection', 'cut');
          const result = answer();
          await this.world.step(`${label} is answered`);
          return result;
        })(),
      );
    sessions.set(session, process);
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
  'misses no mail, keeps one session for an account, and spreads accounts evenly, whatever happens to leases and processes',
  () =>
    expectModel((scheduler, seed) => new MailboxWorld(scheduler, seed), {
      runs: RUNS,
      steps: STEPS,
      disturbed: 0.06,
      healingSteps: [0, MAX_HEALING_STEPS],
    }),
  60_000 + RUNS * 200,
);
