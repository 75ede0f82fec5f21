/** What importing needs from the outside. */
import type { SpecialFolder } from '../../core/mailbox/special-folder.ts';
import type { AccountFilter } from '../base/account-filter.ts';

/** A file that may hold emails. */
export interface MailFile {
  /** For messages to a person; may hold any character. */
  readonly path: string;
  /** `message`: the file is one email. */
  readonly format: 'message' | 'mbox';
  readonly sizeBytes: number;
  readonly modifiedAt: Date;
  /** In a Maildir, whether it was read; null elsewhere. */
  readonly isRead: boolean | null;
  /** What its folder is for, by its name, or its own mark as a draft; null for any other. */
  readonly use: SpecialFolder | null;
  /** The same file, also under another name; for a `message`, one that was not changed since. */
  readonly key: string;
}

/** `unusable`: `reason` says in English why it can't be imported. */
export type ListedFile =
  | { readonly kind: 'file'; readonly file: MailFile }
  | { readonly kind: 'unusable'; readonly path: string; readonly reason: string };

export interface MailFiles {
  /** What is at the paths, folders with all they hold. Throws nothing but bugs. */
  list(paths: readonly string[]): AsyncIterable<ListedFile>;
  /** From the offset on. Throws what the file system says, also when the file is not what was listed. */
  read(file: MailFile, offset?: number): AsyncIterable<Buffer>;
  /**
   * A digest of what stands before the position, by which it is known again. null when the file does not end there and
   * no message begins there.
   */
  digestBefore(file: MailFile, position: number): Promise<string | null>;
}

/** How far a run of the command has come. */
export interface ImportProgress {
  /** Emails. */
  readonly imported: number;
  /** Emails that were recorded before, and files that an import before was done with. */
  readonly known: number;
  /** Emails and files: older than wanted, empty, or of a folder that is left out. */
  readonly leftOut: number;
  /** Emails and files. */
  readonly failed: number;
  /** Of all files, whatever became of them. */
  readonly bytesDone: number;
  /** null: not counted yet. */
  readonly bytesTotal: number | null;
}

/** `stopped`: by its operator. `failed`: the database or the storage stayed away; what could not be imported is no failure of it. */
export type ImportOutcome = 'done' | 'stopped' | 'failed';

export interface ImportRecord extends ImportProgress {
  readonly id: string;
  readonly accountId: string;
  readonly startedAt: Date;
  /** When it was heard of last. */
  readonly updatedAt: Date;
  /** `cut_off`: it ended without saying so, as when its machine stopped. */
  readonly state: 'running' | 'cut_off' | ImportOutcome;
}

/** The runs of the command, each with its progress. Throws `ServiceError('database_unavailable')`. */
export interface ImportLog {
  /** Returns its identifier. Forgets those that ended long ago. */
  begin(accountId: string): Promise<string>;
  /** `outcome` null: it goes on. */
  note(id: string, progress: ImportProgress, outcome: ImportOutcome | null): Promise<void>;
  /** The newest first. */
  list(filter: AccountFilter, limit: number): Promise<readonly ImportRecord[]>;
}

/** How far an mbox file was read. */
export interface MboxMark {
  /** Everything before it is recorded; the file ends here, or a message begins. */
  readonly position: number;
  /** `MailFiles.digestBefore`. */
  readonly digest: string;
}

/**
 * What of the files is recorded. It only saves work: an email that comes again is known by its identity.
 * Throws `ServiceError('database_unavailable')`.
 */
export interface ImportMarks {
  /** Which of the files are done. Keys are 32 bytes in hex. */
  findDone(accountId: string, keys: readonly string[]): Promise<ReadonlySet<string>>;
  findMbox(accountId: string, key: string): Promise<MboxMark | null>;
  markDone(accountId: string, keys: readonly string[]): Promise<void>;
  markMbox(accountId: string, key: string, mark: MboxMark): Promise<void>;
  /** Deletes marks so old that no import will continue from them. */
  deleteOld(): Promise<void>;
}
