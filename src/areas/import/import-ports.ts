/** The operations that importing needs from outside. */
import type { SpecialFolder } from '../../core/mailbox/special-folder.ts';
import type { AccountFilter } from '../../platform/base/account-filter.ts';

/** A file that may hold emails. */
export interface MailFile {
  /** For messages to a person; may hold any character. */
  readonly path: string;
  /** `message`: the file is one email. */
  readonly format: 'message' | 'mbox';
  readonly sizeBytes: number;
  readonly modifiedAt: Date;
  /** True if a Maildir marks it as read; null elsewhere. */
  readonly isRead: boolean | null;
  /** The use of its folder, by the folder's name, or its own mark as a draft; null for any other. */
  readonly use: SpecialFolder | null;
  /** Identifies the same file, also under another name; a `message` only as long as it is not changed. */
  readonly key: string;
}

/** `unusable`: `reason` is the English reason why it can't be imported. */
export type ListedFile =
  | { readonly kind: 'file'; readonly file: MailFile }
  | { readonly kind: 'unusable'; readonly path: string; readonly reason: string };

export interface MailFiles {
  /** The files at the paths, and all files in folders among them. Throws nothing but bugs. */
  list(paths: readonly string[]): AsyncIterable<ListedFile>;
  /** Reads from the offset on. Throws errors of the file system, also when the file is not the one that was listed. */
  read(file: MailFile, offset?: number): AsyncIterable<Buffer>;
  /**
   * A digest of the bytes before the position, which identifies them later. null when the file does not end there and no
   * message begins there.
   */
  digestBefore(file: MailFile, position: number): Promise<string | null>;
}

/** The progress of one run of the command. */
export interface ImportProgress {
  /** Emails. */
  readonly imported: number;
  /** Emails that were recorded before, and files that an earlier import finished. */
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

/**
 * `stopped`: by its operator. `failed`: the database or the storage stayed unavailable; emails that could not be imported
 * do not make a run fail.
 */
export type ImportOutcome = 'done' | 'stopped' | 'failed';

export interface ImportRecord extends ImportProgress {
  readonly id: string;
  readonly accountId: string;
  readonly startedAt: Date;
  /** The time of its last sign of life. */
  readonly updatedAt: Date;
  /** `cut_off`: it ended without a note, as when its machine stopped. */
  readonly state: 'running' | 'cut_off' | ImportOutcome;
}

/** The runs of the command, each with its progress. Throws `ServiceError('database_unavailable')`. */
export interface ImportLog {
  /** Returns its identifier. Forgets runs that ended long ago. */
  begin(accountId: string): Promise<string>;
  /** `outcome` null: it continues. */
  note(id: string, progress: ImportProgress, outcome: ImportOutcome | null): Promise<void>;
  /** The newest first. */
  list(filter: AccountFilter, limit: number): Promise<readonly ImportRecord[]>;
}

/** The progress in an mbox file. */
export interface MboxMark {
  /** Everything before it is recorded; the file ends here, or a message begins here. */
  readonly position: number;
  /** See `MailFiles.digestBefore`. */
  readonly digest: string;
}

/**
 * Marks which files are recorded. This only saves work: an email that comes again is recognised by its identity. All
 * throw `ServiceError('database_unavailable')`.
 */
export interface ImportMarks {
  /** Those of the files that are done. Keys are 32 bytes in hex. */
  findDone(accountId: string, keys: readonly string[]): Promise<ReadonlySet<string>>;
  findMbox(accountId: string, key: string): Promise<MboxMark | null>;
  markDone(accountId: string, keys: readonly string[]): Promise<void>;
  markMbox(accountId: string, key: string, mark: MboxMark): Promise<void>;
  /** Deletes marks so old that no import will continue from them. */
  deleteOld(): Promise<void>;
}
