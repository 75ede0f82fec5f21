/**
 * Room kept back on the disk, so that the outcome of what was already sent can be written when all other room is
 * used up: a file that is deleted then, and made again before anything new is taken. Best effort: another program
 * may be quicker to take the room.
 */
import { randomBytes } from 'node:crypto';
import { open, rename, rm, stat } from 'node:fs/promises';

/** A few hundred pages of LMDB; an outcome costs a handful, and those of one moment share them. */
const BALLAST_BYTES = 1024 * 1024;

export class Ballast {
  readonly #path: string;
  #making: Promise<void> | null = null;

  constructor(path: string) {
    this.#path = path;
  }

  /** Makes the file when it is missing, asking the disk only once. Throws what the file system throws. */
  async ensure(): Promise<void> {
    this.#making ??= this.#make();
    const making = this.#making;
    try {
      await making;
    } catch (error) {
      if (this.#making === making) this.#making = null;
      throw error;
    }
  }

  /** Gives the room back to the disk, until `ensure` takes it again. */
  async spend(): Promise<void> {
    this.#making = null;
    await rm(this.#path, { force: true });
  }

  async #make(): Promise<void> {
    if (await this.#isWhole()) return;
    const half = `${this.#path}.new`;
    try {
      const file = await open(half, 'w', 0o600);
      try {
        // Random, since a file system may keep zeros for nothing.
        await file.writeFile(randomBytes(BALLAST_BYTES));
        await file.sync();
      } finally {
        await file.close();
      }
      await rename(half, this.#path);
    } catch (error) {
      await rm(half, { force: true });
      throw error;
    }
  }

  async #isWhole(): Promise<boolean> {
    return stat(this.#path).then(
      ({ size }) => size === BALLAST_BYTES,
      () => false,
    );
  }
}
