/**
 * Imports files of emails. Each email is recorded once, whatever was imported before, in any order and by any number of
 * imports at the same time. Several emails are under way at once, so that their commits share the disk's time; only those
 * few are in memory.
 *
 * A file that can't be read or recorded is reported and does not stop the import. While the database or the storage is
 * unavailable, the import waits. An import that was stopped in any way continues when the same files are imported again:
 * files marked as done are not read again, and emails recorded but not yet marked are recognised by their identity.
 */
import { createHash } from 'node:crypto';
import { setImmediate } from 'node:timers/promises';
import { readMbox } from '../../core/mbox/read-mbox.ts';
import type { ImportMarks, MailFile, MailFiles } from './import-ports.ts';
import { MarkWriter } from './import-progress.ts';
import {
  isFatal,
  readImported,
  recordImported,
  type ReadMessage,
  type RecordImportedPorts,
} from './record-imported.ts';
import { Limit } from '../../platform/base/limit.ts';
import { sizeOf } from '../../platform/files/content.ts';

export interface ImportMailPorts extends RecordImportedPorts {
  readonly files: MailFiles;
  readonly marks: ImportMarks;
}

export interface ImportRequest {
  readonly paths: readonly string[];
  readonly accountId: string;
  /**
   * `sent`: the files come from a place for sent emails, and each is an outbound email. `received`: none is. `folders`:
   * decided by the names of their folders; drafts, junk and trash are left out.
   */
  readonly as: 'sent' | 'received' | 'folders';
  /** Older emails are left out; null: none. */
  readonly since: Date | null;
  /** All are recorded as unread, whatever their files say. */
  readonly isUnread: boolean;
}

/** Follows the progress of an import. */
export interface ImportObserver {
  /** This many more bytes of files are done. */
  advanced(bytes: number): void;
  /** An email, or a file, could not be imported; `reason` is English. */
  failed(failure: ImportFailure): void;
  /** A file that should be an email is empty. */
  empty(path: string): void;
  /** Called once each time that something becomes unavailable and the import waits for it. */
  waiting(reason: string): void;
}

export interface ImportFailure {
  readonly path: string;
  /** The offset of the email in an mbox file; null for a file that is one email, or none. */
  readonly offset: number | null;
  readonly reason: string;
}

/** Counts of emails, except for the last six. */
export interface ImportCounts {
  imported: number;
  /** Recorded before, by whatever path. */
  known: number;
  /** Older than `since`. */
  older: number;
  failed: number;
  /** Files that should be an email but are empty; they are read again each time. */
  empty: number;
  /** Files of drafts, and of folders of drafts, templates and unsent emails. */
  unsent: number;
  /** Files of folders of junk. */
  junk: number;
  /** Files of folders of trash. */
  trash: number;
  /** Bytes of mbox files that an earlier import finished; they were not read. */
  mboxBytesBefore: number;
  /** Files that an earlier import finished; they were not read. */
  unchangedFiles: number;
}

/** The counts at the start. */
export function zeroCounts(): ImportCounts {
  const leftOut = { unsent: 0, junk: 0, trash: 0 };
  const before = { mboxBytesBefore: 0, unchangedFiles: 0 };
  return { imported: 0, known: 0, older: 0, failed: 0, empty: 0, ...leftOut, ...before };
}

/** Emails under way at the same time: one batch is read while another is written. */
const AT_ONCE = 256;
/** Their total size in bytes: a parsed email takes several times its size, while a large one itself lies in the spool. */
const MAX_BYTES_AT_ONCE = 16 * 1024 * 1024;
/** Files whose marks are looked up together. */
const FILES_AT_ONCE = 500;

/**
 * Ends early when `signal` is aborted. Throws when the database or the storage stays unavailable.
 *
 * @param counts counted up while it runs
 */
export async function importMail(
  ports: ImportMailPorts,
  request: ImportRequest,
  observer: ImportObserver,
  counts: ImportCounts,
  signal: AbortSignal,
): Promise<void> {
  await new ImportRun(ports, request, observer, counts, signal).run();
}

class ImportRun {
  readonly #ports: ImportMailPorts;
  readonly #request: ImportRequest;
  readonly #observer: ImportObserver;
  readonly #counts: ImportCounts;
  readonly #limit = new Limit({ size: AT_ONCE, maxWeight: MAX_BYTES_AT_ONCE });
  readonly #marks: MarkWriter;
  /** Aborted by the caller, or because the database or the storage failed. */
  readonly #signal: AbortSignal;
  readonly #fatal = new AbortController();

  constructor(
    ports: ImportMailPorts,
    request: ImportRequest,
    observer: ImportObserver,
    counts: ImportCounts,
    signal: AbortSignal,
  ) {
    this.#ports = ports;
    this.#request = request;
    this.#observer = observer;
    this.#counts = counts;
    this.#signal = AbortSignal.any([signal, this.#fatal.signal]);
    this.#marks = new MarkWriter(ports.marks, ports.files, request.accountId, ports.logger);
  }

  async run(): Promise<void> {
    await this.#marks.deleteOld();
    let batch: MailFile[] = [];
    for await (const listed of this.#ports.files.list(this.#request.paths)) {
      if (this.#signal.aborted) break;
      if (listed.kind === 'unusable') {
        this.#fail({ path: listed.path, offset: null, reason: listed.reason });
      } else if (this.#isLeftOut(listed.file)) {
        this.#observer.advanced(listed.file.sizeBytes);
      } else if (listed.file.format === 'mbox') {
        await this.#importMbox(listed.file);
      } else {
        batch.push(listed.file);
        if (batch.length < FILES_AT_ONCE) continue;
        await this.#importFiles(batch);
        batch = [];
      }
    }
    await this.#importFiles(batch);
    await this.#limit.idle();
    await this.#marks.flush();
    if (this.#fatal.signal.aborted) throw this.#fatal.signal.reason;
  }

  async #importFiles(files: readonly MailFile[]): Promise<void> {
    if (files.length === 0 || this.#signal.aborted) return;
    const keyed = files.map((file) => ({ file, key: this.#keyOf(file) }));
    const done = await this.#marks.findDone(keyed.map(({ key }) => key));
    for (const { file, key } of keyed) {
      if (this.#signal.aborted) return;
      if (done.has(key)) {
        this.#counts.unchangedFiles += 1;
        this.#observer.advanced(file.sizeBytes);
        continue;
      }
      await this.#begin(file.sizeBytes, async () => {
        const message = await this.#read(file, null, this.#ports.files.read(file));
        if (message !== null && (await this.#record(file, null, file.modifiedAt, message))) {
          this.#marks.done(key);
        }
        this.#observer.advanced(file.sizeBytes);
      });
    }
  }

  async #importMbox(file: MailFile): Promise<void> {
    if (this.#signal.aborted) return;
    const progress = await this.#marks.openMbox(file, this.#keyOf(file));
    let position = progress.position;
    this.#counts.mboxBytesBefore += position;
    if (position > 0) this.#observer.advanced(position);
    try {
      const chunks = this.#ports.files.read(file, position);
      for await (const { offset, date, body } of readMbox(chunks, position)) {
        if (this.#signal.aborted) break;
        this.#observer.advanced(offset - position);
        position = offset;
        progress.begin(offset);
        // Read one after the other, in the order of the file; recorded in parallel.
        const message = await this.#read(file, offset, body);
        if (message === null) continue;
        await this.#begin(sizeOf(message.raw), async () => {
          if (await this.#record(file, offset, date ?? file.modifiedAt, message)) progress.done(offset);
        });
      }
      if (!this.#signal.aborted) progress.end(file.sizeBytes);
    } catch (error) {
      this.#fail({ path: file.path, offset: position, reason: reasonOf(error) });
    }
    this.#observer.advanced(file.sizeBytes - position);
    await this.#limit.idle();
    await this.#marks.flush();
  }

  /** Waits until there is room for the work and begins it; does not wait for its end. When it rejects, the import ends. */
  async #begin(bytes: number, work: () => Promise<void>): Promise<void> {
    // Otherwise work that computes before it waits would all begin at once, and answers to earlier work would wait
    // unread.
    await setImmediate();
    const end = await this.#limit.begin({ weight: bytes });
    work()
      .finally(end)
      .catch((error: unknown) => this.#fatal.abort(error));
  }

  /** null when it can't be read. */
  async #read(
    { path }: MailFile,
    offset: number | null,
    body: AsyncIterable<Buffer>,
  ): Promise<ReadMessage | null> {
    try {
      return await readImported(this.#ports, body);
    } catch (error) {
      this.#end({ path, offset }, error);
      return null;
    }
  }

  /** False when it has to be read again: recording failed, or the import ended. */
  async #record(
    file: MailFile,
    offset: number | null,
    foundAt: Date,
    message: ReadMessage,
  ): Promise<boolean> {
    const { path, format, isRead } = file;
    const { accountId, since, isUnread } = this.#request;
    const isSentCopy = this.#isSent(file);
    const place = format === 'mbox' ? 'mbox' : isRead === null ? 'file' : 'maildir';
    const mark = isUnread ? false : format === 'mbox' ? null : (isRead ?? true);
    try {
      const outcome = await recordImported(
        this.#ports,
        { ...message, accountId, isSentCopy, since, isRead: mark, foundAt, place },
        (reason) => this.#observer.waiting(reason),
        this.#signal,
      );
      if (outcome === 'stopped') return false;
      // A separator in an mbox file with nothing after it is not an email.
      if (outcome === 'empty' && offset !== null) return true;
      this.#counts[outcome] += 1;
      if (outcome === 'empty') this.#observer.empty(path);
      return outcome !== 'empty';
    } catch (error) {
      this.#end({ path, offset }, error);
      return false;
    }
  }

  #isSent({ use }: MailFile): boolean {
    const { as } = this.#request;
    return as === 'sent' || (as === 'folders' && use === 'sent');
  }

  /** Drafts are neither sent nor received; an email in the trash may be either. */
  #isLeftOut({ use }: MailFile): boolean {
    if (this.#request.as !== 'folders' || use === null || use === 'sent') return false;
    this.#counts[use] += 1;
    return true;
  }

  /** Ends one email or, if all would fail, the import. */
  #end(place: Omit<ImportFailure, 'reason'>, error: unknown): void {
    if (isFatal(error)) this.#fatal.abort(error);
    else this.#fail({ ...place, reason: reasonOf(error) });
  }

  #fail(failure: ImportFailure): void {
    this.#counts.failed += 1;
    this.#observer.failed(failure);
  }

  /** A file that is done is done only for the same kind of import. */
  #keyOf(file: MailFile): string {
    const { since } = this.#request;
    return createHash('sha256')
      .update(JSON.stringify([file.key, this.#isSent(file), since]))
      .digest('hex');
  }
}

/** The error with its causes, such as the database's message. */
function reasonOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  return error.cause === undefined ? error.message : `${error.message}: ${reasonOf(error.cause)}`;
}
