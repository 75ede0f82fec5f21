/** The PostgreSQL server of a world, from outside: its processes, and queries that bypass every proxy. */
import { existsSync, readFileSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { Client } from 'pg';
import { isAway } from '../../src/platform/db/pool.ts';
import { DATABASE, USER } from '../../src/connectors/embedded-postgres/settings.ts';
import { readPidFile } from '../../src/connectors/embedded-postgres/postmaster.ts';
import { SOCKET_PORT, socketPath } from '../../src/connectors/embedded-postgres/socket-folder.ts';
import { query } from '../helpers/query.ts';
import { waitUntil } from '../helpers/wait-until.ts';
import { listChildren, sendSignal } from './processes.ts';
import type { Random } from './random.ts';

const READY_TIMEOUT_MS = 60_000;
const PAUSE_MS = 50;

class NoServerError extends Error {
  constructor() {
    super('there is no PostgreSQL server');
    this.name = 'NoServerError';
  }
}

const FAR = `now() + interval '1 minute'`;
/** Rows that a service has locked are left to the next call: the harness waits for none. */
const endWait = (table: string, key: string, change: string, where: string) =>
  `update ${table} set ${change} where ${key} in (select ${key} from ${table} where ${where} for update skip locked)`;
const END_WAITS = [
  // As an operator does who has set the clock right: until then no send is given up.
  'select look_at_clock()',
  'select trust_clock(c) from (select * from database_clock for update) c where c.jumped_at is not null',
  endWait('send_queue', 'email_id', 'due_at = now()', `owner is null and due_at > ${FAR}`),
  endWait('send_queue', 'email_id', 'give_up_at = now()', `give_up_at > ${FAR}`),
  endWait('sent_copies', 'email_id', 'due_at = now()', `state <> 'stored' and due_at > ${FAR}`),
  endWait(
    'webhook_positions',
    'webhook_id',
    `beyond = jsonb_set(beyond, '{failed}', '[]')`,
    `exists (select from jsonb_array_elements(beyond -> 'failed') f where (f ->> 'due_at')::timestamptz > ${FAR})`,
  ),
];

export class Database {
  readonly #dataDir: string;
  #stopped: number[] = [];
  #logRead = 0;

  /** @param dataDir of the service or of the harness, depending on which starts the server */
  constructor(dataDir: string) {
    this.#dataDir = dataDir;
  }

  /** Path of the socket, for the proxy; null while there is no server. */
  async socketFile(): Promise<string | null> {
    const pidFile = await readPidFile(this.#dataFolder());
    return pidFile === null || pidFile.socketFolder === null ? null : socketPath(pidFile.socketFolder);
  }

  /**
   * Waits for a server that is not there, as far as it comes back: one that a fault killed a process of may answer once more before it notices, and
   * then recovers. Statements may be carried out twice.
   */
  async query(text: string, values: readonly unknown[] = []): Promise<readonly Record<string, unknown>[]> {
    const started = performance.now();
    for (;;) {
      try {
        return await this.#ask(text, values);
      } catch (error) {
        const isOver = performance.now() - started > READY_TIMEOUT_MS;
        if (isOver || !(error instanceof NoServerError || isAway(error))) throw error;
        await sleep(PAUSE_MS);
      }
    }
  }

  async #ask(text: string, values: readonly unknown[] = []): Promise<readonly Record<string, unknown>[]> {
    return query(await this.#where(), text, values);
  }

  /** A connection of its own. */
  async connect(): Promise<Client> {
    const client = new Client(await this.#where());
    // Its server may be killed while the client is idle; the next query reports that.
    client.on('error', () => {});
    await client.connect();
    return client;
  }

  async #where() {
    const pidFile = await readPidFile(this.#dataFolder());
    if (pidFile === null || pidFile.socketFolder === null) throw new NoServerError();
    const { socketFolder: host } = pidFile;
    const timeouts = { connectionTimeoutMillis: 5_000, query_timeout: 20_000 };
    return { host, port: SOCKET_PORT, user: USER, database: DATABASE, ...timeouts };
  }

  /** Waits until the server answers, whatever was done to it. */
  async waitReady(): Promise<void> {
    await waitUntil(
      'PostgreSQL answers again',
      () =>
        this.#ask('select 1').then(
          () => true,
          () => false,
        ),
      READY_TIMEOUT_MS,
    );
  }

  /** Errors of statements are in the log from now on. */
  async logErrors(): Promise<void> {
    await this.query(`alter database ${DATABASE} set log_min_messages = 'error'`);
    await this.query(`alter database ${DATABASE} set log_error_verbosity = 'default'`);
  }

  /** Deadlocks that the server's log has since the last call, with the lines that tell of them. */
  async readDeadlocks(): Promise<readonly string[]> {
    const text = await readFile(join(dirname(this.#dataFolder()), 'server.log'), 'utf8');
    // The service moves a long log away.
    const added = text.slice(text.length < this.#logRead ? 0 : this.#logRead);
    this.#logRead = text.length;
    return added
      .split(/(?=ERROR:  deadlock detected)/)
      .slice(1)
      .map((found) => found.slice(0, 2_000));
  }

  /**
   * Moments that the database computed before its clock went back lie far ahead. Waits end now, as if that time had come: what waits for a
   * retry, and what a process that died had in hand.
   */
  async endWaits(): Promise<void> {
    for (const statement of END_WAITS) await this.query(statement);
  }

  /** As another process does that has written events. */
  async numberEvents(): Promise<void> {
    await this.query('select number_events(10000)');
  }

  async killPostmaster(): Promise<void> {
    const pid = (await readPidFile(this.#dataFolder()))?.pid;
    if (pid !== undefined) sendSignal(pid, 'SIGKILL');
  }

  /** PostgreSQL ends all sessions and recovers when one of its processes is killed. */
  async killBackend(random: Random): Promise<void> {
    const pid = (await readPidFile(this.#dataFolder()))?.pid;
    if (pid === undefined) return;
    const backends = listChildren(pid).filter(({ command }) => command.startsWith(`postgres: ${USER}`));
    if (backends.length > 0) sendSignal(random.pick(backends).pid, 'SIGKILL');
  }

  async pause(): Promise<void> {
    const pid = (await readPidFile(this.#dataFolder()))?.pid;
    if (pid === undefined) return;
    this.#stopped = [pid, ...listChildren(pid).map((child) => child.pid)];
    for (const one of this.#stopped) sendSignal(one, 'SIGSTOP');
  }

  resume(): void {
    for (const one of this.#stopped.splice(0)) sendSignal(one, 'SIGCONT');
  }

  #dataFolder(): string {
    const marker = join(this.#dataDir, 'postgres-place.json');
    if (!existsSync(marker)) return join(this.#dataDir, 'postgres', 'data');
    return join((JSON.parse(readFileSync(marker, 'utf8')) as { folder: string }).folder, 'data');
  }
}
