/**
 * The parts of a MIME message, RFC 2045 and RFC 2046: texts, attachments and the multiparts around them. A part is a
 * plan: its small pieces are ready; the content of attachments is encoded when the message is written.
 */
import { encodeText } from './text-encoding.ts';
import { parseContentType, toAttachmentType } from './content-type.ts';
import { asciiFilename, displayFilename } from '../text/filename.ts';
import { formatLines } from './header.ts';
import { MAX_BOUNDARY_CHARS } from '../limits.ts';
import { formatParameter, isPlainParameter } from './parameter.ts';

/** Content of an attachment: in memory, or in a file that is read while the message is streamed. */
export type PartContent =
  | { readonly kind: 'bytes'; readonly bytes: Buffer }
  | { readonly kind: 'file'; readonly path: string; readonly sizeBytes: number };

export interface Part {
  /** The header fields, each with its CRLF. */
  readonly header: string;
  /** Octets as they are, or content to be written in base64. Without the CRLF that belongs to a boundary. */
  readonly body: readonly (string | Buffer | PartContent)[];
}

/**
 * A text in UTF-8. `field` names it in errors. The message's boundaries are made from `seed`; a text that contains it (our
 * own message quoted back, or an attack) is encoded so that it contains no boundary. Throws `invalid_text`.
 */
export function textPart(subtype: 'plain' | 'html', text: string, field: string, seed: string): Part {
  const { transferEncoding, bytes } = encodeText(text, field, !text.includes(seed));
  const header = `Content-Type: text/${subtype}; charset=utf-8\r\nContent-Transfer-Encoding: ${transferEncoding}\r\n`;
  return { header, body: [bytes] };
}

/** A calendar beside the text, RFC 6047 §2.4: programs find its method in the header. Throws `invalid_text`. */
export function calendarPart(method: string, text: string, seed: string): Part {
  const { transferEncoding, bytes } = encodeText(text, 'invitation', !text.includes(seed));
  const header =
    `Content-Type: text/calendar; charset=utf-8; method=${method}\r\n` +
    `Content-Transfer-Encoding: ${transferEncoding}\r\n`;
  return { header, body: [bytes] };
}

/** A file, for download or shown by the HTML beside it. */
export interface FilePart {
  readonly filename: string;
  readonly contentType: string;
  readonly content: PartContent;
  /** Without angle brackets; see readContentId. */
  readonly contentId?: string | null;
  /** The HTML shows the file. */
  readonly inline?: boolean;
}

/** `field` names its content type in errors. Throws `invalid_content_type`. */
export function attachmentPart(
  { filename, contentType, content, contentId = null, inline = false }: FilePart,
  field: string,
): Part {
  const name = displayFilename(filename);
  const { mediaType, parameters } = toAttachmentType(parseContentType(contentType, field));
  const typeLines = [mediaType, ...parameters.flatMap(([key, value]) => formatParameter(key, value))];
  // Seen in practice: QQ webmail and old programs don't know RFC 2231; they get the name in ASCII. Encoded words in a
  // parameter, as other composers write them, are forbidden by RFC 2047 §5 (3).
  if (!isPlainParameter(name)) typeLines.push(`name="${asciiFilename(name)}"`);
  const dispositionLines = [inline ? 'inline' : 'attachment', ...formatParameter('filename', name)];
  const header =
    formatLines('Content-Type', typeLines) +
    formatLines('Content-Disposition', dispositionLines) +
    (contentId === null ? '' : `Content-ID: <${contentId}>\r\n`) +
    'Content-Transfer-Encoding: base64\r\n';
  return { header, body: [content] };
}

/**
 * Combines parts, RFC 2046 §5.1; those of `related` begin with the HTML that shows the others (RFC 2387). None of them may
 * contain the boundary; `=_` keeps it out of encoded ones.
 */
export function multipart(
  subtype: 'mixed' | 'alternative' | 'related',
  seed: string,
  parts: readonly Part[],
): Part {
  const boundary = `=_${subtype.charAt(0)}_${seed}`;
  if (boundary.length > MAX_BOUNDARY_CHARS) throw new RangeError('boundary too long');
  const type = subtype === 'related' ? ' type="text/html";' : '';
  const header = `Content-Type: multipart/${subtype};${type}\r\n boundary="${boundary}"\r\n`;
  const body = parts.flatMap((part, index) => [
    `${index === 0 ? '' : '\r\n'}--${boundary}\r\n${part.header}\r\n`,
    ...part.body,
  ]);
  return { header, body: [...body, `\r\n--${boundary}--`] };
}
