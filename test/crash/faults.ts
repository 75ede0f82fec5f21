/** The faults that a world can suffer. Each fault is over, or left for `healWorld`, when its promise resolves. */
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { JUMPS, pickJump } from './clocks.ts';
import { findByCommand } from './processes.ts';
import type { Random } from './random.ts';
import { SHUTDOWN_TIMEOUT_MS, type ServiceNode } from './service-node.ts';
import type { LinkFault, TcpProxy } from './tcp-proxy.ts';
import type { World } from './world.ts';

export interface Fault {
  readonly name: string;
  /** May leave an email whose outcome can't be known. */
  readonly unknowable: boolean;
  /** Acceptances long before the fault have left their evidence, so it makes only those of the last moment unknowable. */
  readonly sudden: boolean;
  possible(world: World): boolean;
  /** Returns a description of each problem found. */
  run(world: World, random: Random): Promise<readonly string[]>;
}

const NOTHING: readonly string[] = [];
const always = () => true;

/** Share of restarts that come at once; the others wait until everything is healed. */
const RESTART_AT_ONCE = 0.6;
/** Beyond the time for requests: the loops, connections and an embedded server have to end too. */
const SHUTDOWN_MARGIN_MS = 6_000;
/** The same margin for a service that hardly gets to run. */
const STARVED_MARGIN_MS = 30_000;

const onNode =
  (run: (node: ServiceNode, random: Random, world: World) => Promise<readonly string[]>): Fault['run'] =>
  async (world, random) => {
    const running = world.nodes.filter((node) => node.url !== null);
    return running.length === 0 ? NOTHING : run(random.pick(running), random, world);
  };

/** While the database is away the service may refuse to start; `healWorld` then starts it. */
const restart = (node: ServiceNode): Promise<boolean> => node.start();

const serviceFaults: readonly Fault[] = [
  {
    name: 'service: kill -9',
    unknowable: true,
    sudden: true,
    possible: always,
    run: onNode(async (node, random) => {
      await node.kill();
      if (random.chance(RESTART_AT_ONCE)) await restart(node);
      return NOTHING;
    }),
  },
  {
    name: 'service: kill -9 while it starts',
    unknowable: true,
    sudden: true,
    possible: always,
    run: onNode(async (node, random) => {
      await node.kill();
      for (let time = random.integer(1, 2); time > 0; time -= 1) {
        const started = node.start();
        await Promise.race([started, sleep(random.integer(50, 900))]);
        await node.kill();
        await started;
      }
      await restart(node);
      return NOTHING;
    }),
  },
  {
    name: 'service: SIGTERM',
    unknowable: true,
    sudden: false,
    possible: always,
    run: onNode(async (node, _random, world) => {
      const exit = await node.terminate();
      const found: string[] = [];
      if (exit !== null && exit.code !== 0 && !exit.killed) {
        found.push(`I6 ${node.name} ended with code ${exit.code}, signal ${exit.signal} after SIGTERM`);
      }
      const marginMs = world.starver === null ? SHUTDOWN_MARGIN_MS : STARVED_MARGIN_MS;
      if (exit !== null && exit.tookMs > SHUTDOWN_TIMEOUT_MS + marginMs) {
        found.push(`I6 ${node.name} took ${Math.round(exit.tookMs)} ms to end after SIGTERM`);
      }
      await restart(node);
      return found;
    }),
  },
  {
    name: 'service: SIGTERM while it starts',
    unknowable: true,
    sudden: true,
    possible: always,
    run: onNode(async (node, random, world) => {
      await node.kill();
      const started = node.start();
      await Promise.race([started, sleep(random.integer(50, 2_500))]);
      const exit = await node.terminate();
      await started;
      const found: string[] = [];
      // Before Node.js has read the program, the signal itself ends the process.
      if (exit !== null && exit.signal !== 'SIGTERM' && !exit.killed) {
        if (exit.code !== 0)
          found.push(`I6 ${node.name} ended with code ${exit.code} after SIGTERM in its start`);
        // Another fault may have started the node again already, with its server.
        const isLooked = world.setup === 'embedded' && !node.alive;
        const left = isLooked ? findByCommand(join(node.dataDir, 'postgres')) : [];
        for (const { command } of left) found.push(`I7 left running: ${command}`);
      }
      await restart(node);
      return found;
    }),
  },
  {
    name: 'service: pause',
    unknowable: true,
    sudden: false,
    possible: always,
    run: onNode(async (node, random) => {
      node.signal('SIGSTOP');
      await sleep(random.integer(100, 2_000));
      node.signal('SIGCONT');
      return NOTHING;
    }),
  },
  {
    name: 'disk: full',
    unknowable: false,
    sudden: false,
    possible: (world) => world.nodes.every(({ disk }) => disk !== null),
    run: onNode(async (node, random) => {
      node.disk?.fill(random.chance(0.5) ? 0 : random.integer(0, 600_000));
      await sleep(random.integer(200, 1_200));
      if (random.chance(0.5)) node.disk?.free();
      return NOTHING;
    }),
  },
];

const serverFaults: readonly Fault[] = [
  {
    name: 'database: kill -9 of the server',
    unknowable: false,
    sudden: false,
    possible: always,
    run: async (world) => {
      await world.database.killPostmaster();
      return NOTHING;
    },
  },
  {
    name: 'database: kill -9 of a backend',
    unknowable: false,
    sudden: false,
    possible: always,
    run: async (world, random) => {
      await world.database.killBackend(random);
      return NOTHING;
    },
  },
  {
    name: 'database: pause',
    unknowable: false,
    sudden: false,
    possible: always,
    run: async (world, random) => {
      await world.database.pause();
      await sleep(random.integer(100, 2_500));
      world.database.resume();
      return NOTHING;
    },
  },
  {
    name: 'mail server: kill -9',
    unknowable: true,
    sudden: false,
    possible: always,
    run: async (world, random) => {
      await world.smtp.kill();
      world.smtpLine.target = null;
      if (!random.chance(RESTART_AT_ONCE)) return NOTHING;
      await world.smtp.start();
      world.smtpLine.target = { host: '127.0.0.1', port: world.smtp.port };
      return NOTHING;
    },
  },
  {
    name: 'mail server: pause',
    unknowable: true,
    sudden: false,
    possible: always,
    run: async (world, random) => {
      world.smtp.signal('SIGSTOP');
      await sleep(random.integer(100, 2_500));
      world.smtp.signal('SIGCONT');
      return NOTHING;
    },
  },
  {
    name: 'mail server: accepts and resets',
    unknowable: true,
    sudden: false,
    possible: (world) => world.smtp.running,
    run: async (world, random) => {
      if (world.smtp.running) world.smtp.dropReplies(random.integer(1, 5));
      return NOTHING;
    },
  },
];

const mailboxFaults: readonly Fault[] = [
  {
    name: 'mailbox server: kill -9',
    unknowable: false,
    sudden: false,
    possible: ({ sentMailbox }) => sentMailbox !== null,
    run: async (world, random) => {
      await world.sentMailbox?.kill();
      if (random.chance(RESTART_AT_ONCE)) await world.sentMailbox?.restart();
      return NOTHING;
    },
  },
];

type Size = keyof typeof JUMPS;
const SIZES = Object.keys(JUMPS) as readonly Size[];

/** Share of clocks that are right again within the round; the others are when everything is healed. */
const CORRECTED_SHARE = 0.5;

/** A clock that is set wrongly loses, doubles and forgets nothing, and no outcome. */
const jump = (name: string, possible: Fault['possible'], shift: ShiftClock): Fault => ({
  name,
  unknowable: false,
  sudden: false,
  possible,
  run: async (world, random) => {
    const set = shift(world, random);
    await set('jump');
    await sleep(random.integer(100, 1_500));
    if (random.chance(CORRECTED_SHARE)) await set('back');
    return NOTHING;
  },
});

/** Returns what sets the clock. */
type ShiftClock = (world: World, random: Random) => (what: 'jump' | 'back') => Promise<void>;

const clockFaults: readonly Fault[] = SIZES.flatMap((size): readonly Fault[] => [
  jump(
    `clock of a service: ${size}`,
    ({ clocks }) => clocks !== null,
    (world, random) => {
      const clock = world.clocks?.services.get(random.pick(world.nodes).name);
      const ms = pickJump(random, size);
      return async (what) => clock?.shift(what === 'jump' ? ms : 0);
    },
  ),
  jump(
    `clock of the database: ${size}`,
    ({ clocks }) => clocks !== null && clocks.database !== null,
    (world, random) => {
      const ms = pickJump(random, size);
      // A server beside its service has its clock.
      const beside = world.setup === 'embedded' ? [...(world.clocks?.services.values() ?? [])] : [];
      return async (what) => {
        for (const clock of [world.clocks?.database, ...beside]) await clock?.shift(what === 'jump' ? ms : 0);
      };
    },
  ),
]);

/** Its moments were computed by a time that is gone. */
export const movesDatabaseClock = ({ name }: Pick<Fault, 'name'>): boolean =>
  name.startsWith('clock of the database');

/** As when the machine loses its power, except for the contents of the page cache. */
const everything: Fault = {
  name: 'everything: kill -9 at once',
  unknowable: true,
  sudden: false,
  possible: always,
  run: async (world) => {
    world.smtpLine.target = null;
    await Promise.all([
      world.database.killPostmaster(),
      world.smtp.kill(),
      world.sentMailbox?.kill(),
      ...world.nodes.map((node) => node.kill()),
    ]);
    return NOTHING;
  },
};

const SMTP_MOMENTS = ['before', 'in', 'end', 'reply'] as const;
const DATABASE_MOMENTS = ['query', 'reply'] as const;
const IMAP_MOMENTS = ['before', 'in', 'reply', 'query'] as const;
const ACTIONS = ['cut', 'silence'] as const;

type FindLine = (world: World) => TcpProxy | null;

const armed = (
  title: string,
  find: FindLine,
  moment: LinkFault['moment'],
  action: LinkFault['action'],
): Fault => ({
  name: `${title}: ${action} at ${moment}`,
  unknowable: title === 'mail line',
  sudden: false,
  possible: (world) => find(world) !== null,
  run: async (world, random) => {
    for (let count = random.integer(1, 3); count > 0; count -= 1) {
      find(world)?.arm({ moment, action, skip: random.integer(0, 10) });
    }
    return NOTHING;
  },
});

const wholeLine = (title: string, find: FindLine): readonly Fault[] =>
  (
    [
      ['cut', (line) => line.cut()],
      ['refused', (line) => line.refuse()],
      ['stalled', (line) => line.stall()],
      ['silent', (line) => line.silence()],
    ] as const satisfies readonly (readonly [string, (line: TcpProxy) => void])[]
  ).map(([what, begin]): Fault => ({
    name: `${title}: ${what}`,
    unknowable: title === 'mail line',
    sudden: false,
    possible: (world) => find(world) !== null,
    run: async (world, random) => {
      const line = find(world);
      if (line === null) return NOTHING;
      begin(line);
      if (what === 'cut') return NOTHING;
      await sleep(random.integer(100, 2_500));
      line.heal();
      return NOTHING;
    },
  }));

const smtpLine: FindLine = (world) => world.smtpLine;
const databaseLine: FindLine = (world) => world.databaseLine;
const storageLine: FindLine = (world) => world.storageLine;
const imapLine: FindLine = (world) => world.sentMailbox?.line ?? null;

/** Faults that begin and end processes: these overlap when a round has several of them. */
export const LIFE_FAULTS: readonly Fault[] = [
  ...serviceFaults.filter(({ name }) => name.startsWith('service: ')),
  everything,
];

export const FAULTS: readonly Fault[] = [
  ...serviceFaults,
  // The most important faults come twice as often.
  serviceFaults[0]!,
  ...serverFaults,
  ...mailboxFaults,
  everything,
  // So that every few rounds have one.
  ...clockFaults,
  ...clockFaults,
  ...SMTP_MOMENTS.flatMap((moment) => ACTIONS.map((action) => armed('mail line', smtpLine, moment, action))),
  ...wholeLine('mail line', smtpLine),
  ...DATABASE_MOMENTS.flatMap((moment) =>
    ACTIONS.map((action) => armed('database line', databaseLine, moment, action)),
  ),
  ...wholeLine('database line', databaseLine),
  ...DATABASE_MOMENTS.flatMap((moment) =>
    ACTIONS.map((action) => armed('storage line', storageLine, moment, action)),
  ),
  ...wholeLine('storage line', storageLine),
  ...IMAP_MOMENTS.flatMap((moment) => ACTIONS.map((action) => armed('imap line', imapLine, moment, action))),
  ...wholeLine('imap line', imapLine),
];
