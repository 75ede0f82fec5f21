/** Names, places and checksums of a send's attachments. */
import { createHash } from 'node:crypto';
import { setImmediate } from 'node:timers/promises';
import { ServiceError } from '../core/errors.ts';
import { displayFilename, StorageNames } from '../core/mime/filename.ts';
import type { AttachmentInput } from './application.ts';
import type { Content, IdSource, StoredAttachment } from './ports.ts';

/** Attachments that are prepared between two turns of the event loop. */
const AT_ONCE = 50;

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
  const names = new StorageNames();
  const prepared = [];
  for (const [index, { filename, contentType, content }] of inputs.entries()) {
    // Those in memory are never waited for: a thousand would keep everything else waiting.
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
