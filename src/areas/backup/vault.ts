/** A place that holds backups: objects in a folder or a bucket, compressed, and encrypted on request. */
import { createHash } from 'node:crypto';
import { promisify } from 'node:util';
import { constants, gunzip, gzip } from 'node:zlib';
import { isCompressed, type FileEntry, piecesOf } from '../../core/backup/file-entry.ts';
import {
  BackupError,
  formatManifest,
  parseManifest,
  type Manifest,
  type StoredStream,
} from '../../core/backup/manifest.ts';
import type { BlobStore } from '../../platform/files/file-ports.ts';

/** Encrypts objects, each on its own. */
export interface Cipher {
  /** The suffix of each object's name. */
  readonly suffix: string;
  encrypt(bytes: Uint8Array): Promise<Uint8Array>;
  /** Rejects when another key encrypted it, or when it was changed since. */
  decrypt(bytes: Uint8Array): Promise<Uint8Array>;
  /** A name for content that reveals nothing about it without the key. */
  nameOf(sha256: string): string;
}

export interface BackupName {
  /** Sorts by time. */
  readonly id: string;
  /** True if its manifest exists. */
  readonly isWhole: boolean;
}

/** The two folders of a place; see core/backup/manifest.ts. */
export interface VaultStores {
  readonly backups: BlobStore;
  readonly files: BlobStore;
}

/** Bytes in memory at once, and so the bound of an object's size; making one needs a few times as much. */
export const PIECE_BYTES = 8 * 1024 * 1024;
/** Files under way at the same moment: latency is what takes the time. */
export const FILES_AT_ONCE = 4;
/**
 * The overhead that compression and encryption may add; a manifest with a part for each day of years stays below it as
 * well.
 */
const MAX_OBJECT_BYTES = PIECE_BYTES + 1024 * 1024;
const ID = /^\d{4}-\d\d-\d\dT\d\d-\d\d-\d\d-\d{3}Z$/;
const CONTENT_TYPE = 'application/octet-stream';
/** Takes half the time of the default level, for a few per cent more bytes. */
const GZIP_LEVEL = 4;

const toGzip = promisify<Buffer, { level: number }, Buffer>(gzip);
const fromGzip = promisify<Buffer, { maxOutputLength: number; finishFlush: number }, Buffer>(gunzip);

export class Vault {
  readonly #backups: BlobStore;
  readonly #files: BlobStore;
  readonly #cipher: Cipher | null;

  constructor({ backups, files }: VaultStores, cipher: Cipher | null) {
    this.#backups = backups;
    this.#files = files;
    this.#cipher = cipher;
  }

  static idOf(takenAt: Date): string {
    return takenAt.toISOString().replaceAll(/[:.]/g, '-');
  }

  /** Throws when the place can't be written to. */
  check(): Promise<void> {
    return this.#backups.check();
  }

  /** All backups, the oldest first, interrupted ones included. */
  async list(): Promise<readonly BackupName[]> {
    const found = new Map<string, boolean>();
    for await (const { path } of this.#backups.list()) {
      const [id = '', ...rest] = path.split('/');
      if (!ID.test(id)) continue;
      const isManifest = rest.length === 1 && rest[0]?.startsWith('manifest.json') === true;
      found.set(id, isManifest || found.get(id) === true);
    }
    return [...found].map(([id, isWhole]) => ({ id, isWhole })).sort((a, b) => (a.id < b.id ? -1 : 1));
  }

  /** Makes the backup whole. */
  writeManifest(id: string, manifest: Manifest): Promise<void> {
    return this.#put(
      this.#backups,
      `${id}/manifest.json${this.#suffix}`,
      Buffer.from(formatManifest(manifest)),
      false,
    );
  }

  /** Throws BackupError when it is missing, damaged or made with another key. */
  async readManifest(id: string): Promise<Manifest> {
    const bytes = await this.#get(this.#backups, `${id}/manifest.json${this.#suffix}`, false);
    if (bytes !== null) return parseManifest(bytes.toString());
    const other = this.#cipher === null ? 'it is encrypted: BACKUP_KEY is needed' : 'it is not encrypted';
    const isThere = (await this.list()).some((backup) => backup.id === id && backup.isWhole);
    throw new BackupError(
      isThere ? `the backup ${id} can't be read: ${other}` : `there is no whole backup ${id}`,
    );
  }

  /** Stores a stream in pieces; `path` is relative to the backup. */
  async writeStream(id: string, path: string, source: AsyncIterable<Buffer>): Promise<StoredStream> {
    const hash = createHash('sha256');
    let pieces = 0;
    let sizeBytes = 0;
    for await (const piece of cutPieces(source)) {
      hash.update(piece);
      sizeBytes += piece.length;
      pieces += 1;
      await this.#put(this.#backups, this.#nameInBackup(id, path, pieces), piece, true);
    }
    return { pieces, sizeBytes, sha256: hash.digest('hex') };
  }

  /** Throws BackupError, at the end at the latest, when the content differs from what was written. */
  async *readStream(id: string, path: string, stored: StoredStream): AsyncGenerator<Buffer> {
    const hash = createHash('sha256');
    for (let number = 1; number <= stored.pieces; number += 1) {
      const name = this.#nameInBackup(id, path, number);
      const piece = await this.#get(this.#backups, name, true);
      if (piece === null) throw new BackupError(`the backup ${id} is damaged: ${name} is missing`);
      hash.update(piece);
      yield piece;
    }
    if (hash.digest('hex') !== stored.sha256)
      throw new BackupError(`the backup ${id} is damaged: ${path} is not what was written`);
  }

  /** True when the vault already has a piece of the file. */
  async hasPiece(path: string, sha256: string): Promise<boolean> {
    const stream = await this.#files.get(this.#nameInFiles(path, sha256), { start: 0, end: 0 });
    if (stream === null) return false;
    for await (const chunk of stream) void chunk;
    return true;
  }

  /** @param path of the file, which decides how the piece is kept */
  putPiece(path: string, sha256: string, piece: Buffer): Promise<void> {
    return this.#put(this.#files, this.#nameInFiles(path, sha256), piece, isCompressed(path));
  }

  /** The content of a file. Throws BackupError when it differs from what was backed up. */
  async *readFile(entry: FileEntry): AsyncGenerator<Buffer> {
    let sizeBytes = 0;
    for (const sha256 of piecesOf(entry)) {
      const piece = await this.#get(
        this.#files,
        this.#nameInFiles(entry.path, sha256),
        isCompressed(entry.path),
      );
      if (piece === null) throw new BackupError(`a piece of the file ${entry.path} is missing`);
      if (createHash('sha256').update(piece).digest('hex') !== sha256)
        throw new BackupError(`a piece of the file ${entry.path} is not what was written`);
      sizeBytes += piece.length;
      yield piece;
    }
    if (sizeBytes !== entry.sizeBytes)
      throw new BackupError(`the file ${entry.path} is not what was written`);
  }

  #nameInBackup(id: string, path: string, number: number): string {
    return `${id}/${path}-${String(number).padStart(5, '0')}.gz${this.#suffix}`;
  }

  /** The name of the object that holds a piece of a file. */
  #nameInFiles(path: string, sha256: string): string {
    const name = this.#cipher?.nameOf(sha256) ?? sha256;
    return `${name.slice(0, 2)}/${name}${isCompressed(path) ? '.gz' : ''}${this.#suffix}`;
  }

  /** Deletes backups: first the manifests of all of them, so that none looks whole. */
  async removeBackups(ids: readonly string[]): Promise<void> {
    for (const id of ids) await this.#backups.delete(`${id}/manifest.json${this.#suffix}`);
    const removed = new Set(ids);
    for await (const { path } of this.#backups.list()) {
      if (removed.has(path.split('/', 1)[0] ?? '')) await this.#backups.delete(path);
    }
  }

  /** Deletes the objects of files that are no longer in use; returns how many. */
  async removeUnusedFiles(isUsed: (objectName: string) => boolean): Promise<number> {
    let removed = 0;
    for await (const { path } of this.#files.list()) {
      if (isUsed(path)) continue;
      await this.#files.delete(path);
      removed += 1;
    }
    return removed;
  }

  /** The names of the objects that a file consists of. */
  objectsOf(entry: FileEntry): readonly string[] {
    return piecesOf(entry).map((sha256) => this.#nameInFiles(entry.path, sha256));
  }

  async close(): Promise<void> {
    await this.#backups.close();
    await this.#files.close();
  }

  get #suffix(): string {
    return this.#cipher?.suffix ?? '';
  }

  async #put(store: BlobStore, name: string, bytes: Buffer, compress: boolean): Promise<void> {
    const packed = compress ? await toGzip(bytes, { level: GZIP_LEVEL }) : bytes;
    const sealed = this.#cipher === null ? packed : Buffer.from(await this.#cipher.encrypt(packed));
    await store.put(name, { kind: 'bytes', bytes: sealed }, CONTENT_TYPE);
  }

  async #get(store: BlobStore, name: string, compressed: boolean): Promise<Buffer | null> {
    const stream = await store.get(name);
    if (stream === null) return null;
    const chunks: Buffer[] = [];
    let sizeBytes = 0;
    for await (const chunk of stream as AsyncIterable<Buffer>) {
      sizeBytes += chunk.length;
      if (sizeBytes > MAX_OBJECT_BYTES) throw new BackupError(`${name} is larger than what was written`);
      chunks.push(chunk);
    }
    return await this.#open(name, Buffer.concat(chunks), compressed);
  }

  async #open(name: string, sealed: Buffer, compressed: boolean): Promise<Buffer> {
    let packed = sealed;
    if (this.#cipher !== null) {
      packed = await this.#cipher.decrypt(sealed).then(
        (bytes) => Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength),
        (cause: unknown) => {
          throw new BackupError(`${name} is damaged, or was encrypted with another key`, { cause });
        },
      );
    }
    if (!compressed) return packed;
    try {
      return await fromGzip(packed, { maxOutputLength: PIECE_BYTES, finishFlush: constants.Z_FINISH });
    } catch (cause) {
      throw new BackupError(`${name} is damaged`, { cause });
    }
  }
}

/** The same bytes in pieces of PIECE_BYTES, the last one shorter; none for an empty stream. */
export async function* cutPieces(source: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
  let chunks: Buffer[] = [];
  let sizeBytes = 0;
  for await (const whole of source) {
    let chunk = whole;
    while (sizeBytes + chunk.length >= PIECE_BYTES) {
      const room = PIECE_BYTES - sizeBytes;
      yield Buffer.concat([...chunks, chunk.subarray(0, room)]);
      chunk = chunk.subarray(room);
      chunks = [];
      sizeBytes = 0;
    }
    if (chunk.length === 0) continue;
    chunks.push(chunk);
    sizeBytes += chunk.length;
  }
  if (sizeBytes > 0) yield Buffer.concat(chunks);
}
