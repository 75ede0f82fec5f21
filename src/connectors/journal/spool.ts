/**
 * Scratch files of single requests: one folder each, below one root that belongs to this process alone.
 * Nothing here is durable until `sync()`; folders without an owner after a crash are deleted by `sweep()`.
 */
import { isAscii } from 'node:buffer';
import { randomBytes } from 'node:crypto';
import { mkdir, open, readdir, rename, rm, unlink } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import type { Spool, SpoolFile, SpoolFolder } from '../../platform/files/file-ports.ts';
import { diskFailure, syncFolder } from './disk.ts';

/** Random bytes in a folder's name; enough that names never repeat. */
const NAME_BYTES = 12;
const FOLDER_NAME = /^[0-9a-f]{24}$/;

/** A spool below `root`, which is created when missing. Only the owner can read the files. */
export function createSpool(root: string): DiskSpool {
  return new DiskSpool(root);
}

/** The spool, with the operations that the journal needs besides `create`. */
export class DiskSpool implements Spool {
  readonly root: string;

  constructor(root: string) {
    this.root = root;
  }

  create(): DiskSpoolFolder {
    return new DiskSpoolFolder(this.root);
  }

  /** Path of a file in the folder of that name. Throws when either name could lead out of the spool. */
  resolve(folderName: string, fileName: string): string {
    if (!FOLDER_NAME.test(folderName) || fileName !== basename(fileName) || fileName.startsWith('.')) {
      throw new Error(`not a file of the spool: ${folderName}/${fileName}`);
    }
    return join(this.root, folderName, fileName);
  }

  /** Deletes a folder by name; does nothing when there is none. */
  async delete(folderName: string): Promise<void> {
    if (FOLDER_NAME.test(folderName)) {
      await rm(join(this.root, folderName), { recursive: true, force: true });
    }
  }

  /** Deletes every folder except those in `keep`; only before the first `create`. Returns the number of deleted folders. */
  async sweep(keep: ReadonlySet<string>): Promise<number> {
    await mkdir(this.root, { recursive: true, mode: 0o700 });
    const stale = (await readdir(this.root)).filter((name) => FOLDER_NAME.test(name) && !keep.has(name));
    for (const name of stale) await this.delete(name);
    return stale.length;
  }
}

/** One request's folder. Its owner is the request until the journal takes it over. */
export class DiskSpoolFolder implements SpoolFolder {
  readonly #root: string;
  #name: string | null = null;
  readonly #files: string[] = [];
  #made: Promise<unknown> | null = null;
  #nextFile = 1;
  #owner: 'request' | 'journal' | 'none' = 'request';

  constructor(root: string) {
    this.#root = root;
  }

  /** Created when it is first asked for: most requests never use their folder. */
  get name(): string {
    return (this.#name ??= randomBytes(NAME_BYTES).toString('hex'));
  }

  get path(): string {
    return join(this.#root, this.name);
  }

  /** True once a file was begun, so that the folder exists on the disk. */
  get used(): boolean {
    return this.#made !== null;
  }

  async write(source: AsyncIterable<Buffer>): Promise<SpoolFile> {
    const path = await this.#newPath();
    const file = await open(path, 'wx', 0o600).catch((error: unknown) => {
      throw diskFailure(error);
    });
    let sizeBytes = 0;
    let ascii = true;
    try {
      for await (const chunk of source) {
        // Waiting for each write gives back-pressure: meanwhile the source is not asked for more.
        await file.writeFile(chunk).catch((error: unknown) => {
          throw diskFailure(error);
        });
        sizeBytes += chunk.length;
        ascii &&= isAscii(chunk);
      }
      await file.close();
    } catch (error) {
      await file.close().catch(() => undefined);
      await unlink(path).catch(() => undefined);
      throw error;
    }
    this.#files.push(path);
    return { kind: 'file', path, sizeBytes, isAscii: ascii };
  }

  async adopt({ path: old, ...rest }: SpoolFile): Promise<SpoolFile> {
    const path = await this.#newPath();
    await rename(old, path).catch((error: unknown) => {
      throw diskFailure(error);
    });
    this.#files.push(path);
    return { ...rest, path };
  }

  async #newPath(): Promise<string> {
    if (this.#owner !== 'request') throw new Error('the spool folder is not open for writing any more');
    const path = join(this.path, String(this.#nextFile++));
    this.#made ??= makeFolder(this.path);
    await this.#made.catch((error: unknown) => {
      throw diskFailure(error);
    });
    return path;
  }

  /** Makes everything written so far survive a power cut: the files, then the folders that name them. */
  async sync(): Promise<void> {
    if (!this.used) return;
    try {
      await Promise.all(this.#files.map((path) => syncFile(path)));
      await syncFolder(this.path);
      await syncFolder(dirname(this.path));
    } catch (error) {
      throw diskFailure(error);
    }
  }

  /** Gives the folder to the journal: `remove` of the request does nothing from now on. */
  handOver(): void {
    if (this.#owner !== 'request') throw new Error('the spool folder has no request any more');
    this.#owner = 'journal';
  }

  /** Takes the folder back when the journal did not keep the entry. */
  handBack(): void {
    this.#owner = 'request';
  }

  async remove(): Promise<void> {
    if (this.#owner !== 'request') return;
    this.#owner = 'none';
    if (this.#made === null) return;
    await this.#made.catch(() => undefined);
    await rm(this.path, { recursive: true, force: true });
  }
}

async function makeFolder(path: string): Promise<void> {
  try {
    await mkdir(path, { mode: 0o700 });
  } catch (error) {
    if (!(error instanceof Error && 'code' in error && error.code === 'ENOENT')) throw error;
    // Not in one call: on a full disk Node's recursive mkdir reports ENOENT instead of ENOSPC.
    await mkdir(dirname(path), { recursive: true, mode: 0o700 });
    await mkdir(path, { mode: 0o700 });
  }
}

async function syncFile(path: string): Promise<void> {
  const file = await open(path, 'r');
  try {
    await file.sync();
  } finally {
    await file.close();
  }
}
