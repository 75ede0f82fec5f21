/**
 * The storage of this database. A storage has an identity, and the database records the id of its own: a process that
 * reaches another storage, or none, uses no files until the right one is there. What it would find missing is not
 * missing, and what it would store there would be lost to the others.
 *
 * The identity is made once, at the first start. The database gets a proposal first, then the storage its identity, then
 * the database confirms it: a process that dies in between leaves a proposal, and the next start makes a new one when the
 * storage has none, or confirms it when the storage has it. One process at a time does so: of two with a storage each,
 * the second finds that the storage of the first is recorded.
 */
import { ServiceError } from '../../core/errors.ts';
import type { IdSource, Logger } from '../base/basics.ts';
import type { BlobStore, StorageIdentity } from './file-ports.ts';

/** The database's record of its storage. Throws `ServiceError('database_unavailable')`. */
export interface StorageRecord {
  read(): Promise<RecordedStorage>;
  /** Without effect once a storage is confirmed. */
  propose(id: string): Promise<void>;
  /** Without effect unless it is the proposed one. */
  confirm(id: string): Promise<void>;
  /** Replaces what was recorded. */
  adopt(id: string): Promise<void>;
  /** One process at a time. */
  exclusively<T>(work: () => Promise<T>): Promise<T>;
}

export interface RecordedStorage {
  /** The name of the database, for people. */
  readonly database: string;
  /** null: no process has started with this database yet. */
  readonly id: string | null;
  /** False: the storage may not have the identity yet. */
  readonly isConfirmed: boolean;
}

/** `storage_mismatch` or `storage_unavailable`. */
export interface StorageFault {
  readonly code: string;
  /** English. */
  readonly detail: string;
}

export interface OwnStorageOptions {
  readonly blobs: BlobStore;
  readonly record: StorageRecord;
  readonly ids: Pick<IdSource, 'uuid'>;
  readonly logger: Logger;
  /** In milliseconds, by a clock that never goes back. */
  readonly now: () => number;
}

/** How old the database's record may be, in ms: an operator may have the database adopt another storage. */
const RECORD_MAX_AGE_MS = 30_000;

export class OwnStorage {
  /** The storage for everything that needs files: refuses to work on another one. */
  readonly blobs: BlobStore;
  readonly #options: OwnStorageOptions;
  readonly #listeners: (() => void)[] = [];
  /** The last that was read. */
  #recorded: RecordedStorage | null = null;
  #recordReadAt = Number.NEGATIVE_INFINITY;
  /** When the storage was last found to be the right one, by `now`. */
  #rightAt = Number.NEGATIVE_INFINITY;
  #state: 'unchecked' | 'right' | StorageFault = 'unchecked';
  #looking: Promise<void> | null = null;

  constructor(options: OwnStorageOptions) {
    this.#options = options;
    this.blobs = this.#guard(options.blobs);
  }

  /** By the last look. */
  get isRight(): boolean {
    return this.#state === 'right';
  }

  get fault(): StorageFault | null {
    return typeof this.#state === 'string' ? null : this.#state;
  }

  /** Called when `isRight` or the fault changes. */
  onChange(listener: () => void): void {
    this.#listeners.push(listener);
  }

  /**
   * Looks which storage it is; makes its identity when neither the database nor the storage has one. Throws
   * `ServiceError('storage_mismatch' | 'storage_unavailable' | 'disk_full' | 'database_unavailable')`.
   */
  async look(): Promise<void> {
    const { blobs, now } = this.#options;
    try {
      const startedAt = now();
      let found = await blobs.readIdentity();
      const isKnown =
        found !== null && this.#recorded?.isConfirmed === true && found.id === this.#recorded.id;
      if (!isKnown || startedAt - this.#recordReadAt > RECORD_MAX_AGE_MS) {
        const recorded = await this.#readRecord();
        if (!recorded.isConfirmed) {
          await this.#establish();
          found = await blobs.readIdentity();
        }
        const { id, database } = this.#recorded ?? recorded;
        if (found?.id !== id) throw mismatch(found, id, database);
      }
      this.#rightAt = startedAt;
      this.#become('right');
    } catch (error) {
      if (isStorageFault(error)) this.#become(toFault(error));
      throw error;
    }
  }

  /** The same where the last look, a few seconds ago, did not find the right one: for what reads files, or stores and deletes them later. */
  async requireLately(): Promise<void> {
    if (!this.isRight) await this.require();
  }

  /** The same, as far as a look lies too far back. */
  async require(): Promise<void> {
    const { blobs, now } = this.#options;
    if (now() - this.#rightAt < blobs.identityMaxAgeMs) return;
    await (this.#looking ??= this.look().finally(() => {
      this.#looking = null;
    }));
  }

  /** While the database is away, what it had recorded still counts. */
  async #readRecord(): Promise<RecordedStorage> {
    try {
      this.#recorded = await this.#options.record.read();
      this.#recordReadAt = this.#options.now();
    } catch (error) {
      if (this.#recorded?.isConfirmed !== true) throw error;
    }
    return this.#recorded;
  }

  async #establish(): Promise<void> {
    const { blobs, record, ids } = this.#options;
    await record.exclusively(async () => {
      const recorded = await record.read();
      this.#recorded = recorded;
      if (recorded.isConfirmed) return;
      const { id: proposed, database } = recorded;
      const found = await blobs.readIdentity();
      if (found !== null && found.id !== proposed) throw mismatch(found, null, database);
      // A new id in place of one that an interrupted start may have given to another storage.
      const id = found?.id ?? ids.uuid();
      if (found === null) {
        await record.propose(id);
        await blobs.writeIdentity({ id, database }, 'create');
        const written = await blobs.readIdentity();
        if (written?.id !== id) throw mismatch(written, null, database);
      }
      await record.confirm(id);
      this.#recorded = { database, id, isConfirmed: true };
    });
  }

  #become(state: 'right' | StorageFault): void {
    const before = this.#state;
    if (
      before === state ||
      (typeof before === 'object' && typeof state === 'object' && before.code === state.code)
    )
      return;
    this.#state = state;
    if (state !== 'right') this.#rightAt = Number.NEGATIVE_INFINITY;
    const { logger } = this.#options;
    if (state !== 'right') {
      logger.error({ ...state }, 'the file storage cannot be used: operations that need files are refused');
    } else if (before !== 'unchecked') {
      logger.info({}, 'the file storage can be used again');
    }
    for (const listener of this.#listeners) listener();
  }

  #guard(blobs: BlobStore): BlobStore {
    /** A look before and, where the storage may become another one at any moment, a look after. */
    const within = async <T>(work: () => Promise<T>): Promise<T> => {
      await this.require();
      const result = await work();
      if (blobs.identityMaxAgeMs === 0) await this.look();
      return result;
    };
    return {
      put: (path, content, contentType) => within(() => blobs.put(path, content, contentType)),
      delete: (path) => within(() => blobs.delete(path)),
      get: async (path, range) => {
        await this.requireLately();
        const stream = await blobs.get(path, range);
        // Only the right storage can lack a file.
        if (stream === null) await this.look();
        return stream;
      },
      list: () => listAfter(this.require(), blobs),
      check: async () => {
        await this.look();
        await blobs.check();
      },
      readIdentity: () => blobs.readIdentity(),
      writeIdentity: (identity, mode) => blobs.writeIdentity(identity, mode),
      identityMaxAgeMs: blobs.identityMaxAgeMs,
      abort: () => blobs.abort(),
      close: () => blobs.close(),
    };
  }
}

async function* listAfter(looked: Promise<void>, blobs: BlobStore): ReturnType<BlobStore['list']> {
  await looked;
  yield* blobs.list();
}

/**
 * Makes the storage that of this database, whatever either had: both get a new identity, so that a database which used
 * the storage before does not go on with it. Repeated after an interruption it comes to the same.
 */
export async function adoptStorage({
  blobs,
  record,
  ids,
}: Pick<OwnStorageOptions, 'blobs' | 'record' | 'ids'>): Promise<StorageIdentity> {
  const { database } = await record.read();
  const identity = { id: ids.uuid(), database };
  await blobs.writeIdentity(identity, 'replace');
  await record.adopt(identity.id);
  return identity;
}

/** Names both sides. @param id of the storage that the database has; null: none */
export function mismatch(found: StorageIdentity | null, id: string | null, database: string): ServiceError {
  const own = id === null ? 'has none yet' : `has the storage ${id}`;
  const there =
    found === null
      ? 'what is there has no identity: it is empty, not mounted, or another one'
      : `what is there is the storage ${found.id}, made for the database ${JSON.stringify(found.database)}`;
  return new ServiceError('storage_mismatch', {
    cause: new Error(`the database ${JSON.stringify(database)} ${own}; ${there}`),
  });
}

function isStorageFault(error: unknown): error is ServiceError {
  return (
    error instanceof ServiceError &&
    (error.code === 'storage_mismatch' || error.code === 'storage_unavailable' || error.code === 'disk_full')
  );
}

function toFault({ code, cause }: ServiceError): StorageFault {
  return { code, detail: cause instanceof Error ? cause.message : code };
}
