/**
 * Blobs as files below a folder. A file is completed and made durable under `.tmp`, then named into place, so that it is seen whole or not
 * at all; files that a crash leaves in `.tmp` are deleted at the next start, or a day later. Large content is hard-linked where possible,
 * so that storing it costs no second copy. No symbolic link below the folder is followed. Only one process at a time cleans up: the lock of
 * the data folder enforces that. Others may store and delete meanwhile.
 */
import { randomBytes } from 'node:crypto';
import { constants } from 'node:fs';
import {
  copyFile,
  link,
  lstat,
  mkdir,
  open,
  opendir,
  readdir,
  readFile,
  realpath,
  rename,
  rm,
  rmdir,
  unlink,
  writeFile,
} from 'node:fs/promises';
import { dirname, join } from 'node:path';
import type { Readable } from 'node:stream';
import type {
  BlobStore,
  ByteRange,
  Content,
  StorageIdentity,
  StoredFile,
} from '../../platform/files/file-ports.ts';
import { DAY_MS } from '../../core/durations.ts';
import { codeOf, requireSource, storageFailure } from './failure.ts';
import { formatIdentity, IDENTITY_NAME, parseIdentity } from './identity.ts';
import { parseStoragePath } from './storage-path.ts';

const TEMP_FOLDER = '.tmp';
const TEMP_NAME_BYTES = 12;
/** Folders remembered as existing and durable; each email has one, used only briefly. */
const MAX_KNOWN_FOLDERS = 1000;
const READ_CHUNK_BYTES = 256 * 1024;
/** No write of a file takes this long, in ms. */
const ABANDONED_MS = DAY_MS;
/** Codes for a hard link that can't be made: another file system, one without links, too many links, or not allowed. */
const NO_LINK: ReadonlySet<unknown> = new Set(['EXDEV', 'EPERM', 'EACCES', 'EMLINK', 'ENOTSUP', 'ENOSYS']);
/** Codes for a missing file. ELOOP is not among them: a symbolic link is a fault. */
const NO_FILE: ReadonlySet<unknown> = new Set(['ENOENT', 'ENOTDIR']);

export class FolderBlobStore implements BlobStore {
  /** With symbolic links resolved. */
  readonly #root: string;
  /** Folders that exist and whose names are durable, or are being made so. */
  readonly #known = new Map<string, Promise<void>>();

  private constructor(root: string) {
    this.#root = root;
  }

  /**
   * Creates the folder when missing and deletes files that a crash left; when it is `shared` with other processes, only files so old that
   * no process is still writing them. Throws as `put` does.
   */
  static async open(root: string, shared = false): Promise<FolderBlobStore> {
    try {
      await mkdir(join(root, TEMP_FOLDER), { recursive: true, mode: 0o700 });
      const store = new FolderBlobStore(await realpath(root));
      const temp = join(store.#root, TEMP_FOLDER);
      if (shared) {
        await removeAbandoned(temp);
        return store;
      }
      for (const name of await readdir(temp)) await rm(join(temp, name), { recursive: true, force: true });
      await sync(dirname(store.#root));
      return store;
    } catch (error) {
      throw storageFailure(error);
    }
  }

  /** The content type is not stored: the database has it. */
  async put(path: string, content: Content): Promise<void> {
    const segments = parseStoragePath(path);
    try {
      // Before any name points to it: after a power cut a name must not point to half a file.
      if (content.kind === 'file') {
        await requireSource(content.path);
        await sync(content.path);
      }
      await this.#place(segments, content).catch(async (error: unknown) => {
        if (!NO_FILE.has(codeOf(error))) throw error;
        // A delete in this process, or another process, removed the folder in between.
        this.#known.clear();
        await this.#place(segments, content);
      });
    } catch (error) {
      throw storageFailure(error);
    }
  }

  async get(path: string, range?: ByteRange): Promise<Readable | null> {
    const target = join(this.#root, ...parseStoragePath(path));
    try {
      const folder = dirname(target);
      if ((await realpath(folder)) !== folder) throw new Error(`a symbolic link on the way to ${path}`);
      // Opened before the answer, so that a missing file is noticed; O_NONBLOCK, so that a pipe can't block us.
      const file = await open(target, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
      if (!(await file.stat()).isFile()) {
        await file.close();
        return null;
      }
      return file.createReadStream({ ...range, highWaterMark: READ_CHUNK_BYTES });
    } catch (error) {
      if (NO_FILE.has(codeOf(error)) && (await this.#isThere())) return null;
      throw storageFailure(error);
    }
  }

  async delete(path: string): Promise<void> {
    const segments = parseStoragePath(path);
    const target = join(this.#root, ...segments);
    try {
      const folder = dirname(target);
      if ((await realpath(folder)) !== folder) throw new Error(`a symbolic link on the way to ${path}`);
      await unlink(target);
      await this.#removeEmptyFolders(folder);
    } catch (error) {
      if (NO_FILE.has(codeOf(error)) && (await this.#isThere())) return;
      throw storageFailure(error);
    }
  }

  async *list(): AsyncGenerator<StoredFile> {
    try {
      yield* this.#listFolder([]);
    } catch (error) {
      throw storageFailure(error);
    }
  }

  async check(): Promise<void> {
    const temp = this.#newTempPath();
    try {
      await writeFile(temp, '.', { flag: 'wx', mode: 0o600 });
      await unlink(temp);
    } catch (error) {
      await discard(temp);
      throw storageFailure(error);
    }
  }

  /** A folder becomes another one when it is mounted, unmounted or renamed. */
  readonly identityMaxAgeMs = 0;

  async readIdentity(): Promise<StorageIdentity | null> {
    try {
      return parseIdentity(await readFile(join(this.#root, IDENTITY_NAME), 'utf8'));
    } catch (error) {
      if (NO_FILE.has(codeOf(error)) && (await this.#isThere())) return null;
      throw storageFailure(error);
    }
  }

  async writeIdentity(identity: StorageIdentity, mode: 'create' | 'replace'): Promise<void> {
    const target = join(this.#root, IDENTITY_NAME);
    const temp = this.#newTempPath();
    try {
      await fill(temp, { kind: 'bytes', bytes: formatIdentity(identity) });
      if (mode === 'replace') await rename(temp, target);
      else await createOnce(temp, target);
      await sync(this.#root);
    } catch (error) {
      throw storageFailure(error);
    } finally {
      await discard(temp);
    }
  }

  /** A disk always answers, so no request needs to be aborted. */
  abort(): void {}

  async close(): Promise<void> {}

  async *#listFolder(segments: readonly string[]): AsyncGenerator<StoredFile> {
    const folder = join(this.#root, ...segments);
    const subfolders: string[] = [];
    const found = await opendir(folder).catch((error: unknown) => {
      // Empty folders are deleted with their last file.
      if (segments.length > 0 && codeOf(error) === 'ENOENT') return [];
      throw error;
    });
    for await (const entry of found) {
      if (segments.length === 0 && (entry.name === TEMP_FOLDER || entry.name === IDENTITY_NAME)) continue;
      if (entry.isDirectory()) subfolders.push(entry.name);
      if (!entry.isFile()) continue;
      const stats = await lstat(join(folder, entry.name)).catch(() => null);
      if (stats === null) continue;
      // Not the time of its bytes: a file that was linked into place keeps the time of the original.
      yield { path: [...segments, entry.name].join('/'), sizeBytes: stats.size, storedAt: stats.ctime };
    }
    for (const name of subfolders) yield* this.#listFolder([...segments, name]);
  }

  async #place(segments: readonly [string, ...string[]], content: Content): Promise<void> {
    const target = join(this.#root, ...segments);
    const folder = dirname(target);
    // Otherwise, while a disk is not mounted, files would be written into its mount point.
    if (!(await this.#isThere())) throw new Error(`not there: ${this.#root}`);
    const ready = this.#ensureFolder(segments.slice(0, -1));
    if (content.kind === 'file') {
      await ready;
      if (await tryLink(content.path, target)) {
        await sync(folder);
        return;
      }
    }
    const temp = this.#newTempPath();
    const filled = fill(temp, content);
    try {
      await Promise.allSettled([ready, filled]);
      await ready;
      await filled;
      await rename(temp, target);
    } finally {
      // Also after success: renaming onto another link of the same file does nothing (POSIX rename).
      await discard(temp);
    }
    await sync(folder);
  }

  /** Creates a folder and those above it. Each is a real folder whose name is durable. */
  #ensureFolder(segments: readonly string[]): Promise<void> {
    if (segments.length === 0) return Promise.resolve();
    const path = join(this.#root, ...segments);
    const known = this.#known.get(path);
    if (known !== undefined) return known;

    const made = this.#makeFolder(path, segments);
    if (this.#known.size >= MAX_KNOWN_FOLDERS) this.#known.clear();
    this.#known.set(path, made);
    made.catch(() => {
      if (this.#known.get(path) === made) this.#known.delete(path);
    });
    return made;
  }

  async #makeFolder(path: string, segments: readonly string[]): Promise<void> {
    await this.#ensureFolder(segments.slice(0, -1));
    try {
      await mkdir(path, { mode: 0o700 });
    } catch (error) {
      if (codeOf(error) !== 'EEXIST') throw error;
      if (!(await lstat(path)).isDirectory()) throw new Error(`not a folder: ${path}`, { cause: error });
    }
    await sync(dirname(path));
  }

  async #removeEmptyFolders(folder: string): Promise<void> {
    for (let path = folder; path !== this.#root; path = dirname(path)) {
      this.#known.delete(path);
      try {
        await rmdir(path);
      } catch {
        return; // Most likely not empty; an empty folder does no harm either.
      }
    }
  }

  /** Distinguishes a missing file from an unavailable store, such as a disk that is not mounted. */
  async #isThere(): Promise<boolean> {
    return lstat(join(this.#root, TEMP_FOLDER)).then(
      (found) => found.isDirectory(),
      () => false,
    );
  }

  #newTempPath(): string {
    return join(this.#root, TEMP_FOLDER, randomBytes(TEMP_NAME_BYTES).toString('hex'));
  }
}

async function removeAbandoned(temp: string): Promise<void> {
  // By the clock of the file system, which dates the files: that of this machine may differ, or jump.
  const mark = join(temp, randomBytes(TEMP_NAME_BYTES).toString('hex'));
  await writeFile(mark, '');
  const before = (await lstat(mark)).mtimeMs - ABANDONED_MS;
  await discard(mark);
  for (const name of await readdir(temp)) {
    const file = join(temp, name);
    const stats = await lstat(file).catch(() => null);
    if (stats !== null && stats.mtimeMs < before) await discard(file);
  }
}

/** False when the file exists already or a link can't be made. Throws ENOENT when the folder is gone. */
async function tryLink(source: string, target: string): Promise<boolean> {
  try {
    await link(source, target);
    return true;
  } catch (error) {
    if (codeOf(error) === 'EEXIST' || NO_LINK.has(codeOf(error))) return false;
    throw error;
  }
}

/** Names a file into place unless there is one. Where no link can be made, its caller keeps others from making one. */
async function createOnce(temp: string, target: string): Promise<void> {
  if (await tryLink(temp, target)) return;
  const isThere = await lstat(target).then(
    () => true,
    (error: unknown) => {
      if (NO_FILE.has(codeOf(error))) return false;
      throw error;
    },
  );
  if (!isThere) await rename(temp, target);
}

/** Writes a complete and durable new file; a source file is durable already. */
async function fill(temp: string, content: Content): Promise<void> {
  if (content.kind === 'file') {
    if (await tryLink(content.path, temp)) return;
    await copyFile(content.path, temp, constants.COPYFILE_EXCL | constants.COPYFILE_FICLONE);
    await sync(temp);
    return;
  }
  const file = await open(temp, 'wx', 0o600);
  try {
    await file.writeFile(content.bytes);
    await file.sync();
  } finally {
    await file.close();
  }
}

/** Waits until a file's bytes or a folder's names are on the disk. */
async function sync(path: string): Promise<void> {
  const file = await open(path, constants.O_RDONLY | constants.O_NOFOLLOW);
  try {
    await file.sync();
  } finally {
    await file.close();
  }
}

async function discard(temp: string): Promise<void> {
  await unlink(temp).catch(() => undefined);
}
