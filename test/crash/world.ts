/** Everything that runs during a crash test: the service, PostgreSQL, the mail server, storage, and the lines between them. */
import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { startEmbeddedPostgres } from '../../src/connectors/embedded-postgres/server.ts';
import { startS3Server } from '../helpers/s3-server.ts';
import { TEST_SECRET } from '../helpers/service-process.ts';
import { silentLogger } from '../helpers/silent-logger.ts';
import { makeTempFolder } from '../helpers/temp-folder.ts';
import { waitUntil } from '../helpers/wait-until.ts';
import { installClaimEvents } from './claim-events.ts';
import { createClocks, type Clocks } from './clocks.ts';
import { Database } from './database.ts';
import { findByCommand } from './processes.ts';
import { createRandom, type Random } from './random.ts';
import type { Known } from './requests.ts';
import { RETRY_DELAY_MS } from './retries.ts';
import { ServiceNode } from './service-node.ts';
import { SentMailbox } from './sent-mailbox.ts';
import { SmtpCounter } from './smtp-counter.ts';
import { Starver } from './starver.ts';
import { watchPostgres, watchSmtp } from './stream-watchers.ts';
import { TcpProxy } from './tcp-proxy.ts';
import { WebhookEndpoint } from './webhook-endpoint.ts';

/**
 * `embedded`: one service with its own database server and files in its DATA_DIR.
 * `external`: two services with one database server and one S3 store, each behind a line that can break.
 * `four`: the same with four services.
 */
export type Setup = 'embedded' | 'external' | 'four';

const NODES: Readonly<Record<Setup, readonly string[]>> = {
  embedded: ['one'],
  external: ['one', 'two'],
  four: ['one', 'two', 'three', 'four'],
};

/** Short, so that a round is short; long enough for a machine that has other work to do. */
const TIMEOUTS = {
  SMTP_CONNECT_TIMEOUT_MS: '1000',
  SMTP_GREETING_TIMEOUT_MS: '1500',
  SMTP_COMMAND_TIMEOUT_MS: '1500',
  // The mail server syncs each message before its reply: with three worlds on two cores that took more than 1.5 s.
  SMTP_DATA_TIMEOUT_MS: '4000',
  DATABASE_CONNECT_TIMEOUT_MS: '1500',
  DATABASE_STATEMENT_TIMEOUT_MS: '1500',
  SEND_RETRY_DELAYS_S: String(RETRY_DELAY_MS / 1000),
  // 3.6 s: an email that is put off again and again becomes final within the round.
  SEND_GIVE_UP_HOURS: '0.001',
  // Shorter than a pause of a process, so that others take its hand-overs for lost.
  SEND_LEASE_MS: '1500',
  WORK_POLL_MS: '200',
  WEBHOOK_LEASE_MS: '1500',
  WEBHOOK_TIMEOUT_MS: '1500',
  WEBHOOK_ALLOW: '127.0.0.1',
};

/** About as long as a hand-over takes in a starved world, so that claims run out at all of its moments. */
const STARVED_LEASE_MS = 400;

const STARVED_TIMEOUTS = {
  SEND_LEASE_MS: String(STARVED_LEASE_MS),
  WORK_POLL_MS: '50',
  // A service that is stopped for a second must not treat its lines as broken each time.
  SMTP_CONNECT_TIMEOUT_MS: '3000',
  SMTP_GREETING_TIMEOUT_MS: '3000',
  SMTP_COMMAND_TIMEOUT_MS: '3000',
  SMTP_DATA_TIMEOUT_MS: '3000',
  DATABASE_CONNECT_TIMEOUT_MS: '3000',
  DATABASE_STATEMENT_TIMEOUT_MS: '3000',
};

export interface World {
  readonly setup: Setup;
  /** null where the services have the machine to themselves. */
  readonly starver: Starver | null;
  readonly folder: string;
  readonly nodes: readonly ServiceNode[];
  readonly database: Database;
  readonly smtp: SmtpCounter;
  readonly smtpLine: TcpProxy;
  /** Of the sending account; null where the services are starved, or Dovecot is not installed. */
  readonly sentMailbox: SentMailbox | null;
  readonly webhooks: WebhookEndpoint;
  /** null where libfaketime is not installed. */
  readonly clocks: Clocks | null;
  /** null where the service reaches the database without a network. */
  readonly databaseLine: TcpProxy | null;
  readonly storageLine: TcpProxy | null;
  /** Threads and Message-IDs to send to. */
  readonly known: Known[];
  /** Faults found outside of any check, such as a process that died by itself. */
  readonly deaths: string[];
  /** Ends everything; returns the processes that still run and should not. */
  stop(): Promise<readonly string[]>;
}

export interface WorldOptions {
  readonly setup: Setup;
  /** Path of the built program. */
  readonly main: string;
  /** Services hardly get to run, leases are short, lines and the mail server are slow: claims are released and lost. */
  readonly starved: boolean;
  /** Source of randomness of a starved world. */
  readonly seed: number;
}

export async function createWorld({ setup, main, starved, seed }: WorldOptions): Promise<World> {
  const temp = await makeTempFolder();
  const cleanups: (() => Promise<unknown>)[] = [() => temp.remove()];
  const deaths: string[] = [];

  const clocks = starved ? null : await createClocks(temp.path, NODES[setup]);
  cleanups.push(async () => clocks?.remove());
  // The harness starts the server of several services itself, and again after a kill.
  const pathBefore = process.env['PATH'];
  if (clocks !== null) process.env['PATH'] = clocks.path;
  cleanups.push(async () => void (process.env['PATH'] = pathBefore));
  const random = createRandom(seed);
  const starver = starved ? new Starver(seed) : null;
  cleanups.push(async () => starver?.stop());
  const smtp = new SmtpCounter(join(temp.path, 'ledger'), starved ? slowReplies(random) : [0]);
  await smtp.start();
  cleanups.push(() => smtp.kill());
  const smtpLine = new TcpProxy(watchSmtp);
  const smtpPort = await smtpLine.start();
  smtpLine.target = { host: '127.0.0.1', port: smtp.port };
  cleanups.push(() => smtpLine.stop());

  const outside =
    setup === 'embedded'
      ? null
      : await startOutside(temp.path, starved ? () => slowLine(random) : undefined, cleanups);
  const sentMailbox = starved ? null : await SentMailbox.start();
  cleanups.push(async () => sentMailbox?.stop());
  const env = {
    ...TIMEOUTS,
    ...(starved ? STARVED_TIMEOUTS : {}),
    ...outside?.env,
    ...sentMailbox?.env,
    SMTP_URL: `smtp://127.0.0.1:${smtpPort}?queue_timeout_ms=3000&idle_timeout_ms=3000`,
    MAIL_FROM: 'Firma <firma@example.com>',
  };
  const nodes: ServiceNode[] = [];
  for (const name of NODES[setup]) {
    const dataDir = join(temp.path, name);
    await mkdir(dataDir);
    const logFile = process.env['CRASH_LOG'] ?? join(temp.path, `${name}.log`);
    const onDeath = (reason: string) => void deaths.push(reason);
    const onProcess = (pid: number, event: 'began' | 'ended') =>
      event === 'began' ? starver?.add(pid) : starver?.remove(pid);
    const ownEnv = { ...env, ...clocks?.services.get(name)?.env };
    const node = new ServiceNode({ name, dataDir, main, env: ownEnv, logFile, onDeath, onProcess });
    nodes.push(node);
    cleanups.push(() => node.dispose());
    if (!(await node.start())) throw new Error(`the service does not start, see ${logFile}`);
  }

  const database = outside?.database ?? new Database(nodes[0]!.dataDir);
  await installClaimEvents(database);
  await database.logErrors();
  const webhooks = await WebhookEndpoint.start(nodes[0]!.url ?? '', createRandom(seed, 3));
  cleanups.push(() => webhooks.stop());

  return {
    setup,
    starver,
    folder: temp.path,
    nodes,
    smtp,
    smtpLine,
    sentMailbox,
    webhooks,
    clocks,
    deaths,
    database,
    databaseLine: outside?.databaseLine ?? null,
    storageLine: outside?.storageLine ?? null,
    known: [],
    async stop() {
      // First an ordered end: it takes the embedded server along.
      for (const node of nodes) await node.terminate();
      for (const cleanup of cleanups.toReversed()) await cleanup();
      return findByCommand(temp.path).map(({ pid, command }) => `${pid} ${command}`);
    },
  };
}

/** Delays in ms; some are near the length of a lease. */
function slowReplies(random: Random): readonly number[] {
  return Array.from({ length: 97 }, () =>
    random.chance(0.6) ? random.integer(0, 60) : random.integer(STARVED_LEASE_MS / 2, STARVED_LEASE_MS * 2),
  );
}

/** How long a line keeps its speed, in ms. */
const WEATHER_MS = { min: 200, max: 1_500 };
const SLOW_SHARE = 0.25;

/**
 * Delay of each piece that passes, in ms. Each line is slow for a while and quick for a while, so a later request on another line may be
 * answered earlier.
 */
function slowLine(random: Random): () => number {
  let until = 0;
  let slow = false;
  return () => {
    const now = performance.now();
    if (now > until) {
      until = now + random.integer(WEATHER_MS.min, WEATHER_MS.max);
      slow = random.chance(SLOW_SHARE);
    }
    return slow ? random.integer(10, STARVED_LEASE_MS / 2) : 0;
  };
}

async function startOutside(
  folder: string,
  createDelay: (() => () => number) | undefined,
  cleanups: (() => Promise<unknown>)[],
) {
  const dataDir = join(folder, 'server');
  const server = await startEmbeddedPostgres({ dataDir, logger: silentLogger });
  cleanups.push(() => server.stop());
  const { user, database: name } = server.connection;
  const database = new Database(dataDir);
  const databaseLine = new TcpProxy(watchPostgres, createDelay);
  const databasePort = await databaseLine.start();
  databaseLine.target = { path: (await database.socketFile()) ?? '' };
  cleanups.push(() => databaseLine.stop());

  const storage = await startS3Server();
  cleanups.push(() => storage.close());
  const storageLine = new TcpProxy(watchPostgres, createDelay);
  const storagePort = await storageLine.start();
  const endpoint = new URL(storage.url).searchParams.get('endpoint') ?? '';
  storageLine.target = { host: '127.0.0.1', port: Number(new URL(endpoint).port) };
  cleanups.push(() => storageLine.stop());

  return {
    database,
    databaseLine,
    storageLine,
    env: {
      DATABASE_URL: `postgres://${user}@127.0.0.1:${databasePort}/${name}`,
      BLOB_URL: storage.url.replace(endpoint, `http://127.0.0.1:${storagePort}`),
      AWS_ACCESS_KEY_ID: storage.credentials.accessKeyId,
      AWS_SECRET_ACCESS_KEY: storage.credentials.secretAccessKey,
    },
  };
}

/** Takes every fault back, starts everything that is down, and waits until everything answers. */
export async function healWorld(world: World, random: Random): Promise<void> {
  for (const { disk } of world.nodes) disk?.free();
  world.database.resume();
  await world.clocks?.heal();
  world.smtp.signal('SIGCONT');
  world.smtp.dropReplies(0);
  await world.smtp.start();
  world.smtpLine.target = { host: '127.0.0.1', port: world.smtp.port };
  await world.sentMailbox?.restart();
  world.sentMailbox?.line.heal(random.chance(0.5));
  for (const line of [world.smtpLine, world.databaseLine, world.storageLine]) {
    line?.heal(random.chance(0.5));
  }
  if (world.setup !== 'embedded') await world.database.waitReady();
  for (const node of world.nodes) {
    node.signal('SIGCONT');
    if (!(await node.start())) throw new Error(`${node.name} does not start in a healed world`);
  }
  await world.database.waitReady();
  for (const node of world.nodes) await untilReady(node);
  // Each looks at the clocks every 30 s, and dates by what it saw last.
  if (world.clocks !== null) for (const node of world.nodes) await compareClocks(node);
}

async function compareClocks(node: ServiceNode): Promise<void> {
  const headers = { authorization: `Bearer ${TEST_SECRET}` };
  await waitUntil(`${node.name} compares the clocks`, async () => {
    const response = await fetch(`${node.url}/api/clock`, { headers }).catch(() => null);
    await response?.body?.cancel();
    return response?.status === 200;
  });
}

/** Throws with what the node says of itself. */
async function untilReady(node: ServiceNode): Promise<void> {
  let said = 'nothing';
  const isReady = async (): Promise<boolean> => {
    if (node.url === null) return false;
    const response = await fetch(`${node.url}/api/health/ready`).catch(() => null);
    said = (await response?.text().catch(() => null)) ?? 'nothing';
    return response?.status === 200;
  };
  await waitUntil(`${node.name} is ready`, isReady).catch((cause: unknown) => {
    throw new Error(`${node.name} is not ready in a healed world: ${said}`, { cause });
  });
}
