/**
 * The base of the journal: a table of entries, each written before something is handed over, and their outcomes, which are known later.
 * environment.ts makes them durable; room on the disk is reserved beforehand (room.ts); outcomes survive a killed process from the moment
 * they are known (recent-results.ts).
 *
 * Writes made together may fall into two transactions; `recover` removes what a crash between them leaves.
 */
import { randomUUID } from 'node:crypto';
import { mkdir, readFile, rename, rm } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { asBinary } from 'lmdb';
import type { Logger } from '../../platform/base/basics.ts';
import { asServiceError, committed, fromKey } from './commit.ts';
import { diskFailure, isDiskFull, syncFolder } from './disk.ts';
import {
  encodeValue,
  exists,
  openEnvironment,
  openTable,
  writeDurably,
  type Environment,
  type Table,
} from './environment.ts';
import { RecentResults } from './recent-results.ts';
import { Room } from './room.ts';

/** Never given to new entries, so that entries of sent emails can be settled and removed on a full disk. */
const KEPT_FOR_OUTCOMES_BYTES = 1024 * 1024;
/** Keys read at a time, so that no read transaction stays open and keeps pages from being reused. */
const PAGE_OF_KEYS = 500;

const ID_FILE = 'id';
const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;

/** Further writes for the same commit. */
type MoreWrites = () => readonly Promise<boolean>[];

export interface JournalSize {
  readonly entries: number;
  readonly withoutOutcome: number;
  /** Size of its file, including the room kept free in it. */
  readonly sizeBytes: number;
}

export class OutcomeLog {
  /** UUID, created with the log; a log whose file is gone gets another one. */
  readonly id: string;
  readonly #env: Environment;
  readonly #room: Room;
  readonly #recent: RecentResults;
  readonly #logger: Logger;
  readonly #entries: Table;
  readonly #outcomes: Table;
  /** Outcomes that are not on the disk yet, by the key in hex. */
  readonly #pending = new Map<string, unknown>();
  readonly #reported = new Set<string>();

  private constructor(id: string, env: Environment, room: Room, recent: RecentResults, logger: Logger) {
    this.id = id;
    this.#env = env;
    this.#room = room;
    this.#recent = recent;
    this.#logger = logger;
    this.#entries = openTable(env, 'entries');
    this.#outcomes = openTable(env, 'outcomes');
  }

  /**
   * Opens or creates the log in a folder that holds nothing else. Throws `ServiceError('disk_full')`, or LMDB's error for a damaged file.
   */
  static async open(folder: string, tableNames: readonly string[], logger: Logger): Promise<OutcomeLog> {
    const closing: { close(): Promise<void> }[] = [];
    try {
      const path = join(folder, 'entries');
      const id = await loadOrCreateId(folder, path);
      const env = await openClean(path);
      closing.push(env);
      // Before the room is measured: each table takes some of it.
      for (const name of ['entries', 'outcomes', ...tableNames]) openTable(env, name);
      await syncFolder(folder);
      await syncFolder(dirname(folder));
      const room = await Room.open(env, path);
      closing.push(room);
      const recent = await RecentResults.open(folder, logger);
      closing.push(recent);
      const log = new OutcomeLog(id, env, room, recent, logger);
      await log.#recover();
      return log;
    } catch (error) {
      for (const part of closing) await part.close();
      throw diskFailure(error);
    }
  }

  /** The size of the log; entries without an outcome are those that have not ended. */
  measure(): JournalSize {
    const entries = this.#entries.getKeysCount();
    const outcomes = this.#outcomes.getKeysCount() + this.#pending.size;
    return { entries, withoutOutcome: Math.max(0, entries - outcomes), sizeBytes: this.#room.allocatedBytes };
  }

  /** A table beside the log's own: one of those named in `open`. */
  table(name: string): Table {
    return openTable(this.#env, name);
  }

  /** Resolves when the entry is on the disk. Throws `disk_full`. */
  async add(key: Buffer, entry: unknown, more: MoreWrites = () => []): Promise<void> {
    const bytes = encodeValue(this.#entries, entry);
    await this.#commit(bytes.length, KEPT_FOR_OUTCOMES_BYTES, () => [
      this.#entries.put(key, asBinary(bytes)),
      ...more(),
    ]);
  }

  /** Adds the outcome. It survives a killed process at once, and a power cut once `flush` has resolved. */
  settle(key: Buffer, outcome: unknown): { readonly flush: () => Promise<void> } {
    const name = key.toString('hex');
    this.#pending.set(name, outcome);
    let keptAtOnce = false;
    try {
      keptAtOnce = this.#recent.put(key, outcome);
    } catch (err) {
      this.#logger.error({ err, emailId: emailIdOf(key) }, 'journal: outcome not kept at once');
    }
    let flushed: Promise<void> | null = null;
    const flush = () => (flushed ??= this.#writeOutcome(key, outcome));
    // Nearly every outcome is in the database a moment later, so it is flushed to disk only on request.
    if (!keptAtOnce) flush().catch(() => undefined); // logged there
    return { flush };
  }

  /** Removes the entry and its outcome. Throws `disk_full`. */
  async remove(key: Buffer, more: MoreWrites = () => []): Promise<void> {
    await this.#commit(0, 0, () => [this.#entries.remove(key), this.#outcomes.remove(key), ...more()]);
    this.#recent.forget(key);
    this.#pending.delete(key.toString('hex'));
  }

  has(key: Buffer): boolean {
    return this.#entries.doesExist(key);
  }

  /** In order of the keys; entries may be removed meanwhile. */
  *keys(): Iterable<Buffer> {
    let after: Buffer | undefined;
    for (;;) {
      const range = after === undefined ? {} : { start: after, exclusiveStart: true };
      const page: Buffer[] = [...this.#entries.getKeys({ ...range, limit: PAGE_OF_KEYS })];
      yield* page;
      after = page.at(-1);
      if (after === undefined) return;
    }
  }

  /**
   * An entry with its outcome (undefined when there is none), as `decode` returns it; null when there is no entry. An entry that can't be
   * decoded is reported once and kept; the result is null, too.
   */
  read<T>(key: Buffer, decode: (entry: unknown, outcome: unknown) => T): T | null {
    const name = key.toString('hex');
    try {
      const entry = this.#entries.get(key);
      if (entry === undefined) return null;
      return decode(entry, this.#pending.get(name) ?? this.#outcomes.get(key));
    } catch (err) {
      if (!this.#reported.has(name)) {
        this.#reported.add(name);
        this.#logger.error({ err, emailId: emailIdOf(key) }, 'journal: an entry cannot be read; it is kept');
      }
      return null;
    }
  }

  async close(): Promise<void> {
    await this.#env.close();
    await this.#room.close();
    await this.#recent.close();
  }

  async #writeOutcome(key: Buffer, outcome: unknown): Promise<void> {
    try {
      await this.#putOutcome(key, outcome);
    } catch (err) {
      this.#logger.error({ err, emailId: emailIdOf(key) }, 'journal: outcome not written');
      throw err;
    }
    this.#recent.forget(key);
    this.#pending.delete(key.toString('hex'));
  }

  async #putOutcome(key: Buffer, outcome: unknown): Promise<void> {
    const bytes = encodeValue(this.#outcomes, outcome);
    await this.#commit(bytes.length, 0, () => [this.#outcomes.put(key, asBinary(bytes))]);
  }

  /** Writes if there is room for a value of that size beside the room kept for others. */
  async #commit(valueBytes: number, keepBytes: number, write: MoreWrites): Promise<void> {
    const cost = this.#room.costOf(valueBytes);
    try {
      // Awaited only when necessary, so that calls keep their order.
      if (!this.#room.tryReserve(cost, keepBytes)) await this.#room.reserve(cost, keepBytes);
      try {
        await committed(write());
      } finally {
        this.#room.release(cost);
      }
    } catch (error) {
      throw asServiceError(error);
    }
  }

  /** Takes over the outcomes that the previous process left in memory, and drops those that belong to no entry. */
  async #recover(): Promise<void> {
    const leftover = this.#recent.leftover();
    for (const { key, value } of leftover) {
      if (this.has(key)) await this.#putOutcome(key, value);
    }
    await this.#recent.renew();
    await this.dropOrphans(this.#outcomes);
  }

  /** Removes rows of a table of this log whose key has no entry. */
  async dropOrphans(table: Table): Promise<void> {
    const keys: Buffer[] = [...table.getKeys()];
    for (const key of keys) {
      if (!this.has(key)) await this.#commit(0, 0, () => [table.remove(key)]);
    }
  }
}

/** Every key begins with the 16 bytes of an email's UUID. */
const emailIdOf = (key: Buffer) => fromKey(key.subarray(0, 16));

/**
 * A log without entries begins with a new file: LMDB's file never shrinks, and its free pages keep removed data until it is overwritten.
 * The new file replaces the old one atomically, so that a crash leaves one of them.
 */
async function openClean(path: string): Promise<Environment> {
  const data = join(path, 'data.mdb');
  const fresh = `${path}.new`;
  await rm(fresh, { recursive: true, force: true });
  const isNew = !(await exists(data));
  const env = await openEnvironment(path);
  if (isNew || openTable(env, 'entries').getKeysCount({ limit: 1 }) > 0) return env;
  await env.close();
  try {
    await (await openEnvironment(fresh)).close();
    await rename(join(fresh, 'data.mdb'), data);
    await syncFolder(path);
  } catch (error) {
    // On a full disk the old file will do.
    if (!isDiskFull(error)) throw error;
  }
  await rm(fresh, { recursive: true, force: true });
  return openEnvironment(path);
}

/** A log whose file is gone is a new log. It must not keep the id of the old one, so the new id is written first. */
async function loadOrCreateId(folder: string, path: string): Promise<string> {
  const file = join(folder, ID_FILE);
  if ((await exists(join(path, 'data.mdb'))) && (await exists(file))) {
    const stored = await readFile(file, 'utf8');
    if (UUID.test(stored)) return stored;
  }
  const id = randomUUID();
  await mkdir(folder, { recursive: true, mode: 0o700 });
  await writeDurably(file, Buffer.from(id));
  await syncFolder(folder);
  return id;
}
