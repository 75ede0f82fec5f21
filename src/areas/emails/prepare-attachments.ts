/** Prepares the names, paths and checksums of a send's attachments. */
import { setImmediate } from 'node:timers/promises';
import type { IdSource } from '../../platform/base/basics.ts';
import type { StoredAttachment } from '../../platform/files/stored-attachment.ts';
import { type ContentPorts, sha256, sizeOf } from '../../platform/files/content.ts';
import type { Content } from '../../platform/files/file-ports.ts';
import { ServiceError } from '../../core/errors.ts';
import { StorageNames, displayFilename } from '../../core/mime/text/filename.ts';

/** One attachment of a send. */
export interface AttachmentInput {
  /** As given; may hold anything a caller can type, paths included. */
  readonly filename: string;
  /** As given, such as `application/pdf`; null means application/octet-stream. */
  readonly contentType: string | null;
  /** Decoded bytes. */
  readonly content: Content;
  /** See `StoredAttachment`; default: null. */
  readonly contentId?: string | null;
  /** See `StoredAttachment`; default: false. */
  readonly inline?: boolean;
}

/** Attachments that are prepared between two turns of the event loop. */
const AT_ONCE = 50;

interface AttachmentPorts extends ContentPorts {
  readonly ids: IdSource;
}

/** @param prefix of their names in storage. Throws `invalid_filename`. */
export async function prepareAttachments(
  ports: AttachmentPorts,
  accountId: string,
  emailId: string,
  inputs: readonly AttachmentInput[],
  prefix = '',
): Promise<readonly { readonly stored: StoredAttachment; readonly content: Content }[]> {
  const names = new StorageNames();
  const prepared = [];
  for (const [index, input] of inputs.entries()) {
    const { filename, contentType, content, contentId = null, inline = false } = input;
    // Attachments in memory never wait for I/O: a thousand would block the event loop.
    if (index % AT_ONCE === AT_ONCE - 1) await setImmediate();
    if (filename.trim() === '') {
      throw new ServiceError('invalid_filename', { values: { field: `attachments[${index}].filename` } });
    }
    const display = displayFilename(filename);
    const segment = names.add(display);
    prepared.push({
      stored: {
        id: ports.ids.uuid(),
        filename: display,
        contentType: contentType ?? 'application/octet-stream',
        sizeBytes: sizeOf(content),
        storagePath: `${accountId}/${emailId}/${prefix}${segment}`,
        sha256: await sha256(ports, content),
        contentId,
        inline,
      },
      content,
    });
  }
  return prepared;
}
