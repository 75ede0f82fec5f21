/**
 * The journal on LMDB (lmdb-js): the messages that were handed to SMTP, or are about to be, until the database has the outcome.
 *
 * LMDB runs in its classic mode (see environment.ts): a write's promise resolves after data and meta page are on the disk, and rejects when
 * syncing failed. Writes that arrive while a transaction is being synced share the next one: that is the group commit. Only one process at
 * a time may open a journal; the lock of the data folder enforces that.
 */
import type { Journal, JournalAttempt, JournalEntry, EndedAttempt } from '../../areas/send/journal-ports.ts';
import type { Logger } from '../../platform/base/basics.ts';
import type { SpoolFolder } from '../../platform/files/file-ports.ts';
import type { ClaimKey } from '../../areas/send/claim.ts';
import { causedByTimeout } from './commit.ts';
import { diskFailure } from './disk.ts';
import { fromEntryKey, fromStored, toEntryKey, toStoredAttempt, toStoredOutcome } from './entry-format.ts';
import type { Table } from './environment.ts';
import { OutcomeLog, type JournalSize } from './outcome-log.ts';
import { DiskSpoolFolder, type DiskSpool } from './spool.ts';

export interface LmdbJournalOptions {
  /** Created when missing; must hold nothing else. */
  readonly folder: string;
  /** The spool with the entries' files; it and `folder` may be moved together. */
  readonly spool: DiskSpool;
  readonly logger: Logger;
}

/** Names of spool folders, stored apart from the entries so that an unreadable entry keeps its files. */
const FOLDERS = 'folders';

export class LmdbJournal implements Journal {
  readonly owner: string;
  readonly #spool: DiskSpool;
  readonly #log: OutcomeLog;
  readonly #folders: Table;

  private constructor(spool: DiskSpool, log: OutcomeLog) {
    this.owner = log.id;
    this.#spool = spool;
    this.#log = log;
    this.#folders = log.table(FOLDERS);
  }

  /**
   * Opens or creates the journal and deletes spool folders that no entry names. Throws `ServiceError('disk_full')`, or LMDB's error for a
   * damaged file.
   */
  static async open({ folder, spool, logger }: LmdbJournalOptions): Promise<LmdbJournal> {
    const log = await OutcomeLog.open(folder, [FOLDERS], logger);
    try {
      const journal = new LmdbJournal(spool, log);
      const swept = await journal.#sweep();
      if (swept > 0) logger.info({ folders: swept }, 'journal: orphaned spool folders deleted');
      return journal;
    } catch (error) {
      await log.close();
      throw diskFailure(error);
    }
  }

  async prepare(attempt: JournalAttempt, folder: SpoolFolder | null): Promise<void> {
    const key = toEntryKey(attempt);
    if (attempt.email === null) {
      await this.#log.add(key, toStoredAttempt(attempt, null));
      return;
    }
    if (!(folder instanceof DiskSpoolFolder)) throw new TypeError('the folder is not of this spool');
    const stored = toStoredAttempt(attempt, folder);
    folder.handOver();
    try {
      // Before the entry: an entry on the disk must never name a file that is not on the disk.
      await folder.sync();
      await this.#log.add(key, stored, () => (folder.used ? [this.#folders.put(key, folder.name)] : []));
    } catch (error) {
      // After a timeout the entry may still reach the disk; then its files must exist.
      if (!causedByTimeout(error)) folder.handBack();
      throw error;
    }
  }

  settle(ended: EndedAttempt): { readonly flush: () => Promise<void> } {
    return this.#log.settle(toEntryKey(ended), toStoredOutcome(ended));
  }

  async remove(claim: ClaimKey): Promise<void> {
    const key = toEntryKey(claim);
    const folderName = this.#folders.get(key);
    await this.#log.remove(key, () => (folderName === undefined ? [] : [this.#folders.remove(key)]));
    if (typeof folderName === 'string') await this.#spool.delete(folderName);
  }

  has(claim: ClaimKey): boolean {
    return this.#log.has(toEntryKey(claim));
  }

  *keys(): Iterable<ClaimKey> {
    for (const key of this.#log.keys()) yield fromEntryKey(key);
  }

  read(claim: ClaimKey): JournalEntry | null {
    return this.#log.read(toEntryKey(claim), (entry, outcome) =>
      fromStored({ emailId: claim.emailId, claimId: claim.claimId }, entry, outcome, this.#spool),
    );
  }

  measure(): JournalSize {
    return this.#log.measure();
  }

  close(): Promise<void> {
    return this.#log.close();
  }

  async #sweep(): Promise<number> {
    await this.#log.dropOrphans(this.#folders);
    const named = new Set<string>();
    for (const key of this.#folders.getKeys()) {
      const name = this.#folders.get(key);
      if (typeof name === 'string') named.add(name);
    }
    return this.#spool.sweep(named);
  }
}
