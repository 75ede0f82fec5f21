/**
 * Notes the work that is done while an import runs, many files at a time: when a note is lost, an email is read again.
 */
import { ServiceError } from '../../core/errors.ts';
import type { ImportMarks, MailFile, MailFiles } from './import-ports.ts';
import type { Logger } from '../../platform/base/basics.ts';

const FLUSH_FILES = 500;
const FLUSH_AFTER_MS = 1000;

interface OpenMbox {
  readonly file: MailFile;
  readonly key: string;
  readonly progress: MboxProgress;
}

export class MarkWriter {
  readonly #marks: ImportMarks;
  readonly #files: MailFiles;
  readonly #accountId: string;
  readonly #logger: Logger;
  #keys: string[] = [];
  #mbox: OpenMbox | null = null;
  #flushedAt = performance.now();
  #flushing: Promise<void> = Promise.resolve();

  constructor(marks: ImportMarks, files: MailFiles, accountId: string, logger: Logger) {
    this.#marks = marks;
    this.#files = files;
    this.#accountId = accountId;
    this.#logger = logger;
  }

  /** Those of the files that an earlier import finished. */
  async findDone(keys: readonly string[]): Promise<ReadonlySet<string>> {
    return this.#orNothing(this.#marks.findDone(this.#accountId, keys), new Set());
  }

  /** Call it when the file is done. */
  done(key: string): void {
    this.#keys.push(key);
    this.#flushNowAndThen();
  }

  /** Finds where to continue in an mbox file: at its beginning when the file was changed before that place. */
  async openMbox(file: MailFile, key: string): Promise<MboxProgress> {
    const mark = await this.#orNothing(this.#marks.findMbox(this.#accountId, key), null);
    const isSame =
      mark !== null &&
      mark.position <= file.sizeBytes &&
      (await this.#files.digestBefore(file, mark.position).catch(() => null)) === mark.digest;
    const progress = new MboxProgress(isSame ? mark.position : 0, () => this.#flushNowAndThen());
    this.#mbox = { file, key, progress };
    return progress;
  }

  /** Writes all pending notes. To be called at the end of an mbox file, and at the end of the import. */
  async flush(): Promise<void> {
    this.#flushing = this.#flushing.then(() => this.#write());
    await this.#flushing;
  }

  async deleteOld(): Promise<void> {
    await this.#orNothing(this.#marks.deleteOld(), undefined);
  }

  /** The code that records emails decides whether to wait for the database. */
  async #orNothing<T>(work: Promise<T>, nothing: T): Promise<T> {
    try {
      return await work;
    } catch (err) {
      if (!(err instanceof ServiceError)) throw err;
      this.#logger.debug({ err }, 'what is done could not be looked up or noted');
      return nothing;
    }
  }

  #flushNowAndThen(): void {
    const isDue = this.#keys.length >= FLUSH_FILES || performance.now() - this.#flushedAt >= FLUSH_AFTER_MS;
    if (!isDue) return;
    this.#flushedAt = performance.now();
    // The failure is kept: the next `flush` that is awaited throws it.
    this.flush().catch(() => undefined);
  }

  async #write(): Promise<void> {
    const keys = this.#keys.splice(0);
    if (keys.length > 0) await this.#orNothing(this.#marks.markDone(this.#accountId, keys), undefined);
    if (this.#mbox !== null) await this.#writeMbox(this.#mbox);
  }

  async #writeMbox(mbox: OpenMbox): Promise<void> {
    const { position, changed } = mbox.progress.take();
    if (!changed) return;
    const digest = await this.#files.digestBefore(mbox.file, position).catch(() => null);
    if (digest === null) return;
    await this.#orNothing(this.#marks.markMbox(this.#accountId, mbox.key, { position, digest }), undefined);
  }
}

/**
 * Tracks `position`: everything before it is done. Emails end in any order; a failed one keeps the position before it.
 */
export class MboxProgress {
  #position: number;
  #changed = false;
  /** Offsets of emails that are not done, ascending. */
  readonly #open = new Set<number>();
  /** The offset of the email that was begun last, or the file's end. */
  #reached: number;
  readonly #onChange: () => void;

  constructor(position: number, onChange: () => void) {
    this.#position = position;
    this.#reached = position;
    this.#onChange = onChange;
  }

  /** Where reading begins. */
  get position(): number {
    return this.#position;
  }

  /** An email begins here; all before it are read. */
  begin(offset: number): void {
    this.#reached = offset;
    this.#open.add(offset);
  }

  done(offset: number): void {
    this.#open.delete(offset);
    this.#advance();
  }

  /** The whole file is read. */
  end(sizeBytes: number): void {
    this.#reached = sizeBytes;
    this.#advance();
  }

  take(): { readonly position: number; readonly changed: boolean } {
    const changed = this.#changed;
    this.#changed = false;
    return { position: this.#position, changed };
  }

  #advance(): void {
    const [first] = this.#open;
    const position = first ?? this.#reached;
    if (position === this.#position) return;
    this.#position = position;
    this.#changed = true;
    this.#onChange();
  }
}
