/**
 * DATA_DIR belongs to one process at a time. The lock is the kernel's: it ends with the process, however the process ends, and is not
 * inherited by programs that it starts.
 */
import {
  closeSync,
  constants,
  existsSync,
  ftruncateSync,
  mkdirSync,
  openSync,
  readFileSync,
  statSync,
  writeSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';

export interface DataDirLock {
  /** Releases DATA_DIR. A second call does nothing. */
  release(): Promise<void>;
}

export interface LockOptions {
  /** The lock is released within seconds, so that another process had better wait for it. Default: false. */
  readonly isBrief?: boolean;
}

/** Follows the number of a process that releases the lock soon. */
const BRIEF = ' briefly';
/** How long to wait for such a process, in ms: several times what it needs on a busy machine. */
const BRIEF_PATIENCE_MS = 60_000;
const RETRY_AFTER_MS = 100;

/** DATA_DIR can't be used. In English, for the operator: it is thrown at the start only. */
export class DataDirError extends Error {
  readonly code: 'data_dir_locked' | 'data_dir_unusable';
  /** The process that has the lock releases it within seconds. */
  isBrief = false;

  constructor(code: DataDirError['code'], message: string, cause?: unknown) {
    super(message, cause === undefined ? undefined : { cause });
    this.name = 'DataDirError';
    this.code = code;
  }
}

/**
 * Creates DATA_DIR, for its owner only, and locks it for this process. Existing permissions stay as they are. Throws `DataDirError`:
 * `data_dir_locked` names the process that has it.
 */
export async function lockDataDir(
  dataDir: string,
  { isBrief = false }: LockOptions = {},
): Promise<DataDirLock> {
  const tryLock = await loadTryLock();
  const path = join(dataDir, 'lock');
  let fd: number;
  try {
    makeFolder(dataDir);
    // A plain descriptor, which Node opens with O_CLOEXEC; a FileHandle is closed when it is garbage-collected.
    fd = openSync(path, constants.O_RDWR | constants.O_CREAT | constants.O_NOFOLLOW, 0o600);
  } catch (cause) {
    throw new DataDirError('data_dir_unusable', `DATA_DIR ${dataDir} can't be used: ${String(cause)}`, cause);
  }
  try {
    if (!tryLock(fd)) throw lockedError(dataDir, path);
    ftruncateSync(fd, 0);
    writeSync(fd, `${process.pid}${isBrief ? BRIEF : ''}\n`, 0);
  } catch (error) {
    closeSync(fd);
    if (error instanceof DataDirError) throw error;
    throw new DataDirError(
      'data_dir_unusable',
      `DATA_DIR ${dataDir} can't be locked: ${String(error)}`,
      error,
    );
  }
  let held = true;
  return {
    async release() {
      // The file stays: removing it would let two processes lock two files of the same name.
      if (held) closeSync(fd);
      held = false;
    },
  };
}

/**
 * As `lockDataDir`, but waits while the lock is held by a process that releases it soon, such as the doctor: a service that starts at that
 * moment must not fail. Throws the reason of the signal, too.
 */
export async function waitForDataDir(
  dataDir: string,
  { signal, ...options }: LockOptions & { readonly signal?: AbortSignal | undefined } = {},
): Promise<DataDirLock> {
  const deadline = performance.now() + BRIEF_PATIENCE_MS;
  for (;;) {
    try {
      return await lockDataDir(dataDir, options);
    } catch (error) {
      if (!(error instanceof DataDirError) || !error.isBrief || performance.now() > deadline) throw error;
    }
    await wait(RETRY_AFTER_MS, undefined, { signal }).catch(() => signal?.throwIfAborted());
  }
}

/** As `recursive` does, which in Node.js 20 loops for ever where no folder can be made, such as in /proc. */
function makeFolder(path: string): void {
  try {
    mkdirSync(path, { mode: 0o700 });
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === 'EEXIST' && statSync(path).isDirectory()) return;
    if (code !== 'ENOENT' || existsSync(dirname(path)) || dirname(path) === path) throw error;
    makeFolder(dirname(path));
    makeFolder(path);
  }
}

function lockedError(dataDir: string, path: string): DataDirError {
  const noted = readFileSync(path, 'utf8').trimEnd();
  const isBrief = noted.endsWith(BRIEF);
  const pid = isBrief ? noted.slice(0, -BRIEF.length) : noted;
  const holder = /^\d+$/.test(pid) ? `process ${pid}` : 'another process';
  const error = new DataDirError(
    'data_dir_locked',
    `DATA_DIR ${dataDir} is in use by ${holder}. Stop that process, or give this one a DATA_DIR of its own.`,
  );
  error.isBrief = isBrief;
  return error;
}

/** Loaded late: a missing binary for the platform becomes an error that the operator can read. */
async function loadTryLock(): Promise<(fd: number) => boolean> {
  try {
    const { tryLock } = await import('fs-native-extensions');
    return tryLock;
  } catch (cause) {
    throw new DataDirError(
      'data_dir_unusable',
      `DATA_DIR can't be locked on ${process.platform}-${process.arch}: no binary of fs-native-extensions runs here`,
      cause,
    );
  }
}
