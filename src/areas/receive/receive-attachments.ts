/** The files of a received message, decoded: small ones in memory, large ones into the spool. */
import { decodeTransfer, decodeTransferStream } from '../../core/mime/parse/transfer-decoding.ts';
import type { ParsedAttachment } from '../../core/mime/parse/parsed-message.ts';
import type { AttachmentInput } from '../emails/prepare-attachments.ts';
import { ATTACHMENTS_IN_MEMORY_MAX_BYTES } from '../../platform/base/limits.ts';
import type { ByteRange, Content, SpoolFolder } from '../../platform/files/file-ports.ts';

export interface ReceiveAttachmentsPorts {
  readonly openFile: (path: string, range?: ByteRange) => AsyncIterable<Buffer>;
}

type EncodedRange = Extract<ParsedAttachment['content'], { kind: 'range' }>;

/** In the order of the message. */
export async function readReceivedAttachments(
  ports: ReceiveAttachmentsPorts,
  raw: Content,
  attachments: readonly ParsedAttachment[],
  folder: SpoolFolder,
): Promise<readonly AttachmentInput[]> {
  let memoryLeft = ATTACHMENTS_IN_MEMORY_MAX_BYTES;
  const read = async (content: ParsedAttachment['content']): Promise<Content> => {
    if (content.kind === 'bytes') return { kind: 'bytes', bytes: content.bytes };
    const { start, end, encoding } = content;
    if (raw.kind === 'bytes') {
      return { kind: 'bytes', bytes: decodeTransfer(raw.bytes.subarray(start, end), encoding) };
    }
    const decoded = decodedRange(ports, raw.path, content);
    if (end - start > memoryLeft) return folder.write(decoded);
    memoryLeft -= end - start;
    const pieces: Buffer[] = [];
    for await (const piece of decoded) pieces.push(piece);
    return { kind: 'bytes', bytes: Buffer.concat(pieces) };
  };
  const inputs: AttachmentInput[] = [];
  for (const { filename, contentType, content, contentId, inline } of attachments) {
    const name = filename.trim() === '' ? 'attachment' : filename;
    inputs.push({ filename: name, contentType, content: await read(content), contentId, inline });
  }
  return inputs;
}

async function* decodedRange(
  ports: ReceiveAttachmentsPorts,
  path: string,
  { start, end, encoding }: EncodedRange,
): AsyncGenerator<Buffer> {
  // Nothing to read, and no range can express that: both its ends are included.
  if (end <= start) return;
  yield* decodeTransferStream(ports.openFile(path, { start, end: end - 1 }), encoding);
}
