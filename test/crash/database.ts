/** The PostgreSQL server of a world, from outside: its processes, and queries that bypass every proxy. */
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Client } from 'pg';
import { DATABASE, USER } from '../../src/adapters/postgres/embedded/settings.ts';
import { readPidFile } from '../../src/adapters/postgres/embedded/postmaster.ts';
import { SOCKET_PORT, socketPath } from '../../src/adapters/postgres/embedded/socket-folder.ts';
import { query } from '../helpers/query.ts';
import { waitUntil } from '../helpers/wait-until.ts';
import { listChildren, sendSignal } from './processes.ts';
import type { Random } from './random.ts';

const READY_TIMEOUT_MS = 60_000;

export class Database {
  readonly #dataDir: string;
  #stopped: number[] = [];

  /** @param dataDir of the service or of the harness, depending on which starts the server */
  constructor(dataDir: string) {
    this.#dataDir = dataDir;
  }

  /** Path of the socket, for the proxy; null while there is no server. */
  async socketFile(): Promise<string | null> {
    const pidFile = await readPidFile(this.#dataFolder());
    return pidFile === null || pidFile.socketFolder === null ? null : socketPath(pidFile.socketFolder);
  }

  async query(text: string, values: readonly unknown[] = []): Promise<readonly Record<string, unknown>[]> {
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
    if (pidFile === null || pidFile.socketFolder === null) throw new Error('there is no PostgreSQL server');
    const { socketFolder: host } = pidFile;
    const timeouts = { connectionTimeoutMillis: 5_000, query_timeout: 20_000 };
    return { host, port: SOCKET_PORT, user: USER, database: DATABASE, ...timeouts };
  }

  /** Waits until the server answers, whatever was done to it. */
  async waitReady(): Promise<void> {
    await waitUntil(
      'PostgreSQL answers again',
      () =>
        this.query('select 1').then(
          () => true,
          () => false,
        ),
      READY_TIMEOUT_MS,
    );
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
