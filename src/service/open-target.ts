/**
 * A part of the composition root: DATA_DIR and a database that a backup is restored into. No other process may have
 * DATA_DIR; the database is not migrated, and not used for anything else.
 */
import path from 'node:path';
import { lockDataDir } from '../connectors/data-dir/data-dir-lock.ts';
import { createSpool } from '../connectors/journal/spool.ts';
import type { Logger } from '../platform/base/basics.ts';
import type { BlobStore, Spool } from '../platform/files/file-ports.ts';
import type { Config } from '../config/config.ts';
import { openUnlimitedDatabase, type OpenDatabase } from './open-database.ts';
import { openBlobs } from './open-storage.ts';
import { takeDown, type Teardown } from './teardown.ts';

export interface OpenTarget {
  readonly openUnlimited: OpenDatabase['openUnlimited'];
  readonly blobs: BlobStore;
  readonly spool: Spool;
  close(): Promise<void>;
}

/** Throws `DataDirError` when another process has DATA_DIR; nothing stays open then. */
export async function openTarget(config: Config, logger: Logger): Promise<OpenTarget> {
  const teardown: Teardown = [];
  const close = () => takeDown(teardown, logger);
  try {
    const lock = await lockDataDir(config.dataDir);
    teardown.push(() => lock.release());
    const blobs = await openBlobs(config, teardown, false);
    const openUnlimited = await openUnlimitedDatabase(config, config.databaseUrl, logger, teardown);
    return {
      openUnlimited,
      blobs,
      spool: createSpool(path.join(config.dataDir, 'spool')),
      close,
    };
  } catch (error) {
    await close();
    throw error;
  }
}
