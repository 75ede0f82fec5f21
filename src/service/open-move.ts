/** A part of the composition root: DATA_DIR, the configured database, and another one that it is moved to. */
import { lockDataDir } from '../connectors/data-dir/data-dir-lock.ts';
import type { Logger } from '../platform/base/basics.ts';
import type { Config } from '../config/config.ts';
import { openUnlimitedDatabase, type OpenDatabase } from './open-database.ts';
import { openBlobs, openJournal, ownStorageOf } from './open-storage.ts';
import { settleLeftSends } from './settle-left-sends.ts';
import { takeDown, type Teardown } from './teardown.ts';

export interface OpenMove {
  readonly source: OpenDatabase['openUnlimited'];
  readonly target: OpenDatabase['openUnlimited'];
  /** Stores the outcomes in the journal; returns how many sends are left there. */
  settleJournal(): Promise<number>;
  close(): Promise<void>;
}

/** For transactions of different stores. */
const CONNECTIONS = 4;

/**
 * Throws `DataDirError` when another process has DATA_DIR; nothing stays open then.
 *
 * @param to null: the embedded server of DATA_DIR. If it equals the configured one, only that is opened
 */
export async function openMove(config: Config, to: string | null, logger: Logger): Promise<OpenMove> {
  const teardown: Teardown = [];
  const close = () => takeDown(teardown, logger);
  try {
    const lock = await lockDataDir(config.dataDir);
    teardown.push(() => lock.release());
    const source = await openUnlimitedDatabase(config, config.databaseUrl, logger, teardown);
    const target =
      to === config.databaseUrl ? source : await openUnlimitedDatabase(config, to, logger, teardown);
    return { source, target, settleJournal: () => settle(config, source, logger), close };
  } catch (error) {
    await close();
    throw error;
  }
}

async function settle(
  config: Config,
  source: OpenDatabase['openUnlimited'],
  logger: Logger,
): Promise<number> {
  const closing: Teardown = [];
  try {
    const { journal } = await openJournal(config, logger, closing);
    const pool = source(new AbortController().signal, CONNECTIONS);
    closing.push(() => pool.end());
    const { blobs } = ownStorageOf(await openBlobs(config, closing, false), { pool, patient: pool }, logger);
    return await settleLeftSends(config, { journal, pool, blobs }, logger);
  } finally {
    for (const step of closing.toReversed()) await step();
  }
}
