/** Names, places and checksums of a send's attachments. */
import { createHash } from 'node:crypto';
import { ServiceError } from '../core/errors.ts';
import { displayFilename, storageFilename } from '../core/mime/filename.ts';
import type { AttachmentInput } from './application.ts';
import type { Content, IdSource, StoredAttachment } from './ports.ts';

interface ContentPorts {
  readonly openFile: (path: string) => AsyncIterable<Buffer>;
}

interface AttachmentPorts extends ContentPorts {
  readonly ids: IdSource;
}

/** Throws `invalid_filename`. */
export async function prepareAttachments(
  ports: AttachmentPorts,
  accountId: string,
  emailId: string,
  inputs: readonly AttachmentInput[],
): Promise<readonly { readonly stored: StoredAttachment; readonly content: Content }[]> {
  const taken = new Set<string>();
  const prepared = [];
  for (const [index, { filename, contentType, content }] of inputs.entries()) {
    if (filename.trim() === '') {
      throw new ServiceError('invalid_filename', { values: { field: `attachments[${index}].filename` } });
    }
    const display = displayFilename(filename);
    const segment = storageFilename(display, taken);
    taken.add(segment);
    prepared.push({
      stored: {
        id: ports.ids.uuid(),
        filename: display,
        contentType: contentType ?? 'application/octet-stream',
        sizeBytes: sizeOf(content),
        storagePath: `${accountId}/${emailId}/${segment}`,
        sha256: await sha256(ports, content),
      },
      content,
    });
  }
  return prepared;
}

/** In bytes. */
export function sizeOf(content: Content): number {
  return content.kind === 'bytes' ? content.bytes.length : content.sizeBytes;
}

/** The bytes of a content, in pieces. */
export async function* readContent(ports: ContentPorts, content: Content): AsyncGenerator<Buffer> {
  if (content.kind === 'bytes') yield content.bytes;
  else yield* ports.openFile(content.path);
}

/** Lower-case hex. */
export async function sha256(ports: ContentPorts, content: Content): Promise<string> {
  const hash = createHash('sha256');
  for await (const chunk of readContent(ports, content)) hash.update(chunk);
  return hash.digest('hex');
}
