/**
 * A part of the composition root: the data that commands work with. When no process has DATA_DIR, the command takes it
 * and starts what it needs, without listeners and loops. Otherwise it works beside the service: with the same database
 * and files, but without the journal. See docs/decisions/0008-commands.md.
 */
import { createReadStream } from 'node:fs';
import { readdir } from 'node:fs/promises';
import path from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { DataDirError, lockDataDir, type DataDirLock } from '../connectors/data-dir/data-dir-lock.ts';
import { createSpool } from '../connectors/journal/spool.ts';
import { createInboundStore } from '../areas/receive/record-inbound.ts';
import { createVariantStore } from '../areas/emails/variants.ts';
import { createReportStore } from '../areas/receive/delivery-reports.ts';
import { createRethreadStore } from '../areas/threads/rethread-store.ts';
import { createSendOperations } from '../areas/send/send-operations.ts';
import type { Application } from '../api/application.ts';
import { createSendActs } from '../areas/send/operate-sends.ts';
import type { ClockGuard } from '../platform/base/clock-guard.ts';
import type { Account, Clock, IdSource, Logger } from '../platform/base/basics.ts';
import type { BlobStore, ByteRange, RequireCertainty, Spool } from '../platform/files/file-ports.ts';
import type { Journal } from '../areas/send/journal-ports.ts';
import type { MessageReader } from '../platform/reading/reading-ports.ts';
import { receiveMessage } from '../areas/receive/receive-message.ts';
import { rethread, type RethreadOptions, type RethreadResult } from '../areas/threads/rethread.ts';
import { UnreadableMail } from '../platform/reading/unreadable-mail.ts';
import type { Config } from '../config/config.ts';
import { AccountRegistry, openStoredAccounts } from './account-registry.ts';
import { createClockGuard } from './create-clock-guard.ts';
import { createReader } from './create-reader.ts';
import { createIdSource } from './id-source.ts';
import { findDatabase, type OpenDatabase } from './open-database.ts';
import { certaintyOf, openBlobs, openStorage, ownStorageOf, type OpenStorage } from './open-storage.ts';
import { takeDown, type Teardown } from './teardown.ts';

/** Database, files, journal, and the use cases that commands call. */
export interface OpenData extends OpenDatabase, Pick<Application, 'receiveMessage'> {
  rethread(options: RethreadOptions): Promise<RethreadResult>;
  readonly blobs: BlobStore;
  readonly guard: ClockGuard;
  readonly requireCertainty: RequireCertainty;
  readonly requireStorage: () => Promise<void>;
  readonly reader: MessageReader;
  readonly unreadable: UnreadableMail;
  /** For large messages; the code that makes a folder removes it. */
  readonly spool: Spool;
  /** null when `isShared`. */
  readonly journal: Journal | null;
  /** As they were when the data was opened. */
  readonly registry: AccountRegistry;
  readonly accounts: ReadonlyMap<string, Account>;
  readonly defaultAccountId: string;
  readonly clock: Clock;
  readonly ids: IdSource;
  /** True: a service, or another command, has DATA_DIR. */
  readonly isShared: boolean;
  close(): Promise<void>;
}

type Parts = OpenDatabase &
  Pick<OpenData, 'spool' | 'journal' | 'isShared'> &
  Pick<OpenStorage, 'blobs' | 'ownStorage'>;

/** How long a process that has DATA_DIR may take to start or to end, in ms. */
const PATIENCE_MS = 60_000;
const RETRY_AFTER_MS = 200;
/** Commands beside one service at the same time. */
const MAX_COMMANDS = 20;

/** Throws when the data can't be opened; nothing stays open then. */
export async function openData(config: Config, logger: Logger, signal: AbortSignal): Promise<OpenData> {
  const teardown: Teardown = [];
  const close = () => takeDown(teardown, logger);
  try {
    const reader = createReader(config, logger);
    teardown.push(() => reader.close());
    const parts = await openParts(config, logger, teardown, signal);
    const guard = createClockGuard(parts.pool, 'command', logger);
    await guard.measure();
    const registry = new AccountRegistry(config, logger);
    await openStoredAccounts(registry, config, parts.pool);
    const opened = { ...parts, guard, reader, unreadable: new UnreadableMail(), registry };
    return { ...wire(config, logger, opened), close };
  } catch (error) {
    await close();
    throw error;
  }
}

async function openParts(
  config: Config,
  logger: Logger,
  teardown: Teardown,
  signal: AbortSignal,
): Promise<Parts> {
  const deadline = performance.now() + PATIENCE_MS;
  for (;;) {
    const lock = await tryLock(config.dataDir);
    if (lock !== null) return await openAlone(config, logger, teardown, lock, signal);
    const database = await findDatabase(config, logger, teardown);
    if (database !== null) return await openBeside(config, logger, teardown, database);
    if (performance.now() > deadline) {
      throw new Error(
        `the process that has DATA_DIR ${config.dataDir} did not open its database, or is of another version than ` +
          'this command; restart the service',
      );
    }
    await wait(RETRY_AFTER_MS, undefined, { signal });
  }
}

async function openAlone(
  config: Config,
  logger: Logger,
  teardown: Teardown,
  lock: DataDirLock,
  signal: AbortSignal,
): Promise<Parts> {
  teardown.push(() => lock.release());
  const storage = await openStorage(config, logger, teardown);
  teardown.push(() => untilAlone(config.dataDir, logger, signal));
  return { ...storage, isShared: false };
}

async function openBeside(
  config: Config,
  logger: Logger,
  teardown: Teardown,
  database: OpenDatabase,
): Promise<Parts> {
  const folder = await takeFolder(config.dataDir, teardown);
  const spool = createSpool(path.join(folder, 'spool'));
  // Files of a command that was killed.
  await spool.sweep(new Set());
  const own = ownStorageOf(await openBlobs(config, teardown, true), database, logger);
  return { ...database, ...own, spool, journal: null, isShared: true };
}

/** A folder that belongs to this process while it runs. */
async function takeFolder(dataDir: string, teardown: Teardown): Promise<string> {
  for (let number = 1; number <= MAX_COMMANDS; number += 1) {
    const folder = path.join(commandsFolder(dataDir), String(number));
    const lock = await tryLock(folder);
    if (lock === null) continue;
    teardown.push(() => lock.release());
    return folder;
  }
  throw new Error(`${MAX_COMMANDS} commands are running; wait until one of them ends`);
}

/** Waits for later commands, which use the database that this one started. */
async function untilAlone(dataDir: string, logger: Logger, signal: AbortSignal): Promise<void> {
  let told = false;
  for (const name of await readdir(commandsFolder(dataDir)).catch(() => [])) {
    for (;;) {
      const lock = await tryLock(path.join(commandsFolder(dataDir), name));
      await lock?.release();
      if (lock !== null || signal.aborted) break;
      if (!told) logger.warn({}, 'waiting for other commands that use the same database');
      told = true;
      await wait(RETRY_AFTER_MS);
    }
  }
}

const commandsFolder = (dataDir: string): string => path.join(dataDir, 'commands');

/** null when another process has it. */
async function tryLock(folder: string): Promise<DataDirLock | null> {
  try {
    return await lockDataDir(folder);
  } catch (error) {
    if (error instanceof DataDirError && error.code === 'data_dir_locked') return null;
    throw error;
  }
}

function wire(
  config: Config,
  logger: Logger,
  parts: Parts & Pick<OpenData, 'guard' | 'reader' | 'unreadable' | 'registry'>,
): Omit<OpenData, 'close'> {
  const { clock } = parts.guard;
  const ids = createIdSource();
  const { accounts } = parts.registry;
  const defaultAccountId = config.accounts[0].id;
  const { settleUnknown } = createSendActs({
    operations: createSendOperations(parts.pool),
    retry: { schedule: config.retrySchedule, random: Math.random },
    // Sends that this process settles leave the queue.
    wakeQueue: () => undefined,
  });
  const receivePorts = {
    unsubscribe: null,
    ...parts,
    requireStorage: () => parts.ownStorage.requireLately(),
    store: createInboundStore(parts.pool),
    reports: createReportStore(parts.pool),
    variants: createVariantStore(parts.pool),
    // The service refreshes its own copy of the suppression list.
    onApplied: () => Promise.resolve(),
    accounts,
    defaultAccountId,
    openFile: (file: string, range?: ByteRange) => createReadStream(file, range),
    settleUnknown,
    clock,
    ids,
    logger,
  };
  return {
    ...parts,
    requireCertainty: certaintyOf(parts),
    requireStorage: () => parts.ownStorage.require(),
    accounts,
    defaultAccountId,
    clock,
    ids,
    receiveMessage: (request, folder) => receiveMessage(receivePorts, request, folder),
    rethread: (options) => rethread(createRethreadStore(parts.pool), options),
  };
}
