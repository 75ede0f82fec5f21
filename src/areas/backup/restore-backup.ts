/**
 * Restores a backup: first the files, then the database in one transaction. A file without a record is harmless; a record
 * appears only when all files exist. An empty database is marked first, so that no service starts on it if the restore is
 * interrupted.
 */
import { createHash } from 'node:crypto';
import { isAbsent, type FileEntry } from '../../core/backup/file-entry.ts';
import { BackupError, type Manifest } from '../../core/backup/manifest.ts';
import { eachAtOnce } from '../../platform/base/each-at-once.ts';
import type { BlobStore, Content, Spool } from '../../platform/files/file-ports.ts';
import type { LoadResult, RestoreTarget, WaitingSendsPolicy } from './backup-ports.ts';
import { readFileLines } from './file-list.ts';
import { FILES_AT_ONCE, PIECE_BYTES, type Vault } from './vault.ts';

export interface RestorePorts {
  readonly vault: Vault;
  readonly target: RestoreTarget;
  readonly blobs: Pick<BlobStore, 'get' | 'put' | 'readIdentity'>;
  readonly spool: Spool;
}

export interface RestoreOptions {
  readonly id: string;
  readonly migrations: readonly string[];
  readonly serviceVersion: string;
  /** Also restore into a database that holds emails: they are lost. */
  readonly replace: boolean;
  readonly policy: Exclude<WaitingSendsPolicy, 'keep'>;
  readonly signal: AbortSignal;
  readonly onStep: (text: string) => void;
}

export interface RestoreResult extends LoadResult {
  readonly manifest: Manifest;
  /** Without files that the storage already had. */
  readonly storedFiles: number;
}

/** Throws BackupError, with nothing changed when the backup or the database does not allow a restore. */
export async function restoreBackup(ports: RestorePorts, options: RestoreOptions): Promise<RestoreResult> {
  const { vault, target } = ports;
  const { id, signal, onStep } = options;
  const manifest = await vault.readManifest(id);
  if (manifest.migrations.join() !== options.migrations.join()) {
    throw new BackupError(
      `the backup is of email-worker ${manifest.serviceVersion}, whose database is another one than that of ` +
        `${options.serviceVersion}: restore it with the version that made it, then update`,
    );
  }
  await refuseOthers(target, 'the database');
  const state = await target.readState();
  if (state.kind === 'filled' && !options.replace) {
    throw new BackupError(
      `the database holds ${state.emails} emails; --replace restores in their place, and they are gone then`,
    );
  }
  const storageId = await chooseStorage(ports, id, manifest);
  if (state.kind !== 'filled') await target.markUnfinished();

  onStep('restoring files');
  const storedFiles = await restoreFiles(ports, id, manifest, signal);
  signal.throwIfAborted();
  onStep('restoring the database');
  const loaded = await target.load(
    {
      ...manifest,
      takenAt: new Date(manifest.takenAt),
      storageId,
      readTable: (table) => {
        signal.throwIfAborted();
        const part = manifest.tables.find(({ name }) => name === table.name);
        if (part === undefined) throw new BackupError(`the backup has no table ${table.name}`);
        return vault.readStream(id, `tables/${part.name}`, part);
      },
    },
    options.policy,
  );
  return { ...loaded, manifest, storedFiles };
}

/**
 * The storage that the restored database goes on with: the one that it had, or that the database in its place had; null
 * for a storage without an identity, which the next start makes its own. Throws BackupError for the storage of another
 * database.
 */
async function chooseStorage(
  { vault, target, blobs }: RestorePorts,
  id: string,
  manifest: Manifest,
): Promise<string | null> {
  const found = await blobs.readIdentity();
  if (found === null || found.id === (await target.readStorageId())) return found?.id ?? null;
  const part = manifest.tables.find(({ name }) => name === 'storage_identity');
  let row = '';
  if (part !== undefined) {
    for await (const piece of vault.readStream(id, `tables/${part.name}`, part)) row += String(piece);
  }
  const [backedUp = null] = /[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}/.exec(row) ?? [];
  if (found.id === backedUp) return found.id;
  throw new BackupError(
    `the storage is that of another database: it has the identity ${found.id}, made for the database ${JSON.stringify(found.database)}, ` +
      `and the backup is of a database with the storage ${backedUp ?? 'of none'}; choose another folder, bucket or prefix`,
  );
}

/** Throws BackupError when services or commands are connected. */
export async function refuseOthers(
  { countOthers }: Pick<RestoreTarget, 'countOthers'>,
  named: string,
): Promise<void> {
  const others = (await countOthers()) ?? 0;
  if (others > 0) {
    throw new BackupError(
      `${others} other connections of email-worker use ${named}; stop all services and commands first`,
    );
  }
}

async function restoreFiles(
  ports: RestorePorts,
  id: string,
  manifest: Manifest,
  signal: AbortSignal,
): Promise<number> {
  let stored = 0;
  await eachAtOnce(
    readFileLines(ports.vault, id, manifest),
    FILES_AT_ONCE,
    async (line) => {
      if (!isAbsent(line) && (await restoreFile(ports, line))) stored += 1;
    },
    signal,
  );
  return stored;
}

/** False when the storage already has it. */
async function restoreFile({ vault, blobs, spool }: RestorePorts, entry: FileEntry): Promise<boolean> {
  if (await isStored(blobs, entry)) return false;
  const type = entry.path.startsWith('_raw/') ? 'message/rfc822' : 'application/octet-stream';
  if (entry.sizeBytes <= PIECE_BYTES) {
    const pieces: Buffer[] = [];
    for await (const piece of vault.readFile(entry)) pieces.push(piece);
    await blobs.put(entry.path, { kind: 'bytes', bytes: Buffer.concat(pieces) }, type);
    return true;
  }
  const folder = spool.create();
  try {
    const content: Content = await folder.write(vault.readFile(entry));
    await blobs.put(entry.path, content, type);
  } finally {
    await folder.remove();
  }
  return true;
}

async function isStored(blobs: Pick<BlobStore, 'get'>, entry: FileEntry): Promise<boolean> {
  const stream = await blobs.get(entry.path);
  if (stream === null) return false;
  const hash = createHash('sha256');
  for await (const chunk of stream as AsyncIterable<Buffer>) hash.update(chunk);
  return hash.digest('hex') === entry.sha256;
}
