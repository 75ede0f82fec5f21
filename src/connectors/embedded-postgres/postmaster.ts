/**
 * A running server as a process: found by its pid file, recognised by its command line, ended by signals. A killed
 * service leaves its server running, and a pid may belong to another process by now: no process gets a signal,
 * and no pid file is removed, before its owner is known.
 */
import { execFile, execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { readFile, rm, stat } from 'node:fs/promises';
import { connect } from 'node:net';
import { basename, join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { promisify } from 'node:util';
import { EmbeddedPostgresError } from './embedded-postgres-error.ts';
import { exists, hasCode, readIfExists } from './file-system.ts';
import { socketPath } from './socket-folder.ts';

/** The contents of postmaster.pid (PostgreSQL's `src/include/utils/pidfile.h`, the same lines since version 10). */
export interface PidFile {
  readonly pid: number;
  /** null until the server listens. */
  readonly socketFolder: string | null;
  /** `starting`, `stopping` or `ready`; null until the server writes it. */
  readonly status: string | null;
}

/** The server that runs on a data directory. */
export type Running =
  | { readonly kind: 'none' }
  /** Started with exactly this command line: same binaries, same settings. */
  | { readonly kind: 'same'; readonly pid: number }
  | { readonly kind: 'other'; readonly pid: number };

const POLL_INTERVAL_MS = process.platform === 'linux' ? 10 : 50;

/** How long sessions that are being closed may take, in ms; a pool does not wait for the server when it ends. */
const SMART_SHUTDOWN_MS = 500;
/** How long a fast shutdown may take, in ms; it writes everything that is in memory. */
const FAST_SHUTDOWN_MS = 60_000;
/** How long the immediate shutdown may take, in ms; it writes nothing and leaves the recovery to the next start. */
const IMMEDIATE_SHUTDOWN_MS = 10_000;

/** A server writes the file right after it created it. In ms. */
const BROKEN_PID_FILE_MS = 500;

/** null when there is no pid file, or it names no process. */
export async function readPidFile(dataFolder: string): Promise<PidFile | null> {
  const text = await readIfExists(join(dataFolder, 'postmaster.pid'));
  if (text === null) return null;
  const lines = text.split('\n').map((line) => line.trim());
  // A negative pid is a server in single-user mode.
  const pid = Math.abs(Number(lines[0]));
  if (!Number.isSafeInteger(pid) || pid === 0) return null;
  return { pid, socketFolder: lines[4] || null, status: lines[7] || null };
}

/**
 * Finds the server that runs on the data directory. Removes a pid file whose pid belongs to another program: PostgreSQL only checks that
 * the process exists, and would not start.
 */
export async function findRunning(dataFolder: string, commandLine: string): Promise<Running> {
  const pidFile = await readPidFile(dataFolder);
  if (pidFile === null) {
    await removeBrokenPidFile(dataFolder);
    return { kind: 'none' };
  }
  const found = await readCommandLine(pidFile.pid);
  if (found !== null && (await worksOn(pidFile.pid, found, dataFolder))) {
    return { kind: found === commandLine ? 'same' : 'other', pid: pidFile.pid };
  }
  if (pidFile.socketFolder !== null && (await answers(socketPath(pidFile.socketFolder)))) {
    throw new EmbeddedPostgresError(
      `a PostgreSQL server is running on ${dataFolder}, but its process ${pidFile.pid} can't be seen from here ` +
        '(it may run in another container)',
    );
  }
  if (processExists(pidFile.pid)) await rm(join(dataFolder, 'postmaster.pid'), { force: true });
  return { kind: 'none' };
}

/**
 * The command line of a process, arguments joined by spaces. null when there is no such process, when it has ended and only waits for its
 * parent to notice, and for an instant while it replaces itself by another program.
 */
export async function readCommandLine(pid: number): Promise<string | null> {
  if (process.platform === 'linux') {
    try {
      const text = await readFile(`/proc/${pid}/cmdline`, 'utf8');
      return text === '' ? null : text.replace(/\0$/, '').replaceAll('\0', ' ');
    } catch (error) {
      if (hasCode(error, 'ENOENT', 'ESRCH')) return null;
      throw error;
    }
  }
  try {
    const { stdout } = await promisify(execFile)('ps', ['-ww', '-o', 'stat=,command=', '-p', String(pid)]);
    const [, state, command] = /^(\S+)\s+(\S.*)$/s.exec(stdout.trim()) ?? [];
    return command === undefined || state?.startsWith('Z') === true ? null : command;
  } catch {
    return null;
  }
}

/**
 * True if a process still runs this program. If that can't be read, for example for want of a file descriptor, any process with that number
 * counts: a failed check must not give up a server.
 */
export async function stillRuns(pid: number, commandLine: string): Promise<boolean> {
  try {
    return (await readCommandLine(pid)) === commandLine;
  } catch {
    return processExists(pid);
  }
}

/**
 * Ends a server and waits until it is gone: it first asks the server to end with the last session, then, if that takes too long, fast
 * (sessions are cut, everything is written), at last immediately.
 */
export async function terminate(pid: number): Promise<void> {
  const commandLine = await readCommandLine(pid);
  if (commandLine !== null) await terminateWhile(pid, () => stillRuns(pid, commandLine));
}

/** The same for a process that is known to be a server. */
export async function terminateWhile(pid: number, isThere: () => Promise<boolean>): Promise<void> {
  for (const [signal, patienceMs] of [
    ['SIGTERM', SMART_SHUTDOWN_MS],
    ['SIGINT', FAST_SHUTDOWN_MS],
    ['SIGQUIT', IMMEDIATE_SHUTDOWN_MS],
    ['SIGKILL', IMMEDIATE_SHUTDOWN_MS],
  ] as const) {
    sendSignal(pid, signal);
    const deadline = performance.now() + patienceMs;
    while (performance.now() < deadline) {
      if (!(await isThere())) return;
      await sleep(POLL_INTERVAL_MS);
    }
  }
  throw new EmbeddedPostgresError(`the server process ${pid} can't be ended`);
}

/**
 * Asks a server to end, without waiting: for the last moment of this process. Sessions are cut, everything is written.
 *
 * @param isOwn a child of this process that has not ended; any other process is identified first
 */
export function endBehind(pid: number, commandLine: string, isOwn: boolean): void {
  try {
    if (isOwn || readCommandLineNow(pid) === commandLine) process.kill(pid, 'SIGINT');
  } catch {
    // It is gone, or can't be identified: the next start takes it over.
  }
}

function readCommandLineNow(pid: number): string {
  if (process.platform === 'linux') {
    return readFileSync(`/proc/${pid}/cmdline`, 'utf8').replace(/\0$/, '').replaceAll('\0', ' ');
  }
  return execFileSync('ps', ['-ww', '-o', 'command=', '-p', String(pid)], { encoding: 'utf8' }).trim();
}

function sendSignal(pid: number, signal: NodeJS.Signals): void {
  try {
    process.kill(pid, signal);
  } catch (cause) {
    if (hasCode(cause, 'ESRCH')) return;
    throw new EmbeddedPostgresError(`the server process ${pid} belongs to another user`, { cause });
  }
}

/** True if a process is a server on this data directory. */
async function worksOn(pid: number, commandLine: string, dataFolder: string): Promise<boolean> {
  if (basename(commandLine.split(' -D ')[0] ?? '') !== 'postgres') return false;
  try {
    // The server's working directory is its data directory, even after a folder above it was renamed.
    const [there, here] = await Promise.all([stat(`/proc/${pid}/cwd`), stat(dataFolder)]);
    return there.dev === here.dev && there.ino === here.ino;
  } catch {
    // No /proc, or no right to look (another account's process, in a container).
    return commandLine.includes(` -D ${dataFolder} `);
  }
}

/**
 * PostgreSQL does not start over a pid file without a pid, which a power cut may leave. A file that a server is about to fill is left
 * alone.
 */
async function removeBrokenPidFile(dataFolder: string): Promise<void> {
  const path = join(dataFolder, 'postmaster.pid');
  if (!(await exists(path))) return;
  await sleep(BROKEN_PID_FILE_MS);
  if ((await readPidFile(dataFolder)) === null) await rm(path, { force: true });
}

function processExists(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return !hasCode(error, 'ESRCH');
  }
}

/** True if a process listens on the Unix socket. */
async function answers(path: string): Promise<boolean> {
  return await new Promise<boolean>((resolve) => {
    const socket = connect(path);
    socket.once('connect', () => {
      socket.destroy();
      resolve(true);
    });
    socket.once('error', () => resolve(false));
  });
}
