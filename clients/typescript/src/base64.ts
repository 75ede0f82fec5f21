/** Encodes attachments for the API. */
import type { components } from './generated/openapi.ts';
import type { AttachmentSource, NamedBlob } from './types.ts';

/** A multiple of 3, so that pieces can be joined, and few enough for the arguments of one function call. */
const PIECE_BYTES = 0x6000;

type SentAttachment = components['schemas']['AttachmentInput' | 'UploadedAttachment' | 'RecordedAttachment'];

export async function encodeAttachment(source: AttachmentSource): Promise<SentAttachment> {
  if (!isNamedBlob(source) && !('content' in source)) return { ...source } as SentAttachment;
  const { filename, content, content_type, content_id } = isNamedBlob(source)
    ? { filename: source.name, content: source, content_type: undefined, content_id: undefined }
    : source;
  const type = content_type ?? (content instanceof Blob && content.type !== '' ? content.type : undefined);
  return {
    filename,
    content: typeof content === 'string' ? content : encodeBase64(await readBytes(content)),
    ...(type === undefined ? {} : { content_type: type }),
    ...(content_id === undefined ? {} : { content_id }),
  };
}

const isNamedBlob = (source: AttachmentSource): source is NamedBlob => source instanceof Blob;

async function readBytes(content: Uint8Array | ArrayBuffer | Blob): Promise<Uint8Array> {
  if (content instanceof Uint8Array) return content;
  if (content instanceof ArrayBuffer) return new Uint8Array(content);
  if (content instanceof Blob) return new Uint8Array(await content.arrayBuffer());
  throw new TypeError('content of an attachment must be Base64 text, a Uint8Array, an ArrayBuffer or a Blob');
}

/** RFC 4648 §4. `Uint8Array.prototype.toBase64` is too new to rely on. */
export function encodeBase64(bytes: Uint8Array): string {
  let text = '';
  for (let at = 0; at < bytes.length; at += PIECE_BYTES)
    text += btoa(String.fromCharCode(...bytes.subarray(at, at + PIECE_BYTES)));
  return text;
}
