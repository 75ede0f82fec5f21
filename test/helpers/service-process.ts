/** The service as a user runs it: the built program in a process of its own, configured only by its environment. */
import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { Client } from 'pg';
import { addressForService } from './postgres.ts';

const MAIN = fileURLToPath(new URL('../../dist/bundle/main.js', import.meta.url));
const START_TIMEOUT_MS = 120_000;

export const TEST_SECRET = 'test-secret-of-32-characters-1234';

/** How long a service waits for its database, so that a busy machine fails no test. */
const PATIENT: Readonly<Record<string, string>> = {
  DATABASE_CONNECT_TIMEOUT_MS: '30000',
  DATABASE_STATEMENT_TIMEOUT_MS: '60000',
};

export interface ServiceProcess {
  readonly url: string;
  readonly dataDir: string;
  readonly process: ChildProcess;
  /** Time in ms from the start of the process until it is ready, as a caller sees it. */
  readonly startMs: number;
  /** Log lines so far. */
  readonly log: readonly string[];
  /** A request with the valid secret; a `json` value is sent as JSON. */
  request(path: string, init?: RequestInit & { json?: unknown }): Promise<Response>;
  /** SIGTERM, and waits for the end. Returns the exit code. */
  stop(): Promise<number | null>;
  /** SIGKILL, and waits for the end. */
  kill(): Promise<void>;
}

export interface ServiceProcessOptions {
  readonly env?: Readonly<Record<string, string>>;
  /** Default: a new temporary folder. */
  readonly dataDir?: string;
  /** Default: the program as users run it. */
  readonly program?: string;
  /** Called as soon as the process exists. */
  readonly onSpawn?: (pid: number) => void;
  /**
   * True: its folder of files is one of its own, which only the first service on a database may have. Default: it passes for a copy of the
   * storage of the database, so that tests that need no common files can start several.
   */
  readonly hasOwnStorage?: boolean;
  /** Receives the log lines; for events before the service is ready. */
  readonly log?: string[];
}

/** Starts the service and waits until it is ready. Throws with its log if it ends before that. */
export async function startServiceProcess(options: ServiceProcessOptions = {}): Promise<ServiceProcess> {
  const dataDir = options.dataDir ?? (await mkdtemp(path.join(tmpdir(), 'email-worker-test-')));
  const databaseUrl = options.env?.['DATABASE_URL'];
  const isFolder = options.env?.['BLOB_URL'] === undefined;
  if (databaseUrl !== undefined && isFolder && options.hasOwnStorage !== true)
    await passForCopy(dataDir, databaseUrl);
  const started = performance.now();
  const child = spawn(process.execPath, [options.program ?? MAIN], {
    env: {
      PATH: process.env.PATH ?? '',
      PORT: '0',
      API_SECRET: TEST_SECRET,
      DATA_DIR: dataDir,
      ...PATIENT,
      ...options.env,
      ...(databaseUrl === undefined ? {} : { DATABASE_URL: addressForService(databaseUrl) }),
    },
    stdio: ['ignore', 'pipe', 'pipe'],
    cwd: dataDir,
  });
  if (child.pid !== undefined) options.onSpawn?.(child.pid);
  const log = options.log ?? [];
  child.stderr.on('data', (chunk: Buffer) => log.push(chunk.toString()));
  const lines = createInterface({ input: child.stdout });
  const exited = once(child, 'exit');
  const logRead = once(lines, 'close');

  const url = await new Promise<string>((resolve, reject) => {
    const timer = setTimeout(() => fail('did not become ready'), START_TIMEOUT_MS);
    const fail = (reason: string) => {
      clearTimeout(timer);
      child.kill('SIGKILL');
      reject(new Error(`the service ${reason}:\n${log.join('\n')}`));
    };
    const ended = (code: number | null) => fail(`ended with ${code}`);
    child.once('exit', ended);
    lines.on('line', (line) => {
      log.push(line);
      const ready = /"url":"([^"]+)".*email-worker is listening/.exec(line)?.[1];
      if (ready === undefined) return;
      clearTimeout(timer);
      child.removeListener('exit', ended);
      resolve(ready);
    });
  });
  const startMs = performance.now() - started;

  return {
    url,
    dataDir,
    process: child,
    startMs,
    log,
    request: (target, { json, ...init } = {}) =>
      fetch(url + target, {
        ...init,
        ...(json === undefined ? {} : { method: init.method ?? 'POST', body: JSON.stringify(json) }),
        headers: {
          authorization: `Bearer ${TEST_SECRET}`,
          ...(json === undefined ? {} : { 'content-type': 'application/json' }),
          ...(init.headers as Record<string, string> | undefined),
        },
      }),
    async stop() {
      if (child.exitCode !== null) return child.exitCode;
      child.kill('SIGTERM');
      await exited;
      // The last lines may come after the exit. Remnants of a killed process may hold the pipe open.
      if (child.signalCode === null) await logRead;
      return child.exitCode;
    },
    async kill() {
      if (child.exitCode !== null || child.signalCode !== null) return;
      child.kill('SIGKILL');
      await exited;
    },
  };
}

const IDENTIFY = `insert into email_worker.storage_identity as s (id, is_confirmed) values (gen_random_uuid(), true)
  on conflict (only_row) do update set is_confirmed = true returning id`;

/** Gives the files in `dataDir` the identity of the storage that the database has, unless they have one. */
async function passForCopy(dataDir: string, databaseUrl: string): Promise<void> {
  const files = path.join(dataDir, 'files');
  const client = new Client({ connectionString: databaseUrl, connectionTimeoutMillis: 5000 });
  client.on('error', () => undefined);
  try {
    await client.connect();
    const { rows } = await client.query<{ id: string }>(IDENTIFY);
    await mkdir(files, { recursive: true });
    const identity = { format: 'email-worker-storage/1', id: rows[0]?.id, database: 'of a test' };
    await writeFile(path.join(files, '_storage.json'), JSON.stringify(identity), { flag: 'wx' });
  } catch {
    // The files have an identity, or the service meets a database that is empty or away, as the test wants it.
  } finally {
    await client.end().catch(() => undefined);
  }
}

/** Stops the service and deletes its data folder. */
export async function disposeService(service: ServiceProcess): Promise<void> {
  await service.stop();
  await rm(service.dataDir, { recursive: true, force: true });
}
