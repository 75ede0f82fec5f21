/**
 * Outcomes that must survive a killed process from the moment they are known, before any thread or disk is waited for: a small LMDB
 * environment that never syncs, written in the calling thread (about 10 µs). Its data is in the page cache, which outlives the process but
 * not the machine. So the folder is named after the machine's boot, and after another boot it is deleted unread, because without syncing
 * LMDB may then be torn. Linux only: elsewhere nothing is kept here, and an outcome is safe once its commit to the journal is.
 */
import { readFileSync } from 'node:fs';
import { readdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { asBinary, TransactionFlags } from 'lmdb';
import type { Logger } from '../../platform/base/basics.ts';
import { isDiskFull } from './disk.ts';
import { encodeValue, openEnvironment, type Environment } from './environment.ts';
import { Room } from './room.ts';

const BOOT_ID_FILE = '/proc/sys/kernel/random/boot_id';
const FOLDER_PREFIX = 'recent-';

/** Room for outcomes that arrive while the journal is committing; an outcome that finds no room is safe a moment later. */
const ROOM_BYTES = 2 * 1024 * 1024;

interface Store {
  readonly env: Environment;
  readonly room: Room;
}

export class RecentResults {
  /** null where outcomes can't be kept. */
  #store: Store | null;
  readonly #folder: string;
  readonly #logger: Logger;
  /** Keys deleted together with the next write, so that forgetting costs no transaction of its own. */
  #forgotten: Buffer[] = [];
  #growing: Promise<void> | null = null;

  private constructor(folder: string, store: Store | null, logger: Logger) {
    this.#folder = folder;
    this.#store = store;
    this.#logger = logger;
  }

  /**
   * Opens the outcomes that this boot of the machine has left below `folder`; deletes those of other boots. Works without them when the
   * disk has no room.
   */
  static async open(folder: string, logger: Logger): Promise<RecentResults> {
    const bootId = readBootId();
    const current = bootId === null ? null : FOLDER_PREFIX + bootId;
    for (const name of await readdir(folder)) {
      if (name.startsWith(FOLDER_PREFIX) && name !== current) {
        await rm(join(folder, name), { recursive: true, force: true });
      }
    }
    if (current === null) return new RecentResults(folder, null, logger);
    const path = join(folder, current);
    return new RecentResults(path, await openIfRoom(path, logger), logger);
  }

  /** All outcomes that the previous process left. */
  leftover(): readonly { readonly key: Buffer; readonly value: unknown }[] {
    return this.#store === null ? [] : [...this.#store.env.getRange()];
  }

  /**
   * Forgets the outcomes that the previous process left, and their file, whose free pages keep removed data. Call it before anything is
   * put.
   */
  async renew(): Promise<void> {
    if (this.#store === null) return;
    await this.close();
    this.#store = null;
    await rm(this.#folder, { recursive: true, force: true });
    this.#store = await openIfRoom(this.#folder, this.#logger);
  }

  /** False when the outcome could not be kept. */
  put(key: Buffer, value: unknown): boolean {
    if (this.#store === null) return false;
    const bytes = encodeValue(this.#store.env, value);
    return this.#withRoom(bytes.length, this.#forgotten.length, (env) => {
      // Without the ABORTABLE flag LMDB needs no nested transaction.
      env.transactionSync(() => {
        for (const old of this.#forgotten.splice(0)) env.removeSync(old);
        env.putSync(key, asBinary(bytes));
      }, TransactionFlags.SYNCHRONOUS_COMMIT);
    });
  }

  /** Call it when the journal has the outcome durably. */
  forget(key: Buffer): void {
    if (this.#store !== null) this.#forgotten.push(key);
  }

  async close(): Promise<void> {
    // Outcomes that are left are taken over at the next open; there may be more than the journal could write.
    await this.#growing;
    await this.#store?.env.close();
    await this.#store?.room.close();
  }

  #withRoom(valueBytes: number, removals: number, write: (env: Environment) => void): boolean {
    if (this.#store === null) return false;
    const { env, room } = this.#store;
    const cost = room.costOf(valueBytes, removals);
    if (!room.tryReserve(cost)) {
      // For later outcomes; on a full disk they do without.
      this.#growing ??= makeRoom(room)
        .catch(() => undefined)
        .finally(() => {
          this.#growing = null;
        });
      return false;
    }
    try {
      write(env);
      return true;
    } finally {
      room.release(cost);
    }
  }
}

async function openIfRoom(folder: string, logger: Logger): Promise<Store | null> {
  try {
    return await openStore(folder);
  } catch (error) {
    if (!isDiskFull(error)) throw error;
    logger.warn({ err: error }, 'journal: no room to keep outcomes at once');
    return null;
  }
}

async function openStore(folder: string): Promise<Store> {
  const env = await openEnvironment(folder, { noSync: true });
  let room: Room | null = null;
  try {
    room = await Room.open(env, folder);
    await makeRoom(room);
    return { env, room };
  } catch (error) {
    await env.close();
    await room?.close();
    throw error;
  }
}

async function makeRoom(room: Room): Promise<void> {
  await room.reserve(ROOM_BYTES, 1);
  room.release(ROOM_BYTES);
}

/** null where the system does not provide it. */
function readBootId(): string | null {
  try {
    const id = readFileSync(BOOT_ID_FILE, 'utf8').trim();
    return /^[0-9a-f-]{36}$/.test(id) ? id : null;
  } catch {
    return null;
  }
}
