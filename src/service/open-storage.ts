/** A part of the composition root: the files, the database and the journal of a locked DATA_DIR. */
import path from 'node:path';
import { createBlobStore } from '../connectors/blob/create.ts';
import { LmdbJournal } from '../connectors/journal/lmdb-journal.ts';
import { createSpool, type DiskSpool } from '../connectors/journal/spool.ts';
import type { BlobStore, RequireCertainty } from '../platform/files/file-ports.ts';
import type { Logger } from '../platform/base/basics.ts';
import type { ClockGuard } from '../platform/base/clock-guard.ts';
import type { Config } from '../config/config.ts';
import { createStorageRecord } from '../platform/files/storage-record.ts';
import { OwnStorage } from '../platform/files/own-storage.ts';
import type { CutOff } from './cut-off.ts';
import { createIdSource } from './id-source.ts';
import { openDatabase, type OpenDatabase } from './open-database.ts';
import type { Teardown } from './teardown.ts';

export interface OpenStorage extends OpenDatabase {
  /** Refuses to work on a storage that is not the one of this database. */
  readonly blobs: BlobStore;
  readonly ownStorage: OwnStorage;
  readonly spool: DiskSpool;
  readonly journal: LmdbJournal;
}

/** Adds the steps to undo to `teardown`. Throws when a part can't be opened. */
export async function openStorage(
  config: Config,
  logger: Logger,
  teardown: Teardown,
  { cutOff, signal }: { readonly cutOff?: CutOff; readonly signal?: AbortSignal | undefined } = {},
): Promise<OpenStorage> {
  const blobs = await openBlobs(config, teardown, false);
  cutOff?.add(blobs);
  const database = await openDatabase(config, logger, teardown, { signal, cut: cutOff?.database });
  const own = ownStorageOf(blobs, database, logger);
  return { ...database, ...own, ...(await openJournal(config, logger, teardown)) };
}

/** Asks neither of the two yet. */
export function ownStorageOf(
  blobs: BlobStore,
  { pool, patient }: Pick<OpenDatabase, 'pool' | 'patient'>,
  logger: Logger,
): Pick<OpenStorage, 'blobs' | 'ownStorage'> {
  const ownStorage = new OwnStorage({
    blobs,
    record: createStorageRecord(pool, patient),
    ids: createIdSource(),
    logger,
    now: () => performance.now(),
  });
  return { blobs: ownStorage.blobs, ownStorage };
}

/** What a process needs before it deletes anything for good. */
export const certaintyOf =
  ({
    ownStorage,
    guard,
  }: Pick<OpenStorage, 'ownStorage'> & { readonly guard: ClockGuard }): RequireCertainty =>
  async () => {
    await ownStorage.require();
    await guard.require();
  };

export async function openJournal(
  { dataDir }: Config,
  logger: Logger,
  teardown: Teardown,
): Promise<Pick<OpenStorage, 'spool' | 'journal'>> {
  const spool = createSpool(path.join(dataDir, 'spool'));
  const journal = await LmdbJournal.open({ folder: path.join(dataDir, 'journal'), spool, logger });
  teardown.push(() => journal.close());
  return { spool, journal };
}

/** `shared`: another process has DATA_DIR. */
export async function openBlobs(config: Config, teardown: Teardown, shared: boolean): Promise<BlobStore> {
  const blobs = await createBlobStore({
    url: config.blobUrl,
    folder: path.join(config.dataDir, 'files'),
    shared,
    credentials: config.s3Credentials,
  });
  teardown.push(() => blobs.close());
  return blobs;
}
