/**
 * The journal on LMDB (lmdb-js): what was handed to SMTP, or is about to be, until the database has it.
 *
 * LMDB runs in its classic mode (see environment.ts): a write's promise resolves after data and meta page are on the
 * disk, and rejects when syncing failed. Writes that come while a transaction is being synced share the next: that is
 * the group commit. Writes made together may fall into two; `#recover` clears away what a crash between them leaves.
 * One process at a time may open a journal; the lock of the data folder sees to that.
 */
import { rm, stat } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { asBinary } from 'lmdb';
import type { Journal, JournalEntry, Logger, SettledResult, SpoolFolder } from '../../app/ports.ts';
import { asServiceError, committed, CommitTimeout, fromKey, toKey } from './commit.ts';
import { diskFailure, syncFolder } from './disk.ts';
import { fromStoredEntry, toStoredEntry, toStoredResult } from './entry-format.ts';
import { encodeValue, openEnvironment, openTable, type Environment, type Table } from './environment.ts';
import { RecentResults } from './recent-results.ts';
import { Room } from './room.ts';
import { DiskSpoolFolder, type DiskSpool } from './spool.ts';

export interface LmdbJournalOptions {
  /** Made when missing; holds nothing else. */
  readonly folder: string;
  /** Where the entries' files are; `folder` and it may be moved together. */
  readonly spool: DiskSpool;
  readonly logger: Logger;
}

/** Never given to new entries, so that what was sent can be settled and forgotten on a full disk. */
const KEPT_FOR_OUTCOMES_BYTES = 1024 * 1024;
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
  readonly #room: Room;
  /** Results whose commit is still under way, or failed. */
  readonly #pending = new Map<string, SettledResult>();
  readonly #reported = new Set<string>();

  private constructor(options: LmdbJournalOptions, tables: Tables, room: Room, recent: RecentResults) {
    this.#spool = options.spool;
    this.#logger = options.logger;
    this.#env = tables.env;
    this.#entries = tables.entries;
    this.#results = tables.results;
    this.#folders = tables.folders;
    this.#room = room;
    this.#recent = recent;
  }

  /** See `openLmdbJournal`. */
  static async open(options: LmdbJournalOptions): Promise<LmdbJournal> {
    try {
      const path = join(options.folder, 'entries');
      const tables = await openShrunk(path);
      const closing: { close(): Promise<void> }[] = [tables.env];
      try {
        await syncFolder(options.folder);
        await syncFolder(dirname(options.folder));
        const room = await Room.open(tables.env, path);
        closing.push(room);
        const recent = await RecentResults.open(options.folder, options.logger);
        closing.push(recent);
        const journal = new LmdbJournal(options, tables, room, recent);
        await journal.#recover();
        return journal;
      } catch (error) {
        for (const part of closing) await part.close();
        throw error;
      }
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
      // Before the entry: an entry on the disk must never name a file that is not.
      await folder.sync();
      const bytes = encodeValue(this.#entries, stored);
      await this.#commit(bytes.length, KEPT_FOR_OUTCOMES_BYTES, () => {
        const writes = [this.#entries.put(key, asBinary(bytes))];
        if (folder.used) writes.push(this.#folders.put(key, folder.name));
        if (entry.result !== null) writes.push(this.#results.put(key, toStoredResult(entry.result)));
        return writes;
      });
    } catch (error) {
      // After a timeout the entry may still appear; then its files must be there.
      if (!(error instanceof CommitTimeout)) folder.handBack();
      throw asServiceError(error);
    }
  }

  settle(id: string, result: SettledResult): { readonly flush: () => Promise<void> } {
    const key = toKey(id);
    const stored = toStoredResult(result);
    this.#pending.set(id, result);
    let keptAtOnce = false;
    try {
      keptAtOnce = this.#recent.put(key, stored);
    } catch (error) {
      this.#logger.error({ err: error, emailId: id }, 'journal: outcome not kept at once');
    }
    let flushed: Promise<void> | null = null;
    const flush = () => (flushed ??= this.#commitResult(id, key, stored));
    // Nearly every outcome is in the database a moment later, so it is put on the disk only when somebody asks.
    if (!keptAtOnce) flush().catch(() => undefined); // logged there
    return { flush };
  }

  async remove(id: string): Promise<void> {
    const key = toKey(id);
    const folderName = this.#folders.get(key);
    try {
      await this.#commit(0, 0, () => {
        const writes = [this.#entries.remove(key), this.#results.remove(key)];
        if (folderName !== undefined) writes.push(this.#folders.remove(key));
        return writes;
      });
    } catch (error) {
      throw asServiceError(error);
    }
    this.#recent.forget(key);
    this.#pending.delete(id);
    if (typeof folderName === 'string') await this.#spool.delete(folderName);
  }

  has(id: string): boolean {
    return this.#entries.doesExist(toKey(id));
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
    await this.#room.close();
    await this.#recent.close();
  }

  async #commitResult(id: string, key: Buffer, stored: unknown): Promise<void> {
    try {
      const bytes = encodeValue(this.#results, stored);
      await this.#commit(bytes.length, 0, () => [this.#results.put(key, asBinary(bytes))]);
    } catch (error) {
      this.#logger.error({ err: error, emailId: id }, 'journal: outcome not written');
      throw asServiceError(error);
    }
    this.#recent.forget(key);
    this.#pending.delete(id);
  }

  /** Writes when there is room for a value of that size beside what is kept for others. */
  async #commit(
    valueBytes: number,
    keepBytes: number,
    write: () => readonly Promise<boolean>[],
  ): Promise<void> {
    const cost = this.#room.costOf(valueBytes);
    // Awaited only when it must be, so that calls keep their order.
    if (!this.#room.tryReserve(cost, keepBytes)) await this.#room.reserve(cost, keepBytes);
    try {
      await committed(write());
    } finally {
      this.#room.release(cost);
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
    for (const { key, value } of leftover) {
      if (!this.#entries.doesExist(key)) continue;
      const bytes = encodeValue(this.#results, value);
      await this.#commit(bytes.length, 0, () => [this.#results.put(key, asBinary(bytes))]);
    }
    if (leftover.length > 0) this.#recent.clear();
    for (const table of [this.#results, this.#folders]) {
      const keys: Buffer[] = [...table.getKeys()];
      for (const key of keys) {
        if (!this.#entries.doesExist(key)) await this.#commit(0, 0, () => [table.remove(key)]);
      }
    }

    const named = new Set<string>();
    for (const key of this.#folders.getKeys()) {
      const name = this.#folders.get(key);
      if (typeof name === 'string') named.add(name);
    }
    const swept = await this.#spool.sweep(named);
    if (swept > 0) this.#logger.info({ folders: swept }, 'journal: left-over spool folders deleted');
  }
}

interface Tables {
  readonly env: Environment;
  readonly entries: Table;
  readonly results: Table;
  readonly folders: Table;
}

async function openTables(folder: string): Promise<Tables> {
  const env = await openEnvironment(folder);
  return {
    env,
    entries: openTable(env, 'entries'),
    results: openTable(env, 'results'),
    folders: openTable(env, 'folders'),
  };
}

async function openShrunk(folder: string): Promise<Tables> {
  const tables = await openTables(folder);
  const isEmpty = tables.entries.getKeysCount({ limit: 1 }) === 0;
  const { size } = await stat(join(folder, 'data.mdb'));
  if (!isEmpty || size <= SHRINK_ABOVE_BYTES) return tables;
  await tables.env.close();
  await rm(folder, { recursive: true });
  return openTables(folder);
}
