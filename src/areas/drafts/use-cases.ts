/** The use cases of drafts that the edges call. */
import type { PageRequest } from '../../platform/base/paging.ts';
import type { SpoolFolder } from '../../platform/files/file-ports.ts';
import type { ReplyRequest } from '../reply/use-cases.ts';
import type { UnfinishedSend } from '../send/read-additions.ts';
import type { SendAttachment } from '../send/take-references.ts';
import type { SendOnceResult, SendRequest } from '../send/use-cases.ts';
import type {
  Draft,
  DraftAnswer,
  DraftFile,
  DraftFilter,
  DraftMessage,
  DraftSummary,
} from './draft-ports.ts';

/**
 * A file that the draft has already, or a new one: its bytes, or an upload or an attachment of an email, which is copied.
 */
export type DraftFileInput = { readonly keptId: string } | SendAttachment;

/** Undefined fields stay as they are; in a new draft they are empty. */
export interface DraftChange {
  readonly author?: string | null;
  readonly answers?: DraftAnswer | null;
  /** Only these fields change; null removes one. */
  readonly message?: DraftMessage;
  /** These fields as a send reads them. */
  readonly unfinished?: UnfinishedSend;
  /** All files that it has from now on. */
  readonly files?: readonly DraftFileInput[];
  /** The key that makes or changes the draft; null: none. */
  readonly authorKeyId: string | null;
  /** All files together, in bytes, and their number. */
  readonly maxFileBytes: number;
  readonly maxFiles: number;
}

export interface DraftsRequest extends DraftFilter, PageRequest {}

export interface DraftsPage {
  readonly drafts: readonly DraftSummary[];
  /** null on the last page. */
  readonly nextCursor: string | null;
}

/** A draft as the send that it describes. */
export type DraftSend =
  | { readonly kind: 'send'; readonly request: SendRequest }
  | { readonly kind: 'reply'; readonly request: ReplyRequest };

export interface SendDraftRequest {
  readonly id: string;
  /** null: any version. A repeat that may come after the draft is gone needs a version. */
  readonly version: number | null;
  /** Reads the draft's send, without its files. Throws as a send does when something is missing or wrong. */
  readonly read: (draft: Draft) => DraftSend;
}

export interface DraftUseCases {
  /**
   * Takes over `folder`, as `changeDraft` and `sendDraft` do. Throws `draft_file_not_found`, `upload_not_found`,
   * `attachment_not_found`, `content_missing`, `attachments_too_large`, `unknown_account`.
   */
  createDraft(change: DraftChange, folder: SpoolFolder): Promise<Draft>;
  /** Throws `draft_not_found`. */
  readDraft(id: string): Promise<Draft>;
  /** `openAttachment` returns its bytes. Throws `draft_file_not_found`, also when the draft does not exist. */
  readDraftFile(id: string, fileId: string): Promise<DraftFile>;
  /** Throws `invalid_cursor`. */
  listDrafts(request: DraftsRequest): Promise<DraftsPage>;
  /** Throws `draft_not_found`, `draft_changed`, `draft_being_sent`, and the errors of `createDraft`. */
  changeDraft(id: string, version: number, change: DraftChange, folder: SpoolFolder): Promise<Draft>;
  /** Throws `draft_not_found`, `draft_changed`, `draft_being_sent`. */
  deleteDraft(id: string, version: number | null, keyId: string | null): Promise<void>;
  /**
   * Sends a version of a draft once, however often it is requested; then the draft is gone. It stays when the mail server
   * refused it: a changed version is another send. Throws the errors of `sendOnce` and of `deleteDraft`.
   */
  sendDraft(request: SendDraftRequest, folder: SpoolFolder): Promise<SendOnceResult>;
}
