/**
 * The journal of the queue's attempts on LMDB, an environment of its own beside that of the sends: the same durability
 * (see lmdb-journal.ts), but small values without files, and a key for each attempt of an email.
 */
import { randomUUID } from 'node:crypto';
import { mkdir } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { asBinary } from 'lmdb';
import type { Logger, TransportResult } from '../../app/ports.ts';
import type { AttemptJournal, ClaimRef, EndedAttempt, JournalAttempt } from '../../app/queue-ports.ts';
import { asServiceError, committed, fromKey, toKey } from './commit.ts';
import { diskFailure, syncFolder } from './disk.ts';
import { encodeValue, openEnvironment, openTable, type Environment, type Table } from './environment.ts';
import { RecentResults } from './recent-results.ts';
import { Room } from './room.ts';

export interface LmdbAttemptsOptions {
  /** Made when missing; holds nothing else. */
  readonly folder: string;
  readonly logger: Logger;
}

/** Raise it when a reader of the version before would misunderstand a value; then read both. */
const FORMAT_VERSION = 1;
/** Never given to new attempts, so that what was sent can be settled and forgotten on a full disk. */
const KEPT_FOR_OUTCOMES_BYTES = 1024 * 1024;
/** Keys read at a time, so that no read transaction stays open and holds back the reuse of pages. */
const PAGE_OF_KEYS = 500;

const OWNER_KEY = Buffer.from('owner');
const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;

interface StoredAttempt {
  readonly startedAt: Date;
  readonly envelope: JournalAttempt['envelope'];
}

interface StoredEnd {
  readonly endedAt: Date | null;
  readonly result: TransportResult;
}

export class LmdbAttempts implements AttemptJournal {
  /**
   * UUID of this journal, for `ClaimRequest.owner`. That the journal knows nothing of a claim counts as evidence, so the
   * claims are the journal's own: whoever loses the journal loses them too, and can't take them for never begun.
   */
  readonly owner: string;
  readonly #logger: Logger;
  readonly #env: Environment;
  readonly #attempts: Table;
  readonly #ends: Table;
  readonly #recent: RecentResults;
  readonly #room: Room;
  /** Ends whose commit is still under way, or failed; by the key in hex. */
  readonly #pending = new Map<string, StoredEnd>();
  readonly #reported = new Set<string>();

  private constructor(owner: string, logger: Logger, env: Environment, recent: RecentResults, room: Room) {
    this.owner = owner;
    this.#logger = logger;
    this.#env = env;
    this.#attempts = openTable(env, 'attempts');
    this.#ends = openTable(env, 'ends');
    this.#recent = recent;
    this.#room = room;
  }

  /** Opens or makes it. Throws `ServiceError('disk_full')`, or what LMDB says of a damaged file. */
  static async open({ folder, logger }: LmdbAttemptsOptions): Promise<LmdbAttempts> {
    try {
      await mkdir(folder, { recursive: true, mode: 0o700 });
      const path = join(folder, 'entries');
      const env = await openEnvironment(path);
      await syncFolder(folder);
      await syncFolder(dirname(folder));
      const recent = await RecentResults.open(folder, logger);
      const owner = await loadOrCreateOwner(env);
      const attempts = new LmdbAttempts(owner, logger, env, recent, await Room.open(env, path));
      await attempts.#recover();
      return attempts;
    } catch (error) {
      throw diskFailure(error);
    }
  }

  async prepareAttempt({ emailId, attempt, startedAt, envelope }: JournalAttempt): Promise<void> {
    const stored: StoredAttempt = { startedAt, envelope };
    const bytes = encodeValue(this.#attempts, [FORMAT_VERSION, stored]);
    await this.#commit(bytes.length, KEPT_FOR_OUTCOMES_BYTES, () => [
      this.#attempts.put(keyOf({ emailId, attempt }), asBinary(bytes)),
    ]);
  }

  settleAttempt(ended: EndedAttempt): { readonly flushed: Promise<void> } {
    const { endedAt, result, emailId } = ended;
    const key = keyOf(ended);
    const end: StoredEnd = { endedAt, result };
    this.#pending.set(key.toString('hex'), end);
    try {
      this.#recent.put(key, [FORMAT_VERSION, end]);
    } catch (err) {
      this.#logger.error({ err, emailId }, 'journal: outcome of an attempt not kept at once');
    }
    const flushed = this.#commitEnd(key, end);
    flushed.catch((err: unknown) =>
      this.#logger.error({ err, emailId }, 'journal: outcome of an attempt not written'),
    );
    return { flushed };
  }

  async removeAttempt(ref: ClaimRef): Promise<void> {
    const key = keyOf(ref);
    await this.#commit(0, 0, () => [this.#attempts.remove(key), this.#ends.remove(key)]);
    this.#pending.delete(key.toString('hex'));
  }

  hasAttempt(ref: ClaimRef): boolean {
    return this.#attempts.doesExist(keyOf(ref));
  }

  async *attempts(): AsyncIterable<{
    readonly attempt: JournalAttempt;
    readonly ended: EndedAttempt | null;
  }> {
    let after: Buffer | undefined;
    for (;;) {
      const range = after === undefined ? {} : { start: after, exclusiveStart: true };
      const keys: Buffer[] = [...this.#attempts.getKeys({ ...range, limit: PAGE_OF_KEYS })];
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

  async #commitEnd(key: Buffer, end: StoredEnd): Promise<void> {
    const bytes = encodeValue(this.#ends, [FORMAT_VERSION, end]);
    await this.#commit(bytes.length, 0, () => [this.#ends.put(key, asBinary(bytes))]);
    this.#recent.forget(key);
    this.#pending.delete(key.toString('hex'));
  }

  /** Writes when there is room for a value of that size beside what is kept for others. Throws `disk_full`. */
  async #commit(
    valueBytes: number,
    keepBytes: number,
    write: () => readonly Promise<boolean>[],
  ): Promise<void> {
    const cost = this.#room.costOf(valueBytes);
    try {
      // Awaited only when it must be, so that calls keep their order.
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

  /** null when it went meanwhile, or can't be read: then it is kept and reported once. */
  #read(key: Buffer): { readonly attempt: JournalAttempt; readonly ended: EndedAttempt | null } | null {
    const name = key.toString('hex');
    try {
      const stored = this.#attempts.get(key);
      if (stored === undefined) return null;
      const attempt: JournalAttempt = { ...refOf(key), ...(valueOf(stored) as StoredAttempt) };
      const storedEnd = this.#ends.get(key);
      const end = this.#pending.get(name) ?? (storedEnd === undefined ? null : valueOf(storedEnd));
      return { attempt, ended: end === null ? null : { ...attempt, ...(end as StoredEnd) } };
    } catch (err) {
      if (!this.#reported.has(name)) {
        this.#reported.add(name);
        this.#logger.error({ err, key: name }, 'journal: attempt can not be read; it is kept');
      }
      return null;
    }
  }

  /** Takes over what the process before left in memory, and drops ends that belong to no attempt. */
  async #recover(): Promise<void> {
    const leftover = this.#recent.leftover();
    for (const { key, value } of leftover) {
      if (!this.#attempts.doesExist(key)) continue;
      const bytes = encodeValue(this.#ends, value);
      await this.#commit(bytes.length, 0, () => [this.#ends.put(key, asBinary(bytes))]);
    }
    if (leftover.length > 0) this.#recent.clear();
    const ends: Buffer[] = [...this.#ends.getKeys()];
    for (const key of ends) {
      if (!this.#attempts.doesExist(key)) await this.#commit(0, 0, () => [this.#ends.remove(key)]);
    }
  }
}

/** Made once, with the journal; `openEnvironment` has seen to it that there is room. */
async function loadOrCreateOwner(env: Environment): Promise<string> {
  const meta = openTable(env, 'meta');
  const stored = meta.get(OWNER_KEY);
  if (typeof stored === 'string' && UUID.test(stored)) return stored;
  if (stored !== undefined) throw new Error('the journal of attempts is damaged: it does not know who it is');
  const owner = randomUUID();
  await committed([meta.put(OWNER_KEY, owner)]);
  return owner;
}

/** The 16 bytes of the email's UUID, then the attempt's number, big-endian. */
function keyOf({ emailId, attempt }: ClaimRef): Buffer {
  const number = Buffer.alloc(4);
  number.writeUInt32BE(attempt);
  return Buffer.concat([toKey(emailId), number]);
}

function refOf(key: Buffer): ClaimRef {
  if (key.length !== 20) throw new Error('not the key of an attempt');
  return { emailId: fromKey(key.subarray(0, 16)), attempt: key.readUInt32BE(16) };
}

function valueOf(stored: unknown): object {
  const [version, value]: unknown[] = Array.isArray(stored) ? stored : [];
  if (version !== FORMAT_VERSION) throw new Error(`unknown format version ${String(version)}`);
  if (typeof value !== 'object' || value === null) throw new Error('not an object');
  return value;
}
