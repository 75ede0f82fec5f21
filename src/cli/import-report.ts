/** The failures of an import: the first ones go to standard error, all of them to a file. */
import { createWriteStream, mkdirSync, type WriteStream } from 'node:fs';
import path from 'node:path';
import { finished } from 'node:stream/promises';
import type { ImportFailure } from '../areas/import/import-mail.ts';
import { printable, type Output } from './output.ts';

/** Lines on standard error. A folder that can't be read at all would only repeat itself. */
const SHOWN = 20;

export class ImportReport {
  readonly path: string;
  readonly #output: Output;
  #file: WriteStream | null = null;
  #count = 0;

  /** The first failure creates the file. */
  constructor(file: string, output: Output) {
    this.path = file;
    this.#output = output;
  }

  get isEmpty(): boolean {
    return this.#count === 0;
  }

  /** Throws when the file can't be created. */
  add({ path: file, offset, reason }: ImportFailure): void {
    if (this.#file === null) {
      mkdirSync(path.dirname(this.path), { recursive: true, mode: 0o700 });
      this.#file = createWriteStream(this.path, { mode: 0o600 });
      this.#file.on('error', (error) => this.#output.note(`the report can't be written: ${error.message}`));
    }
    this.#file.write(`${JSON.stringify({ path: file, offset, reason })}\n`);
    this.#count += 1;
    if (this.#count <= SHOWN) {
      const place = offset === null ? file : `${file}, at byte ${offset}`;
      this.#output.note(printable(`${place}: ${reason}`));
    } else if (this.#count === SHOWN + 1) {
      this.#output.note(`more of them are in ${this.path}`);
    }
  }

  async close(): Promise<void> {
    if (this.#file === null) return;
    this.#file.end();
    // The failure has been reported by then.
    await finished(this.#file).catch(() => undefined);
  }
}
