/**
 * The log file for the server's output. It is a file, not a pipe, because a pipe breaks when this process is killed and blocks the server
 * when this process is busy. The server only appends, so the size is bounded by moving the text into a second file and cutting the first.
 */
import { closeSync, openSync } from 'node:fs';
import { copyFile, open, stat, truncate } from 'node:fs/promises';
import type { Logger } from '../../platform/base/basics.ts';
import { describe } from './identity.ts';

/** Above this size the text moves to `<file>.1`, which it replaces: at most about twice this size is used. */
const MAX_LOG_BYTES = 8 * 1024 * 1024;

/** How much of the end an error shows. */
const MAX_TAIL_BYTES = 4096;

const CHECK_INTERVAL_MS = 60_000;

export interface ServerLog {
  /** Opens the file for the server; the caller closes it when the server has it. */
  withFile<T>(use: (fd: number) => T): T;
  /** The present size in bytes: the output of a server that is started next begins there. */
  size(): Promise<number>;
  /** The last lines after `position`. */
  tail(position: number): Promise<string>;
  /** Stops watching the size. */
  close(): void;
}

export function createServerLog(path: string, logger: Logger): ServerLog {
  const timer = setInterval(() => {
    void bound(path).catch((error: unknown) => {
      logger.warn({ err: error, path }, 'the log of the embedded PostgreSQL could not be cut');
    });
  }, CHECK_INTERVAL_MS);
  timer.unref();
  return {
    withFile(use) {
      const fd = openSync(path, 'a', 0o600);
      try {
        return use(fd);
      } finally {
        closeSync(fd);
      }
    },
    size: () => sizeOf(path),
    tail: (position) => readTail(path, position),
    close() {
      clearInterval(timer);
    },
  };
}

/** Lines written between the copy and the cut are lost; that is the price of needing nothing from the server. */
export async function bound(path: string, maxBytes: number = MAX_LOG_BYTES): Promise<void> {
  if ((await sizeOf(path)) <= maxBytes) return;
  await copyFile(path, `${path}.1`);
  await truncate(path, 0);
}

async function sizeOf(path: string): Promise<number> {
  try {
    return (await stat(path)).size;
  } catch {
    return 0;
  }
}

async function readTail(path: string, position: number): Promise<string> {
  try {
    const handle = await open(path, 'r');
    try {
      const { size } = await handle.stat();
      const start = Math.max(position > size ? 0 : position, size - MAX_TAIL_BYTES);
      const buffer = Buffer.alloc(Math.max(0, size - start));
      const { bytesRead } = await handle.read(buffer, 0, buffer.length, start);
      return buffer.toString('utf8', 0, bytesRead).trim();
    } finally {
      await handle.close();
    }
  } catch (error) {
    return `(the log can't be read: ${describe(error)})`;
  }
}
