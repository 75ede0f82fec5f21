/**
 * JSON schemas that several routes share. They give types, validation and the OpenAPI document.
 */
import type { XStatic } from 'typebox/schema';
import { ERRORS, ServiceError } from '../../../core/errors.ts';
import type { ErrorCode } from '../../../core/errors.ts';

/** Any UUID of RFC 9562 §4; upper case is accepted and made lower-case. */
export const UUID_PATTERN = '^[0-9a-fA-F]{8}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{12}$';

export const Uuid = { type: 'string', format: 'uuid', pattern: UUID_PATTERN } as const;

export const Timestamp = {
  type: 'string',
  format: 'date-time',
  description: 'ISO 8601 in UTC, with milliseconds.',
} as const;

/** RFC 5322 Message-ID with its angle brackets. */
export const MessageIdText = {
  type: 'string',
  pattern: '^<.+>$',
  description: 'Message-ID with angle brackets, `<local@domain>`.',
} as const;

export const AddressObject = {
  type: 'object',
  title: 'Address',
  additionalProperties: false,
  required: ['name', 'address'],
  properties: {
    name: { type: 'string', description: 'Display name; empty when there is none.' },
    address: { type: 'string', description: '`local@domain`.' },
  },
} as const;

export const AttachmentRecord = {
  type: 'object',
  title: 'Attachment',
  additionalProperties: false,
  required: ['id', 'filename', 'content_type', 'size_bytes', 'storage_path'],
  properties: {
    id: Uuid,
    filename: { type: 'string', description: 'As the sender named it; not a path.' },
    content_type: { type: 'string', description: 'MIME type.' },
    size_bytes: { type: 'integer', minimum: 0 },
    storage_path: { type: 'string', description: '`<account_id>/<email_id>/<filename>`.' },
  },
} as const;

/** The fields of an email in lists, in the order of the specification. */
export const emailProperties = {
  id: Uuid,
  message_id: MessageIdText,
  direction: { type: 'string', enum: ['inbound', 'outbound'] },
  from_address: AddressObject,
  to_addresses: { type: 'array', items: AddressObject },
  subject: { type: 'string' },
  text_body: { type: 'string', description: 'Plain text; HTML-only mail is rendered to text.' },
  date: Timestamp,
  has_attachments: { type: 'boolean' },
  email_attachments: {
    type: 'array',
    items: AttachmentRecord,
    description: 'Empty when there are none.',
  },
} as const;

export const emailFields = [
  'id',
  'message_id',
  'direction',
  'from_address',
  'to_addresses',
  'subject',
  'text_body',
  'date',
  'has_attachments',
  'email_attachments',
] as const;

/** One email of a thread or of a customer. */
export const Email = {
  $id: 'Email',
  type: 'object',
  title: 'Email',
  additionalProperties: false,
  required: emailFields,
  properties: emailProperties,
} as const;
export type EmailJson = XStatic<typeof Email>;

/** Every error body. */
export const ErrorBody = {
  $id: 'Error',
  type: 'object',
  title: 'Error',
  additionalProperties: false,
  required: ['error', 'code'],
  properties: {
    error: { type: 'string', minLength: 1, description: 'German text for people; may be reworded.' },
    code: {
      type: 'string',
      pattern: '^[a-z0-9_]+$',
      description: 'Stable, for programs. Each operation lists its codes; new ones may come.',
    },
    details: {
      type: 'string',
      description: 'Only when a send failed: what the mail server or the network said, in English.',
    },
  },
} as const;

/** Schemas that routes refer to as `<id>#`. */
export const sharedSchemas = [Email, ErrorBody] as const;

/** What any operation may answer; the ones that come before routing are described in the document's introduction. */
const COMMON_ERRORS: readonly ErrorCode[] = ['internal_error', 'shutting_down'];

/** The `response` entries of the errors of one operation, grouped by status, each code with an example. */
export function errorResponses(...codes: readonly ErrorCode[]): Record<number, object> {
  const byStatus = new Map<number, ErrorCode[]>();
  const login: readonly ErrorCode[] = codes.includes('unauthorized') ? ['too_many_failed_logins'] : [];
  for (const code of new Set([...codes, ...login, ...COMMON_ERRORS])) {
    const { status } = ERRORS[code];
    byStatus.set(status, [...(byStatus.get(status) ?? []), code]);
  }
  return Object.fromEntries(
    [...byStatus].map(([status, group]) => [
      status,
      {
        description: `Codes: ${group.map((code) => `\`${code}\``).join(', ')}.`,
        content: { 'application/json': { schema: { $ref: 'Error#' }, examples: examplesOf(group) } },
      },
    ]),
  );
}

/** Stands for what a text names. */
const EXAMPLE_VALUES = {
  field: 'attachments[0].content',
  value: 'ann@example',
  limit: 100,
  detail: 'limit darf höchstens 200 sein.',
  since: '2026-01-31T12:00:00.000Z',
} as const;

function examplesOf(codes: readonly ErrorCode[]): Record<string, { value: object }> {
  return Object.fromEntries(
    codes.map((code) => [
      code,
      { value: { error: new ServiceError(code, { values: EXAMPLE_VALUES }).text, code } },
    ]),
  );
}
