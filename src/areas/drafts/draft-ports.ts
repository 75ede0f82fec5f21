/** Drafts as the database stores them. */
import type { StoredAttachment } from '../../platform/files/stored-attachment.ts';
import type { AccountFilter } from '../../platform/base/account-filter.ts';
import type { KeyAuthor } from '../../core/keys/author.ts';
import type { Place } from '../../platform/base/paging.ts';
import type { ReplyKind } from '../reply/use-cases.ts';
import type { ReplyLanguage } from '../../core/reply/quote.ts';

/** The email that a draft answers. JSON values only. */
export interface DraftAnswer {
  readonly emailId: string;
  readonly kind: ReplyKind;
  readonly quote: boolean;
  /** null: it is no forward. */
  readonly withFiles: boolean | null;
  /** Both null: there is no quote. */
  readonly language: ReplyLanguage | null;
  readonly timeZone: string | null;
}

/** The fields of a send as the caller wrote them, without files. */
export type DraftMessage = Readonly<Record<string, unknown>>;

/** The parts of a draft that a caller may change. */
export interface DraftContent {
  /** The author as the caller names people; null for none. */
  readonly author: string | null;
  /** null: it begins a conversation, or its message itself names what it answers. */
  readonly answers: DraftAnswer | null;
  readonly message: DraftMessage;
  readonly files: readonly StoredAttachment[];
}

/** A draft without its long parts, for lists. */
export interface DraftSummary {
  readonly id: string;
  /** Begins with 1; changes with each change. */
  readonly version: number;
  /** The account that its send would go out from, as far as it was known when the draft was written. */
  readonly accountId: string;
  readonly threadId: string | null;
  readonly author: string | null;
  /** The key that made it; null: none. */
  readonly createdBy: KeyAuthor | null;
  readonly answers: DraftAnswer | null;
  /** As written, shortened. */
  readonly recipients: string;
  readonly subject: string;
  readonly fileCount: number;
  /** A request is sending it: it can't be changed. */
  readonly isBeingSent: boolean;
  readonly createdAt: Date;
  readonly updatedAt: Date;
}

export interface Draft extends Omit<DraftSummary, 'recipients' | 'subject' | 'fileCount'>, DraftContent {}

/** The facts that decide the account of its send. */
export interface DraftAccount {
  readonly answers: DraftAnswer | null;
  /** As the message names it; null: that of the email that it answers, else the default account. */
  readonly accountId: string | null;
  readonly defaultAccountId: string;
  readonly threadId: string | null;
}

/** The stored form of a content. */
export interface DraftRecord extends DraftContent, DraftAccount {
  readonly id: string;
  /** The key that makes or changes the draft; null: none. */
  readonly keyId: string | null;
  readonly recipients: string;
  readonly subject: string;
}

/** A file, and the account of its draft. */
export interface DraftFile {
  readonly accountId: string;
  readonly file: StoredAttachment;
}

export interface DraftFilter extends AccountFilter {
  readonly threadId: string | null;
  readonly author: string | null;
}

/** The reason why a draft could not be changed. `changed`: it has another version. */
export type DraftRefusal =
  | { readonly kind: 'not_found' }
  | { readonly kind: 'changed'; readonly version: number }
  | { readonly kind: 'being_sent' };

/** All throw `ServiceError('database_unavailable')`; a change may then have been made nevertheless. */
export interface DraftStore {
  create(record: DraftRecord): Promise<Draft>;
  read(id: string): Promise<Draft | null>;
  /** null: the draft does not exist, or has no such file. */
  readFile(id: string, fileId: string): Promise<DraftFile | null>;
  /** The account that a send of this draft would go out from. */
  accountOf(draft: DraftAccount): Promise<string>;
  /** The most recently changed first. */
  list(filter: DraftFilter, after: Place | null, limit: number): Promise<readonly DraftSummary[]>;
  /** Replaces everything in the version. Also returns the files that nothing refers to any more. */
  change(
    version: number,
    record: DraftRecord,
  ): Promise<
    { readonly kind: 'done'; readonly draft: Draft; readonly orphans: readonly string[] } | DraftRefusal
  >;
  /** @param version null: any version */
  delete(
    id: string,
    version: number | null,
    keyId: string | null,
  ): Promise<{ readonly kind: 'done'; readonly orphans: readonly string[] } | DraftRefusal>;
  /**
   * From now on the version is sent as this email, and not changed. It is deleted, or released, when the idempotency key
   * of the request is completed or released.
   */
  beginSending(
    id: string,
    version: number,
    emailId: string,
  ): Promise<{ readonly kind: 'done' } | DraftRefusal>;
}
