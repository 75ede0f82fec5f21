/** Files of an email in a JSON body: new ones in Base64, and those that the service already has. */
import { sizeOf } from '../../platform/files/content.ts';
import type { Content } from '../../platform/files/file-ports.ts';
import { isReference, type FileReference, type SendAttachment } from './take-references.ts';
import { invalidRequest, ServiceError } from '../../core/errors.ts';
import type { Mistakes } from '../../core/mistakes.ts';
import { decodeBase64 } from '../../platform/http/body/base64-decoder.ts';
import {
  isBlank,
  readText,
  readUuid,
  refuseUnknown,
  toFields,
  wrongType,
  type Fields,
} from '../../platform/http/body/fields.ts';
import { FILENAME_PATTERN, isOneLine } from '../../core/one-line.ts';
import type { JsonWithLongStrings } from '../../platform/http/body/json-long-strings.ts';
import type { HttpLimits } from '../../platform/http/connections/limits.ts';
import { OptionalText, Uuid } from '../../platform/schemas/schemas.ts';

const CONTENT_ID = OptionalText(
  'Content-ID of an image that the HTML shows by `cid:…`. An image that the HTML does not reference is an ordinary attachment.',
);

const Filename = { title: 'Filename', type: 'string', pattern: FILENAME_PATTERN } as const;

export const AttachmentBody = {
  type: 'object',
  title: 'AttachmentInput',
  additionalProperties: false,
  required: ['filename', 'content'],
  properties: {
    filename: Filename,
    content: {
      type: 'string',
      contentEncoding: 'base64',
      description: 'Base64 of RFC 4648 §4 with padding; line breaks and spaces are skipped.',
    },
    content_type: OptionalText('MIME type; application/octet-stream when it is absent.'),
    content_id: CONTENT_ID,
  },
} as const;

const OptionalName = {
  title: 'NullableFilename',
  type: ['string', 'null'],
  pattern: FILENAME_PATTERN,
} as const;

/** A file that the service already has; `field` names it. */
const NamedFile = (title: string, field: string, description: string) => ({
  type: 'object',
  title,
  additionalProperties: false,
  required: [field],
  properties: {
    [field]: { ...Uuid, description },
    filename: { ...OptionalName, description: 'Default: the value of the file.' },
    content_type: OptionalText('Default: the value of the file.'),
    content_id: CONTENT_ID,
  },
});

export const AnyAttachment = {
  anyOf: [
    AttachmentBody,
    NamedFile('UploadedAttachment', 'upload_id', 'A file of `POST /api/uploads`.'),
    NamedFile(
      'RecordedAttachment',
      'attachment_id',
      'Id of an attachment of a recorded email of the same account. Also needs the right `read`.',
    ),
  ],
};

const ATTACHMENT_FIELDS = new Set([...Object.keys(AttachmentBody.properties), 'upload_id', 'attachment_id']);

/** The body of an operation that takes an email. */
export interface EmailJson extends JsonWithLongStrings {
  /** Called when a file of a stored email is to be sent: only a caller who may read the file may send it. Throws `forbidden_right`. */
  readonly requireRead: () => void;
  /** Called for what only an administrator may ask for. Throws `forbidden_right`. */
  readonly requireAdmin: () => void;
}

/**
 * In place of a file with a mistake that is noted there may be undefined.
 *
 * @param readOther reads an entry that is not a new file, which some operations allow; null: the entry is a new one
 */
export function readAttachments<Other = never>(
  value: unknown,
  json: EmailJson,
  limits: HttpLimits,
  mistakes: Mistakes,
  readOther: (fields: Fields, path: string) => Other | null = () => null,
): readonly (SendAttachment | Other)[] {
  const list: unknown = value ?? [];
  if (!Array.isArray(list)) throw wrongType('attachments', 'objects');
  if (list.length > limits.maxAttachments) {
    throw invalidRequest('too_many_entries', { field: 'attachments', limit: limits.maxAttachments });
  }
  let totalBytes = 0;
  return list.map((item: unknown, index) => {
    const path = `attachments[${index}]`;
    return mistakes.check(() => {
      const fields = toFields(item);
      if (fields === null) throw wrongType(path, 'object');
      const other = readOther(fields, path);
      if (other !== null) return other;
      const file = readFile(fields, path, json, mistakes);
      if (!isReference(file.content)) totalBytes += sizeOf(file.content);
      if (totalBytes > limits.maxAttachmentBytes) {
        throw new ServiceError('attachments_too_large', { values: { limit: limits.maxAttachmentBytes } });
      }
      return file;
    });
  });
}

/** Notes mistakes that leave the file readable, and throws one that does not. */
function readFile(fields: Fields, path: string, json: EmailJson, mistakes: Mistakes): SendAttachment {
  const textOf = (name: string) => mistakes.check(() => readText(fields, name, `${path}.${name}`));
  refuseUnknown(fields, ATTACHMENT_FIELDS, `${path}.`, mistakes.note);
  const filename = textOf('filename');
  if (typeof filename === 'string' && !isOneLine(filename))
    mistakes.note(invalidRequest('not_one_line', { field: `${path}.filename` }));
  const contentType = textOf('content_type');
  const contentId = textOf('content_id');
  const details = { filename, contentType, ...(contentId === null ? {} : { contentId }) };
  const reference = readReference(fields, path, json);
  if (reference !== null) {
    if (filename !== null && isBlank(filename)) throw invalidFilename(path);
    return { ...details, content: reference };
  }
  if (isBlank(filename)) mistakes.note(invalidFilename(path));
  const text = readText(fields, 'content', `${path}.content`);
  if (text === null) throw invalidRequest('missing', { field: `${path}.content` });

  const content = toContent(text, json.longStrings);
  if (content === 'invalid')
    throw new ServiceError('invalid_base64', { values: { field: `${path}.content` } });
  return { ...details, content };
}

const invalidFilename = (path: string) =>
  new ServiceError('invalid_filename', { values: { field: `${path}.filename` } });

/** null when the bytes themselves are given. */
function readReference(fields: Fields, path: string, { requireRead }: EmailJson): FileReference | null {
  const upload = readUuid(fields, 'upload_id', `${path}.upload_id`);
  const attachment = readUuid(fields, 'attachment_id', `${path}.attachment_id`);
  const given = [upload, attachment, fields['content'] ?? null].filter((value) => value !== null);
  if (given.length > 1) throw invalidRequest('one_content', { field: path });
  if (upload !== null) return { kind: 'upload', id: upload };
  if (attachment === null) return null;
  requireRead();
  return { kind: 'attachment', id: attachment };
}

function toContent(text: string, longStrings: JsonWithLongStrings['longStrings']): Content | 'invalid' {
  const long = longStrings.get(text);
  if (long !== undefined) return long;
  const bytes = decodeBase64(text);
  return bytes === null ? 'invalid' : { kind: 'bytes', bytes };
}
