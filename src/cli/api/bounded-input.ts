/** What a command reads into memory: files and standard input, up to a bound. */
import { open } from 'node:fs/promises';
import { UsageError } from '../command.ts';

/** Throws UsageError when something can't be read or is too large. */
export class BoundedInput {
  readonly #maxBytes: number;
  readonly #what: string;
  #left: number;

  /** @param what is bounded, for the message */
  constructor(maxBytes: number, what: string) {
    this.#maxBytes = maxBytes;
    this.#what = what;
    this.#left = maxBytes;
  }

  async readFile(file: string): Promise<Buffer> {
    try {
      const handle = await open(file, 'r');
      try {
        return await this.#collect(handle.createReadStream({ autoClose: false }), file);
      } finally {
        await handle.close();
      }
    } catch (error) {
      if (error instanceof UsageError) throw error;
      throw new UsageError(
        `${file} can't be read: ${error instanceof Error ? error.message : String(error)}`,
      );
    }
  }

  async readStandardInput(): Promise<string> {
    return (await this.#collect(process.stdin, 'standard input')).toString('utf8');
  }

  async #collect(source: AsyncIterable<Buffer>, name: string): Promise<Buffer> {
    const chunks: Buffer[] = [];
    for await (const chunk of source) {
      this.#left -= chunk.length;
      if (this.#left < 0) {
        throw new UsageError(
          `${name} is too large: ${this.#what} may have ${this.#maxBytes / 1024 / 1024} MiB`,
        );
      }
      chunks.push(chunk);
    }
    return Buffer.concat(chunks);
  }
}
