/**
 * JSON schemas that several routes share. They provide types, validation and the OpenAPI document, which makes a component of each schema
 * with a `title`; its `$comment` becomes the component's description.
 */
import type { XStatic } from 'typebox/schema';
import { invalidRequest, ServiceError } from '../../core/errors.ts';
import { parseMoment } from '../../core/moment.ts';

/** The schema of an object that has all of `properties` and no others; a component of the document. */
export function record<const Properties extends Readonly<Record<string, object>>>(
  title: string,
  properties: Properties,
) {
  return {
    type: 'object',
    title,
    additionalProperties: false,
    // Typed as a tuple of one: TypeBox accepts the names of any of its entries, but derives nothing from a plain array.
    required: Object.keys(properties) as unknown as [keyof Properties & string],
    properties,
  } as const;
}

/** The same with optional properties added. */
export const withOptional = <
  const Schema extends { readonly properties: object },
  const Properties extends object,
>(
  schema: Schema,
  properties: Properties,
) => ({ ...schema, properties: { ...schema.properties, ...properties } }) as const;

/** Any UUID of RFC 9562 §4; upper case is accepted and converted to lower case. */
export const UUID_PATTERN = '^[0-9a-fA-F]{8}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{12}$';
const UUID_FORM = new RegExp(UUID_PATTERN);

/** For routes whose parameters no schema checks; returns lower case. Throws `invalid_uuid`. */
export function readUuidParameter(parameters: object, name: string): string {
  const value = String((parameters as Readonly<Record<string, unknown>>)[name]);
  if (!UUID_FORM.test(value)) throw new ServiceError('invalid_uuid', { values: { field: name } });
  return value.toLowerCase();
}

export const Uuid = { title: 'Uuid', type: 'string', format: 'uuid', pattern: UUID_PATTERN } as const;
export const NullableUuid = { ...Uuid, title: 'NullableUuid', type: ['string', 'null'] } as const;

/** Blank ones are skipped in practice, but the document does not invite them. */
export const NonBlankText = { title: 'NonBlankText', type: 'string', pattern: '\\S' } as const;
export const OptionalText = (description: string) => ({ type: ['string', 'null'], description }) as const;

export const Timestamp = {
  title: 'Timestamp',
  $comment: 'ISO 8601 in UTC, with milliseconds.',
  type: 'string',
  format: 'date-time',
} as const;
export const NullableTimestamp = {
  ...Timestamp,
  title: 'NullableTimestamp',
  type: ['string', 'null'],
} as const;

/** A moment in a query, with any offset: see `toMoment`. */
export const Moment = { type: 'string', format: 'date-time' } as const;

/** The moment in a `Timestamp` of a request. Throws `invalid_request`. */
export function toMoment(field: string, text: string): Date {
  const date = parseMoment(text);
  if (date === null) throw invalidRequest('no_such_moment', { field });
  return date;
}

/** RFC 5322 Message-ID with its angle brackets. */
export const MessageIdText = {
  title: 'MessageId',
  $comment: 'Message-ID with angle brackets, `<local@domain>`.',
  type: 'string',
  pattern: '^<.+>$',
} as const;
export const NullableMessageId = {
  ...MessageIdText,
  title: 'NullableMessageId',
  type: ['string', 'null'],
} as const;

export const Direction = { title: 'Direction', type: 'string', enum: ['inbound', 'outbound'] } as const;

/** RFC 3463. */
export const EnhancedStatus = {
  title: 'EnhancedStatus',
  $comment: 'RFC 3463, such as `5.1.1`.',
  type: ['string', 'null'],
} as const;

export const AddressObject = record('Address', {
  name: { type: 'string', description: 'Display name; empty when there is none.' },
  address: { type: 'string', description: '`local@domain`; empty for a received name without an address.' },
});

export const attachmentProperties = {
  id: Uuid,
  filename: { type: 'string', description: 'As the sender named it; not a path.' },
  content_type: { type: 'string', description: 'MIME type.' },
  size_bytes: { type: 'integer', minimum: 0 },
  storage_path: { type: 'string', description: '`<account_id>/<email_id>/<filename>`.' },
} as const;
export const AttachmentRecord = record('Attachment', attachmentProperties);

/** The fields of an email in lists, in the order of their JSON. */
export const emailProperties = {
  id: Uuid,
  message_id: MessageIdText,
  direction: Direction,
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

/** One email of a thread or of a customer. */
export const Email = record('Email', emailProperties);
export type EmailJson = XStatic<typeof Email>;

/** Parameters of paths. */
export const EmailParams = {
  type: 'object',
  required: ['id'],
  properties: { id: { ...Uuid, description: 'The email.' } },
} as const;
export const ThreadParams = {
  type: 'object',
  required: ['threadId'],
  properties: { threadId: { ...Uuid, description: 'The thread, or one that was merged into it.' } },
} as const;
export const CustomerParams = {
  type: 'object',
  required: ['customerId'],
  properties: { customerId: { ...Uuid, description: 'Id of the customer in the calling system.' } },
} as const;

/** A `response` entry with a JSON body. */
export function jsonResponse(description: string, schema: object, headers?: object) {
  return {
    description,
    ...(headers === undefined ? {} : { headers }),
    content: { 'application/json': { schema } },
  };
}
