/**
 * The server process of one setup, kept alive.
 *
 * States: `bringUp` takes over the server that a killed service left behind when it is the one we would start, ends
 * any other one on our data, and otherwise starts one. From then on the process is watched: when it ends unasked, it
 * is brought up again after a growing pause. `stop` ends the watch first, then the process; there is no way back.
 * When this process ends in any other way except SIGKILL, it asks the server to end at the last moment.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Logger } from '../../platform/base/basics.ts';
import { EmbeddedPostgresError } from './embedded-postgres-error.ts';
import type { Setup } from './location.ts';
import { endBehind, findRunning, readPidFile, stillRuns, terminate, terminateWhile } from './postmaster.ts';
import type { ServerLog } from './server-log.ts';
import { type SocketFolder, ensureSocketFolder, removeSocketFolder } from './socket-folder.ts';

export interface ServerProcessOptions {
  readonly setup: Setup;
  readonly socketFolder: SocketFolder;
  readonly serverArguments: readonly string[];
  readonly log: ServerLog;
  readonly logger: Logger;
  /** Prepares folders and data; called when no server runs, before each start of one. */
  readonly prepare: () => Promise<void>;
  /** Ends a start that is under way; `start` then throws. */
  readonly signal?: AbortSignal;
}

/** The pause before a restart doubles from the first to the last value. */
const FIRST_PAUSE_MS = 100;
const LAST_PAUSE_MS = 10_000;
/** A server that lived this long begins with the first pause again. */
const STEADY_MS = 60_000;

const READY_POLL_MS = 5;
/** How often a server that was taken over is checked; a child of this process reports its own end. */
const WATCH_INTERVAL_MS = 250;
const CHILD_WATCH_INTERVAL_MS = 60_000;
/** Recovery after a crash may take minutes; a waiting operator gets a log message after this time. */
const PATIENCE_MS = 10_000;

/** How long a start is repeated while the remains of a killed server disappear, in ms. */
const REMAINS_MS = 15_000;
/** The server's messages in that case: its old sessions hold the shared memory, or another start was quicker. */
const REMAINS = /pre-existing shared memory block|lock file "[^"\n]*" already exists|could not lock/;

export class ServerProcess {
  readonly #options: ServerProcessOptions;
  readonly #commandLine: string;
  readonly #abort = new AbortController();
  #pid: number | null = null;
  /** The server of `#pid`, even one that is not ready yet, if this process started it; null for one that was taken over. */
  #child: Child | null = null;
  /** Cuts the pause of the watch short. */
  #endPause = () => {};
  #watch: Promise<void> = Promise.resolve();

  constructor(options: ServerProcessOptions) {
    this.#options = options;
    this.#commandLine = [options.setup.binaries.postgres, ...options.serverArguments].join(' ');
  }

  /**
   * Returns when the server accepts connections. When it throws, no server is left running, neither one of this process nor one that a
   * killed process left behind.
   *
   * @param verify proves that the server accepts connections; when it fails for a server that was taken over, that one is replaced.
   */
  async start(verify: () => Promise<void>): Promise<void> {
    const { signal } = this.#options;
    if (signal?.aborted === true) {
      await this.#endLeftBehind();
      signal.throwIfAborted();
    }
    const onAbort = () => this.#abort.abort();
    signal?.addEventListener('abort', onAbort, { once: true });
    endWithProcess(this);
    try {
      await this.#startVerified(verify);
    } catch (error) {
      await this.#end();
      notWithProcess(this);
      throw error;
    } finally {
      signal?.removeEventListener('abort', onAbort);
    }
    this.#watch = this.#keepAlive();
  }

  async #startVerified(verify: () => Promise<void>): Promise<void> {
    if (await this.#takeOver()) {
      try {
        await verify();
        return;
      } catch (error) {
        this.#options.logger.warn({ err: error }, 'the orphaned embedded PostgreSQL does not answer');
        await this.#end();
      }
    }
    await this.#bringUp();
    await verify();
  }

  /** Ends the server and waits until it is gone. */
  async stop(): Promise<void> {
    this.#abort.abort();
    await this.#watch;
    await this.#end();
    notWithProcess(this);
    await removeSocketFolder(this.#options.socketFolder);
  }

  /** For the last moment of this process. */
  endBehind(): void {
    const pid = this.#child?.pid ?? this.#pid;
    if (pid !== null) endBehind(pid, this.#commandLine, this.#child !== null);
  }

  /** True if the server that another process left running is ours now, and ready. */
  async #takeOver(): Promise<boolean> {
    const { setup, logger } = this.#options;
    const running = await findRunning(setup.location.dataFolder, this.#commandLine);
    if (running.kind !== 'same') return false;
    const hasEnded = async () => !(await stillRuns(running.pid, this.#commandLine));
    // Known from now on, so that ending the start also ends the server.
    this.#pid = running.pid;
    if (!(await this.#isReady(running.pid, hasEnded))) {
      if (!this.#abort.signal.aborted) this.#pid = null;
      return false;
    }
    logger.info({ pid: running.pid }, 'using the embedded PostgreSQL that was still running');
    return true;
  }

  async #endLeftBehind(): Promise<void> {
    const { setup, logger } = this.#options;
    const running = await findRunning(setup.location.dataFolder, this.#commandLine);
    if (running.kind === 'none') return;
    logger.info({ pid: running.pid }, 'stopping an orphaned embedded PostgreSQL');
    await terminate(running.pid);
  }

  async #bringUp(): Promise<void> {
    const { setup } = this.#options;
    await this.#endLeftBehind();
    this.#abort.signal.throwIfAborted();
    await this.#options.prepare();
    await ensureSocketFolder(this.#options.socketFolder, setup.identity);
    const deadline = performance.now() + REMAINS_MS;
    for (let pauseMs = FIRST_PAUSE_MS; ; pauseMs = Math.min(pauseMs * 2, 1000)) {
      this.#abort.signal.throwIfAborted();
      const failure = await this.#launch();
      if (failure === null) return;
      if (!REMAINS.test(failure) || performance.now() > deadline || this.#abort.signal.aborted) {
        throw new EmbeddedPostgresError(`the server ended at its start: ${failure}`);
      }
      await this.#pause(pauseMs, true);
    }
  }

  /** Starts the server and waits until it is ready; otherwise returns the server's output. */
  async #launch(): Promise<string | null> {
    const { setup, serverArguments, log, logger } = this.#options;
    const begin = performance.now();
    const position = await log.size();
    const command = setup.identity.command(setup.binaries.postgres, serverArguments);
    const child = log.withFile((fd) =>
      spawn(command.file, command.args, {
        ...command.options,
        // A session of its own: Ctrl-C in the terminal reaches only the service, which ends the server in due order.
        detached: true,
        stdio: ['ignore', fd, fd],
      }),
    );
    const exit = watchExit(child, () => {
      if (this.#child?.pid === child.pid) this.#child = null;
      this.#endPause();
    });
    child.unref();
    const { pid } = child;
    // The server runs from now on, even when the wait for its readiness is cut short or fails: `stop` must know of it.
    this.#child = pid === undefined || exit.reason !== null ? null : { pid };
    this.#pid = pid ?? null;
    if (pid === undefined || !(await this.#isReady(pid, async () => exit.reason !== null))) {
      if (exit.reason !== null) this.#pid = null;
      return [exit.reason, await log.tail(position)].filter(Boolean).join(': ');
    }
    const tookMs = Math.round(performance.now() - begin);
    logger.info({ pid, tookMs, as: setup.identity.name }, 'the embedded PostgreSQL is ready');
    return null;
  }

  /**
   * Waits until the server reports that it is ready. False when it ended before, or when `stop` was called; the latter only once there is a
   * pid file, because until then the process may still have another command line.
   */
  async #isReady(pid: number, hasEnded: () => Promise<boolean>): Promise<boolean> {
    const { setup, logger } = this.#options;
    let noticeAt = performance.now() + PATIENCE_MS;
    for (;;) {
      const pidFile = await readPidFile(setup.location.dataFolder);
      if (pidFile?.pid === pid && (pidFile.status === 'ready' || this.#abort.signal.aborted)) {
        return pidFile.status === 'ready';
      }
      if (await hasEnded()) return false;
      if (performance.now() > noticeAt) {
        logger.info(
          { pid, status: pidFile?.status ?? null },
          'waiting for the embedded PostgreSQL to recover',
        );
        noticeAt += PATIENCE_MS;
      }
      await sleep(READY_POLL_MS);
    }
  }

  /** Runs until `stop`: waits for the end of the server, then brings it up again. */
  async #keepAlive(): Promise<void> {
    const { setup, log, logger } = this.#options;
    let pauseMs = FIRST_PAUSE_MS;
    while (!this.#abort.signal.aborted) {
      const since = performance.now();
      await this.#untilGone();
      if (this.#abort.signal.aborted) return;
      logger.error(
        { log: await log.tail(0), logFile: setup.location.logFile },
        'the embedded PostgreSQL ended',
      );
      if (performance.now() - since > STEADY_MS) pauseMs = FIRST_PAUSE_MS;
      while (this.#pid === null && !this.#abort.signal.aborted) {
        await this.#pause(pauseMs, false);
        pauseMs = Math.min(pauseMs * 2, LAST_PAUSE_MS);
        if (this.#abort.signal.aborted) return;
        try {
          await this.#bringUp();
        } catch (error) {
          if (this.#abort.signal.aborted) return;
          logger.error({ err: error }, 'the embedded PostgreSQL could not be started again');
        }
      }
    }
  }

  /** Resolves when the server is gone, with `#pid` null, or when `stop` was called. */
  async #untilGone(): Promise<void> {
    while (this.#pid !== null && !this.#abort.signal.aborted) {
      if (!(await this.#isThere(this.#pid))) this.#pid = null;
      else
        await this.#pause(
          this.#child?.pid === this.#pid ? CHILD_WATCH_INTERVAL_MS : WATCH_INTERVAL_MS,
          false,
        );
    }
  }

  async #end(): Promise<void> {
    const pid = this.#pid;
    if (pid === null) return;
    // Between its end and this call the pid may have passed to another process.
    if (await this.#isThere(pid)) await terminateWhile(pid, () => this.#isThere(pid));
    this.#pid = null;
  }

  /** A child of this process reports its own end; only a server that was taken over has to be checked. */
  async #isThere(pid: number): Promise<boolean> {
    return this.#child?.pid === pid || (await stillRuns(pid, this.#commandLine));
  }

  /** A pause that `stop` and the end of a child cut short. Without `ref` it does not keep the process alive. */
  async #pause(ms: number, ref: boolean): Promise<void> {
    const end = new AbortController();
    this.#endPause = () => end.abort();
    const signal = AbortSignal.any([this.#abort.signal, end.signal]);
    await sleep(ms, undefined, { signal, ref }).catch(() => {});
    this.#endPause = () => {};
  }
}

interface Child {
  readonly pid: number;
}

/** This is also where a program that can't be started at all is noticed. */
function watchExit(child: ChildProcess, onEnd: () => void): { reason: string | null } {
  const exit: { reason: string | null } = { reason: null };
  const end = (reason: string) => {
    exit.reason = reason;
    onEnd();
  };
  child.once('error', (error) => end(String(error)));
  child.once('exit', (code, signal) => end(signal === null ? `exit code ${code}` : `signal ${signal}`));
  return exit;
}

/** Servers that must not outlive this process. */
const withProcess = new Set<ServerProcess>();

function endAllBehind(): void {
  for (const server of withProcess) server.endBehind();
}

function endWithProcess(server: ServerProcess): void {
  if (withProcess.size === 0) process.on('exit', endAllBehind);
  withProcess.add(server);
}

function notWithProcess(server: ServerProcess): void {
  withProcess.delete(server);
  if (withProcess.size === 0) process.off('exit', endAllBehind);
}
