/**
 * The journal of the queue's attempts on LMDB, an environment of its own beside that of the sends: the same durability
 * (see lmdb-journal.ts), but small values without files, and a key for each claim.
 */
import { randomUUID } from 'node:crypto';
import type { Logger } from '../../app/base/basics.ts';
import type { TransportResult } from '../../app/send/transport-ports.ts';
import type { AttemptJournal, ClaimRef, EndedAttempt, JournalAttempt } from '../../app/send/queue-ports.ts';
import { committed, fromKey, toKey } from './commit.ts';
import { diskFailure } from './disk.ts';
import type { Table } from './environment.ts';
import { OutcomeLog } from './outcome-log.ts';

export interface LmdbAttemptsOptions {
  /** Made when missing; holds nothing else. */
  readonly folder: string;
  readonly logger: Logger;
}

/** Raise it when a reader of the version before would misunderstand a value; then read both. */
const FORMAT_VERSION = 2;
/** What the journal knows of itself. */
const META = 'meta';
const OWNER_KEY = Buffer.from('owner');
const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;

interface StoredAttempt {
  readonly attempt: number;
  readonly startedAt: Date;
  readonly envelope: JournalAttempt['envelope'];
}

interface StoredEnd {
  readonly endedAt: Date | null;
  readonly result: TransportResult;
}

export class LmdbAttempts implements AttemptJournal {
  /**
   * UUID of this journal, for `ClaimRequest.owner`. A claim that the journal does not know counts as never begun, so claims
   * belong to the journal: a service that loses its journal loses them too, and can't take them for never begun.
   */
  readonly owner: string;
  readonly #log: OutcomeLog;

  private constructor(owner: string, log: OutcomeLog) {
    this.owner = owner;
    this.#log = log;
  }

  /** Opens or makes it. Throws `ServiceError('disk_full')`, or what LMDB says of a damaged file. */
  static async open({ folder, logger }: LmdbAttemptsOptions): Promise<LmdbAttempts> {
    const log = await OutcomeLog.open(folder, [META], logger);
    try {
      return new LmdbAttempts(await loadOrCreateOwner(log.table(META)), log);
    } catch (error) {
      await log.close();
      throw diskFailure(error);
    }
  }

  async prepareAttempt({ emailId, claimId, attempt, startedAt, envelope }: JournalAttempt): Promise<void> {
    const stored: StoredAttempt = { attempt, startedAt, envelope };
    await this.#log.add(keyOf({ emailId, claimId }), [FORMAT_VERSION, stored]);
  }

  settleAttempt(ended: EndedAttempt): { readonly flush: () => Promise<void> } {
    const { endedAt, result } = ended;
    const end: StoredEnd = { endedAt, result };
    return this.#log.settle(keyOf(ended), [FORMAT_VERSION, end]);
  }

  async removeAttempt(ref: ClaimRef): Promise<void> {
    await this.#log.remove(keyOf(ref));
  }

  hasAttempt(ref: ClaimRef): boolean {
    return this.#log.has(keyOf(ref));
  }

  attempts(): ReturnType<AttemptJournal['attempts']> {
    return this.#log.entries((key, stored, storedEnd) => {
      const attempt: JournalAttempt = { ...refOf(key), ...(valueOf(stored) as StoredAttempt) };
      const end = storedEnd === undefined ? null : (valueOf(storedEnd) as StoredEnd);
      return { attempt, ended: end === null ? null : { ...attempt, ...end } };
    });
  }

  close(): Promise<void> {
    return this.#log.close();
  }
}

/** Made once, with the journal; `openEnvironment` has seen to it that there is room. */
async function loadOrCreateOwner(meta: Table): Promise<string> {
  const stored = meta.get(OWNER_KEY);
  if (typeof stored === 'string' && UUID.test(stored)) return stored;
  if (stored !== undefined) throw new Error('the journal of attempts is damaged: it does not know who it is');
  const owner = randomUUID();
  await committed([meta.put(OWNER_KEY, owner)]);
  return owner;
}

/** The 16 bytes of the email's UUID, then those of the claim's. */
function keyOf({ emailId, claimId }: Pick<ClaimRef, 'emailId' | 'claimId'>): Buffer {
  return Buffer.concat([toKey(emailId), toKey(claimId)]);
}

function refOf(key: Buffer): Pick<ClaimRef, 'emailId' | 'claimId'> {
  if (key.length !== 32) throw new Error('not the key of an attempt');
  return { emailId: fromKey(key.subarray(0, 16)), claimId: fromKey(key.subarray(16)) };
}

function valueOf(stored: unknown): object {
  const [version, value]: unknown[] = Array.isArray(stored) ? stored : [];
  if (version !== FORMAT_VERSION) throw new Error(`unknown format version ${String(version)}`);
  if (typeof value !== 'object' || value === null) throw new Error('not an object');
  return value;
}
