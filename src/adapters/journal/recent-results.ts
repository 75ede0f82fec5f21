/**
 * Outcomes that must survive a killed process from the moment they are known, before any thread or disk is waited
 * for: a small LMDB environment that never syncs, written in the calling thread (about 10 µs). What is in it is in
 * the page cache, which outlives the process but not the machine; so it is named after the machine's boot and
 * after another boot deleted unread, because without syncing LMDB may then be torn. Linux only: elsewhere it keeps
 * nothing and an outcome is safe when its commit to the journal is.
 */
import { readFileSync } from 'node:fs';
import { readdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { TransactionFlags } from 'lmdb';
import { openEnvironment, type Environment } from './environment.ts';

const BOOT_ID_FILE = '/proc/sys/kernel/random/boot_id';
const FOLDER_PREFIX = 'recent-';

export class RecentResults {
  readonly #env: Environment | null;
  /** Deleted together with the next write, so that forgetting costs no transaction of its own. */
  #forgotten: Buffer[] = [];

  private constructor(env: Environment | null) {
    this.#env = env;
  }

  /** Opens what this boot of the machine has left below `folder`; deletes what another has. */
  static async open(folder: string): Promise<RecentResults> {
    const bootId = readBootId();
    const current = bootId === null ? null : FOLDER_PREFIX + bootId;
    for (const name of await readdir(folder)) {
      if (name.startsWith(FOLDER_PREFIX) && name !== current) {
        await rm(join(folder, name), { recursive: true, force: true });
      }
    }
    if (current === null) return new RecentResults(null);
    return new RecentResults(await openEnvironment(join(folder, current), { noSync: true }));
  }

  /** Everything left by the process before. */
  leftover(): readonly { readonly key: Buffer; readonly value: unknown }[] {
    return this.#env === null ? [] : [...this.#env.getRange()];
  }

  clear(): void {
    this.#env?.clearSync();
  }

  /** Throws what LMDB throws, such as for a full disk. */
  put(key: Buffer, value: unknown): void {
    const env = this.#env;
    if (env === null) return;
    const forgotten = this.#forgotten;
    this.#forgotten = [];
    // Without the ABORTABLE flag LMDB needs no nested transaction.
    env.transactionSync(() => {
      for (const old of forgotten) env.removeSync(old);
      env.putSync(key, value);
    }, TransactionFlags.SYNCHRONOUS_COMMIT);
  }

  /** The journal has it durably. */
  forget(key: Buffer): void {
    if (this.#env !== null) this.#forgotten.push(key);
  }

  async close(): Promise<void> {
    // What is left is taken over at the next open; it may be more than the journal could write.
    await this.#env?.close();
  }
}

/** null where the system does not tell. */
function readBootId(): string | null {
  try {
    const id = readFileSync(BOOT_ID_FILE, 'utf8').trim();
    return /^[0-9a-f-]{36}$/.test(id) ? id : null;
  } catch {
    return null;
  }
}
