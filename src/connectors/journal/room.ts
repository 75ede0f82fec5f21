/**
 * Disk space that an LMDB environment is sure to have. The process does not survive a write of LMDB that fails for lack of space: lmdb-js
 * 3.5.6 overruns a buffer when it words the error (mdb.c, `sprintf` into `malloc(100)`), and the process dies with a broken heap. So the
 * data file is extended, with blocks, before LMDB needs them; a write that does not fit is refused here, and LMDB only ever overwrites.
 * File systems that copy on write (btrfs, ZFS) can't promise that.
 */
import { open, statfs, type FileHandle } from 'node:fs/promises';
import { join } from 'node:path';
import { ServiceError } from '../../core/errors.ts';
import type { Environment } from './environment.ts';

/** Pages that one operation may dirty beside its value: two tables' paths from root to leaf, and splits. */
const PAGES_PER_OPERATION = 12;
/** For the pages that a transaction dirties once, however many operations it has: the list of free pages, the main table. */
const TRANSACTION_BYTES = 256 * 1024;
const MIN_STEP_BYTES = 1024 * 1024;
const MAX_STEP_BYTES = 16 * 1024 * 1024;
/** The file grows by a quarter, within the bounds above. */
const STEP_DIVISOR = 4;
/** A file up to this size is rewritten before it grows, since LMDB leaves holes in the file that it creates. */
const MAX_FILL_BYTES = 1024 * 1024;

export class Room {
  readonly #env: Environment;
  readonly #path: string;
  readonly #file: FileHandle;
  readonly #pageBytes: number;
  /** Length of the file; all of it has blocks. */
  #allocated: number;
  /** Upper bound of the bytes that LMDB uses, or may use after the operations under way. */
  #used = 0;
  /** The part of it that belongs to operations under way. */
  #underWay = 0;
  #filled = false;
  #growing: Promise<void> | null = null;
  #waiting: (() => void)[] = [];

  private constructor(env: Environment, path: string, file: FileHandle, allocated: number) {
    this.#env = env;
    this.#path = path;
    this.#file = file;
    this.#allocated = allocated;
    this.#pageBytes = statsOf(env).pageSize;
    this.#measure();
  }

  /** `folder` is the environment's. Throws the file system's error. */
  static async open(env: Environment, folder: string): Promise<Room> {
    const path = join(folder, 'data.mdb');
    const file = await open(path, 'r+');
    const { size } = await file.stat();
    return new Room(env, path, file, size);
  }

  /** Length of the file; all of it has blocks. */
  get allocatedBytes(): number {
    return this.#allocated;
  }

  /** The most that an operation may need, for `reserve` and `release`; `removals` counts further removals in the same transaction. */
  costOf(valueBytes: number, removals = 0): number {
    return (Math.ceil(valueBytes / this.#pageBytes) + 1 + PAGES_PER_OPERATION + removals) * this.#pageBytes;
  }

  /** Takes room if it exists already, leaving `keepBytes` for others. Return it with `release` after the commit. */
  tryReserve(bytes: number, keepBytes = 0): boolean {
    if (!this.#fits(bytes, keepBytes)) this.#measure();
    if (!this.#fits(bytes, keepBytes)) return false;
    this.#used += bytes;
    this.#underWay += bytes;
    return true;
  }

  /**
   * Takes room, and extends the file if necessary; throws the file system's error when that fails. With nothing to keep for others it first
   * waits for operations under way to return their room.
   */
  async reserve(bytes: number, keepBytes = 0): Promise<void> {
    while (!this.tryReserve(bytes, keepBytes)) {
      this.#growing ??= this.#grow(bytes + keepBytes).finally(() => {
        this.#growing = null;
      });
      try {
        await this.#growing;
      } catch (error) {
        if (keepBytes > 0 || this.#underWay === 0) throw error;
        await new Promise<void>((resolve) => this.#waiting.push(resolve));
      }
    }
  }

  release(bytes: number): void {
    this.#underWay -= bytes;
    for (const resume of this.#waiting.splice(0)) resume();
  }

  async close(): Promise<void> {
    await this.#file.close();
  }

  #fits(bytes: number, keepBytes: number): boolean {
    return this.#used + bytes + keepBytes + TRANSACTION_BYTES <= this.#allocated;
  }

  #measure(): void {
    this.#used = (statsOf(this.#env).lastPageNumber + 1) * this.#pageBytes + this.#underWay;
  }

  /** By a generous step, or by the smallest sufficient one when the disk has no room for that. */
  async #grow(missingBytes: number): Promise<void> {
    const least = missingBytes + TRANSACTION_BYTES;
    const step = Math.min(Math.max(this.#allocated / STEP_DIVISOR, MIN_STEP_BYTES), MAX_STEP_BYTES);
    if (step > least) {
      try {
        await this.#append(Math.floor(step));
        return;
      } catch {
        // The disk may have room for less.
      }
    }
    await this.#append(least);
  }

  async #append(bytes: number): Promise<void> {
    const end = this.#allocated + Math.ceil(bytes / this.#pageBytes) * this.#pageBytes;
    const { size } = await this.#file.stat();
    if (!this.#filled && size <= MAX_FILL_BYTES && this.#underWay === 0) await fillHoles(this.#file, size);
    this.#filled = true;
    // LMDB writes below the old end, except for what it wrote before the first growth: never overwrite that.
    const start = Math.max(this.#allocated, size);
    const { bavail, bsize } = await statfs(this.#path);
    if (bavail * bsize < end - start) throw new ServiceError('disk_full');
    const zeros = Buffer.alloc(MIN_STEP_BYTES);
    try {
      for (let at = start; at < end;) {
        const { bytesWritten } = await this.#file.write(zeros, 0, Math.min(zeros.length, end - at), at);
        at += bytesWritten;
      }
      await this.#file.sync();
      this.#allocated = end;
    } catch (error) {
      // Half a step is not kept: others need the last of the disk, too.
      await this.#file.truncate(start).catch(() => undefined);
      throw error;
    }
  }
}

/** Writes a file over itself: the bytes stay the same, but every block is allocated. */
async function fillHoles(file: FileHandle, size: number): Promise<void> {
  const bytes = Buffer.alloc(size);
  for (let at = 0; at < size;) {
    const { bytesRead } = await file.read(bytes, at, size - at, at);
    if (bytesRead === 0) throw new Error('the data file became shorter');
    at += bytesRead;
  }
  for (let at = 0; at < size;) {
    const { bytesWritten } = await file.write(bytes, at, size - at, at);
    at += bytesWritten;
  }
  await file.sync();
}

function statsOf(env: Environment): { readonly pageSize: number; readonly lastPageNumber: number } {
  const { pageSize, lastPageNumber } = env.getStats() as Record<string, unknown>;
  if (typeof pageSize !== 'number' || typeof lastPageNumber !== 'number') {
    throw new Error('LMDB does not tell its size');
  }
  return { pageSize, lastPageNumber };
}
