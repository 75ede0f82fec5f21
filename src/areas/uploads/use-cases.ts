/** The use cases of uploads that the edges call. */
import type { Content, SpoolFolder } from '../../platform/files/file-ports.ts';
import type { Upload } from './upload-store.ts';

export interface UploadRequest {
  readonly content: Content;
  /** As given. */
  readonly filename: string;
  /** null: application/octet-stream. */
  readonly contentType: string | null;
  /** null: the default account. */
  readonly accountId: string | null;
  /** SHA-256 that the caller expects, lower-case hex; null for none. */
  readonly expectedSha256: string | null;
}

export interface UploadUseCases {
  /**
   * Keeps a file for a day, for sends of its account. Takes over `folder`. Throws `invalid_filename`, `invalid_content_type`,
   * `content_digest_mismatch`, `unknown_account`, `uploads_full`.
   */
  createUpload(request: UploadRequest, folder: SpoolFolder): Promise<Upload>;
}
