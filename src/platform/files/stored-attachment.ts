import type { Readable } from 'node:stream';
import type { ByteRange } from './file-ports.ts';

/** An attachment as it is stored. */
export interface StoredAttachment {
  readonly id: string;
  /** As the sender named it, for display and download; not a path. */
  readonly filename: string;
  readonly contentType: string;
  readonly sizeBytes: number;
  /** `<account_id>/<email_id>/<filename>`, the last part made safe and unique within the email. */
  readonly storagePath: string;
  /** SHA-256 of the bytes, lower-case hex. */
  readonly sha256: string;
  /** Without angle brackets (RFC 2392); null for none. */
  readonly contentId: string | null;
  /** Part of the displayed email, such as a logo, and not a file that was attached. */
  readonly inline: boolean;
}

/** Opens files that were found, within the accounts of the caller. */
export interface StoredFiles {
  /** The type under which a browser may show it; null when it may only be downloaded. Throws `content_missing`. */
  inlineTypeOf(attachment: StoredAttachment): Promise<string | null>;
  /** Throws `content_missing`. */
  openAttachment(attachment: StoredAttachment, range?: ByteRange): Promise<Readable>;
}
