/**
 * The journal on LMDB (lmdb-js): what was handed to SMTP, or is about to be, until the database has it.
 *
 * LMDB runs in its classic mode (see environment.ts): a write's promise resolves after data and meta page are on the
 * disk, and rejects when syncing failed. Writes that come while a transaction is being synced share the next: that is
 * the group commit. Writes made together may fall into two; `#recover` clears away what a crash between them leaves.
 * One process at a time may open a journal; the lock of the data folder sees to that.
 */
import { mkdir, rm, stat } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import type { Journal, JournalEntry, Logger, SpoolFolder, TransportResult } from '../../app/ports.ts';
import { ServiceError } from '../../core/errors.ts';
import { Ballast } from './ballast.ts';
import { diskFailure, syncFolder } from './disk.ts';
import { fromStoredEntry, toStoredEntry, toStoredResult } from './entry-format.ts';
import { openEnvironment, openTable, type Environment, type Table } from './environment.ts';
import { RecentResults } from './recent-results.ts';
import { DiskSpoolFolder, type DiskSpool } from './spool.ts';

export interface LmdbJournalOptions {
  /** Made when missing; holds nothing else. */
  readonly folder: string;
  /** Where the entries' files are; `folder` and it may be moved together. */
  readonly spool: DiskSpool;
  readonly logger: Logger;
}

/** A commit that takes longer has met a dead disk: LMDB gives no answer at all after a failed meta page. */
const COMMIT_TIMEOUT_MS = 30_000;
/** Keys read at a time by `entries`, so that no read transaction stays open and holds back the reuse of pages. */
const PAGE_OF_KEYS = 500;
/** An empty journal larger than this is made anew at open: LMDB's file never shrinks. */
const SHRINK_ABOVE_BYTES = 64 * 1024 * 1024;

/**
 * Opens or makes the journal and deletes spool folders that no entry names.
 * Throws `ServiceError('disk_full')`, or what LMDB says of a damaged file.
 */
export function openLmdbJournal(options: LmdbJournalOptions): Promise<LmdbJournal> {
  return LmdbJournal.open(options);
}

export class LmdbJournal implements Journal {
  readonly #spool: DiskSpool;
  readonly #logger: Logger;
  readonly #env: Environment;
  readonly #entries: Table;
  readonly #results: Table;
  /** Names of spool folders, apart from the entries so that an unreadable entry keeps its files. */
  readonly #folders: Table;
  readonly #recent: RecentResults;
  readonly #ballast: Ballast;
  /** Results whose commit is still under way, or failed. */
  readonly #pending = new Map<string, TransportResult>();
  readonly #reported = new Set<string>();

  private constructor(options: LmdbJournalOptions, env: Environment, recent: RecentResults) {
    this.#spool = options.spool;
    this.#logger = options.logger;
    this.#env = env;
    this.#entries = openTable(env, 'entries');
    this.#results = openTable(env, 'results');
    this.#folders = openTable(env, 'folders');
    this.#recent = recent;
    this.#ballast = new Ballast(join(options.folder, 'ballast'));
  }

  /** See `openLmdbJournal`. */
  static async open(options: LmdbJournalOptions): Promise<LmdbJournal> {
    try {
      await mkdir(options.folder, { recursive: true, mode: 0o700 });
      const env = await openShrunk(join(options.folder, 'entries'));
      await syncFolder(options.folder);
      await syncFolder(dirname(options.folder));
      const journal = new LmdbJournal(options, env, await RecentResults.open(options.folder));
      await journal.#ballast.ensure().catch((error: unknown) => {
        options.logger.warn({ err: error }, 'journal: no room to keep back; nothing new is taken');
      });
      await journal.#recover();
      return journal;
    } catch (error) {
      throw diskFailure(error);
    }
  }

  async prepare(entry: JournalEntry, folder: SpoolFolder): Promise<void> {
    if (!(folder instanceof DiskSpoolFolder)) throw new TypeError('the folder is not of this spool');
    const key = toKey(entry.record.id);
    const stored = toStoredEntry(entry, folder);
    folder.handOver();
    try {
      await this.#ballast.ensure();
      // Before the entry: an entry on the disk must never name a file that is not.
      await folder.sync();
      const writes = [this.#entries.put(key, stored)];
      if (folder.used) writes.push(this.#folders.put(key, folder.name));
      if (entry.result !== null) writes.push(this.#results.put(key, toStoredResult(entry.result)));
      await committed(writes);
    } catch (error) {
      // After a timeout the entry may still appear; then its files must be there.
      if (!(error instanceof CommitTimeout)) folder.handBack();
      throw asServiceError(error);
    }
  }

  settle(id: string, result: TransportResult): { readonly flushed: Promise<void> } {
    const key = toKey(id);
    const stored = toStoredResult(result);
    this.#pending.set(id, result);
    try {
      this.#recent.put(key, stored);
    } catch (error) {
      this.#logger.warn({ err: error, emailId: id }, 'journal: outcome not kept at once');
    }
    const flushed = this.#commitResult(id, key, stored);
    // The caller need not look at it; the failure is logged.
    flushed.catch(() => undefined);
    return { flushed };
  }

  async remove(id: string): Promise<void> {
    const key = toKey(id);
    const folderName = this.#folders.get(key);
    await this.#commitAlways(() => {
      const writes = [this.#entries.remove(key), this.#results.remove(key)];
      if (folderName !== undefined) writes.push(this.#folders.remove(key));
      return writes;
    });
    this.#pending.delete(id);
    if (typeof folderName === 'string') await this.#spool.delete(folderName);
  }

  async *entries(): AsyncIterable<JournalEntry> {
    let after: Buffer | undefined;
    for (;;) {
      const range = after === undefined ? {} : { start: after, exclusiveStart: true };
      const keys: Buffer[] = [...this.#entries.getKeys({ ...range, limit: PAGE_OF_KEYS })];
      for (const key of keys) {
        const entry = this.#read(key);
        if (entry !== null) yield entry;
      }
      after = keys.at(-1);
      if (after === undefined) return;
    }
  }

  async close(): Promise<void> {
    await this.#env.close();
    await this.#recent.close();
  }

  async #commitResult(id: string, key: Buffer, stored: unknown): Promise<void> {
    try {
      await this.#commitAlways(() => [this.#results.put(key, stored)]);
    } catch (error) {
      this.#logger.error({ err: error, emailId: id }, 'journal: outcome not written');
      throw error;
    }
    this.#recent.forget(key);
    this.#pending.delete(id);
  }

  /** For what concerns entries that are there: a full disk gets the room that was kept back for them. */
  async #commitAlways(write: () => readonly Promise<boolean>[]): Promise<void> {
    try {
      await committed(write()).catch(async (error: unknown) => {
        if (!isDiskFull(error)) throw error;
        await this.#ballast.spend();
        this.#logger.warn({ err: error }, 'journal: the disk is full; the room kept back is used');
        await committed(write());
      });
    } catch (error) {
      throw asServiceError(error);
    }
  }

  /** null when the entry went meanwhile, or can't be read: then it is kept and reported once. */
  #read(key: Buffer): JournalEntry | null {
    const id = fromKey(key);
    try {
      const stored = this.#entries.get(key);
      if (stored === undefined) return null;
      const entry = fromStoredEntry(stored, this.#results.get(key), id, this.#spool);
      const pending = this.#pending.get(id);
      return pending === undefined ? entry : { ...entry, result: pending };
    } catch (error) {
      if (!this.#reported.has(id)) {
        this.#reported.add(id);
        this.#logger.error({ err: error, emailId: id }, 'journal: entry can not be read; it is kept');
      }
      return null;
    }
  }

  /** Takes over what the process before left in memory, and drops what belongs to no entry. */
  async #recover(): Promise<void> {
    const leftover = this.#recent.leftover();
    await this.#commitAlways(() => {
      const writes: Promise<boolean>[] = [];
      for (const { key, value } of leftover) {
        if (this.#entries.doesExist(key)) writes.push(this.#results.put(key, value));
      }
      for (const table of [this.#results, this.#folders]) {
        for (const key of table.getKeys()) {
          if (!this.#entries.doesExist(key)) writes.push(table.remove(key));
        }
      }
      return writes;
    });
    if (leftover.length > 0) this.#recent.clear();

    const named = new Set<string>();
    for (const key of this.#folders.getKeys()) {
      const name = this.#folders.get(key);
      if (typeof name === 'string') named.add(name);
    }
    const swept = await this.#spool.sweep(named);
    if (swept > 0) this.#logger.info({ folders: swept }, 'journal: left-over spool folders deleted');
  }
}

class CommitTimeout extends Error {}

/** Resolves when all writes are on the disk; throws the cause when they are not. */
async function committed(writes: readonly Promise<boolean>[]): Promise<void> {
  if (writes.length === 0) return;
  let timer: NodeJS.Timeout | undefined;
  const timeout = new Promise<never>((_resolve, reject) => {
    timer = setTimeout(
      () => reject(new CommitTimeout(`no commit within ${COMMIT_TIMEOUT_MS} ms`)),
      COMMIT_TIMEOUT_MS,
    );
  });
  try {
    // The cause is looked for even after a timeout: unhandled, it would end the process.
    await Promise.race([Promise.all(writes).catch(throwCause), timeout]);
  } finally {
    clearTimeout(timer);
  }
}

/** lmdb-js rejects each write with a general error and hands the reason over as a second promise. */
async function throwCause(error: unknown): Promise<never> {
  if (error instanceof Error && 'commitError' in error) await error.commitError;
  throw error;
}

function isDiskFull(error: unknown): boolean {
  const failure = diskFailure(error);
  return failure instanceof ServiceError && failure.code === 'disk_full';
}

function asServiceError(error: unknown): unknown {
  return error instanceof CommitTimeout
    ? new ServiceError('disk_full', { cause: error })
    : diskFailure(error);
}

async function openShrunk(folder: string): Promise<Environment> {
  const env = await openEnvironment(folder);
  const isEmpty = openTable(env, 'entries').getKeysCount({ limit: 1 }) === 0;
  const { size } = await stat(join(folder, 'data.mdb'));
  if (!isEmpty || size <= SHRINK_ABOVE_BYTES) return env;
  await env.close();
  await rm(folder, { recursive: true });
  return openEnvironment(folder);
}

/** The 16 bytes of a UUID: version 7 sorts by time. */
function toKey(id: string): Buffer {
  const key = Buffer.from(id.replaceAll('-', ''), 'hex');
  if (key.length !== 16) throw new Error(`not a UUID: ${id}`);
  return key;
}

function fromKey(key: Buffer): string {
  return key.toString('hex').replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, '$1-$2-$3-$4-$5');
}
