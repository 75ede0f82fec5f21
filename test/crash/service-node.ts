/** One process of the service under test, with its DATA_DIR, through all its deaths. */
import { type ChildProcess, spawn } from 'node:child_process';
import { createWriteStream, type WriteStream } from 'node:fs';
import { readdir, rm } from 'node:fs/promises';
import { createInterface } from 'node:readline';
import { join } from 'node:path';
import { LmdbJournal } from '../../src/connectors/journal/lmdb-journal.ts';
import { createSpool } from '../../src/connectors/journal/spool.ts';
import { silentLogger } from '../helpers/silent-logger.ts';
import { TEST_SECRET } from '../helpers/service-process.ts';
import { type Disk, mountDisk } from './disk.ts';
import { residentBytes } from './processes.ts';

const START_TIMEOUT_MS = 60_000;
export const SHUTDOWN_TIMEOUT_MS = 8_000;

export interface Exit {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
  readonly tookMs: number;
  /** The harness killed it, whatever else it was asked to do before: such an end proves nothing about the service. */
  readonly killed: boolean;
}

export interface NodeOptions {
  readonly name: string;
  readonly dataDir: string;
  /** Path of the built program. */
  readonly main: string;
  readonly env: Readonly<Record<string, string>>;
  readonly logFile: string;
  /** Called when the process ends without having been asked to. */
  readonly onDeath: (reason: string) => void;
  /** Called as each process begins and ends. */
  readonly onProcess?: (pid: number, event: 'began' | 'ended') => void;
}

/** One life of the process. */
interface Run {
  readonly child: ChildProcess;
  /** True once it is ready, false if it ended before that. */
  readonly ready: Promise<boolean>;
  readonly exit: Promise<Exit>;
  /** The harness asked the process to end. */
  expected: boolean;
  terminating: boolean;
  killed: boolean;
}

export class ServiceNode {
  readonly name: string;
  readonly dataDir: string;
  /** null where a small disk can't be mounted. */
  readonly disk: Disk | null;
  readonly #options: NodeOptions;
  readonly #log: WriteStream;
  #run: Run | null = null;
  /** null while it is down or starting. */
  url: string | null = null;
  maxResidentBytes = 0;

  constructor(options: NodeOptions) {
    this.#options = options;
    this.name = options.name;
    this.dataDir = options.dataDir;
    this.disk = mountDisk(options.dataDir);
    this.#log = createWriteStream(options.logFile, { flags: 'a' });
  }

  get alive(): boolean {
    return this.#run !== null;
  }

  /**
   * Resolves to true when the process is ready, to false when it ended before that. Throws when neither happens. Faults of one round
   * overlap: a process that runs, or is being started by another fault, is not started a second time.
   */
  async start(): Promise<boolean> {
    this.#run ??= this.#spawn();
    return this.#run.ready;
  }

  /** SIGKILL, also in the middle of the start. */
  async kill(): Promise<void> {
    const run = this.#run;
    if (run === null) return;
    run.expected = true;
    run.killed = true;
    this.url = null;
    run.child.kill('SIGKILL');
    await run.exit;
  }

  /** SIGTERM, once for all faults that ask for it; null when it is not running. */
  async terminate(): Promise<Exit | null> {
    const run = this.#run;
    if (run === null) return null;
    const begun = performance.now();
    run.expected = true;
    if (!run.terminating) run.child.kill('SIGTERM');
    run.terminating = true;
    const ended = await run.exit;
    return { ...ended, tookMs: performance.now() - begun };
  }

  signal(name: 'SIGSTOP' | 'SIGCONT'): void {
    this.#run?.child.kill(name);
  }

  #spawn(): Run {
    const { main, env } = this.#options;
    const child = spawn(process.execPath, [main], {
      env: {
        PATH: process.env['PATH'] ?? '',
        PORT: '0',
        API_SECRET: TEST_SECRET,
        DATA_DIR: this.dataDir,
        SHUTDOWN_TIMEOUT_MS: String(SHUTDOWN_TIMEOUT_MS),
        ...env,
      },
      stdio: ['ignore', 'pipe', 'pipe'],
      cwd: this.dataDir,
    });
    child.stderr.pipe(this.#log, { end: false });
    const { pid } = child;
    if (pid !== undefined) this.#options.onProcess?.(pid, 'began');
    const begun = performance.now();
    let isReady = false;
    const exit = new Promise<Exit>((resolve) => {
      child.once('exit', (code, signal) => {
        if (pid !== undefined) this.#options.onProcess?.(pid, 'ended');
        this.#run = null;
        this.url = null;
        if (!run.expected && isReady) {
          this.#options.onDeath(`${this.name} ended by itself: code ${code}, signal ${signal}`);
        }
        this.#log.write(`--- ${this.name} ended: code ${code}, signal ${signal}\n`);
        resolve({ code, signal, tookMs: performance.now() - begun, killed: run.killed });
      });
    });
    const listening = new Promise<true>((resolve, reject) => {
      const timer = setTimeout(
        () => reject(new Error(`${this.name} did not become ready`)),
        START_TIMEOUT_MS,
      );
      timer.unref();
      void exit.then(() => clearTimeout(timer));
      createInterface({ input: child.stdout }).on('line', (line) => {
        this.#log.write(`${line}\n`);
        const url = /"url":"([^"]+)".*email-worker is listening/.exec(line)?.[1];
        if (url === undefined) return;
        clearTimeout(timer);
        isReady = true;
        // The harness may have asked for its end since it wrote that.
        if (!run.killed) this.url = url;
        resolve(true);
      });
    });
    const ready = Promise.race([listening, exit.then((): false => false)]);
    const run: Run = { child, exit, ready, expected: false, terminating: false, killed: false };
    return run;
  }

  measureMemory(): void {
    const pid = this.#run?.child.pid;
    if (pid === undefined) return;
    this.maxResidentBytes = Math.max(this.maxResidentBytes, residentBytes(pid));
  }

  listSpool(): Promise<readonly string[]> {
    return listIfExists(join(this.dataDir, 'spool'));
  }

  /** Leftovers that should not exist; only while the process is down. */
  async listLeftovers(): Promise<readonly string[]> {
    const spool = createSpool(join(this.dataDir, 'spool'));
    const folders = await this.listSpool();
    const temporary = await listIfExists(join(this.dataDir, 'files', '.tmp'));
    const folder = join(this.dataDir, 'journal');
    const journal = await LmdbJournal.open({ folder, spool, logger: silentLogger });
    const entries: string[] = [];
    for (const key of journal.keys()) {
      entries.push(journal.read(key)?.attempt.email?.record.subject ?? key.emailId);
    }
    await journal.close();
    return [
      ...folders.map((name) => `${this.name}: spool folder ${name}`),
      ...temporary.map((name) => `${this.name}: temporary file ${name}`),
      ...entries.map((subject) => `${this.name}: journal entry ${subject}`),
    ];
  }

  async dispose(): Promise<void> {
    await this.kill();
    this.disk?.unmount();
    await rm(this.dataDir, { recursive: true, force: true, maxRetries: 5 });
    this.#log.end();
  }
}

async function listIfExists(folder: string): Promise<readonly string[]> {
  return readdir(folder).catch((): string[] => []);
}
