/**
 * Examples for the OpenAPI document, composed from field values (example-values.ts): so an answer shows every field of its schema, except
 * fields that exclude each other.
 */
import { MAX_THREAD_LABELS } from '../../../core/thread/thread-work.ts';
import { MAX_CUSTOMER_ADDRESSES } from '../../../core/customer/limits.ts';
import {
  ERRORS,
  invalidRequest,
  ServiceError,
  SUPPRESSION_TEXTS,
  WEBHOOK_URL_TEXTS,
  type ErrorCode,
} from '../../../core/errors.ts';
import { MAX_WEBHOOKS } from '../../../core/webhook/webhook.ts';
import { codesOf } from '../../../platform/schemas/error-schemas.ts';
import { ATTACHMENT, EMAIL, EVENT_ID, LATER, REPLY } from './example-story.ts';
import { EXAMPLE_VALUES } from './example-values.ts';
import { operationsOf, rightOf, type Media, type Operation, type Paths } from './components.ts';

interface ErrorValues {
  /** Names that `{field}` may stand for: the first one that the operation accepts is shown, else `values.field`, else the first. */
  readonly fields?: readonly string[];
  readonly values?: Readonly<Record<string, string | number>>;
}

/** Values for the placeholders in the texts of errors. */
const ERROR_VALUES: Partial<Readonly<Record<ErrorCode, ErrorValues>>> = {
  unknown_field: { values: { field: 'betreff', hint: '' } },
  unknown_parameter: { values: { field: 'probe', hint: '' } },
  unknown_header: { values: { field: 'if-unmodified-since', hint: '' } },
  invalid_uuid: { fields: ['id', 'threadId', 'customerId', 'thread_id', 'customer_id'] },
  invalid_address: { fields: ['to', 'address', 'addresses'], values: { value: 'ann@' } },
  invalid_domain: { fields: ['domain', 'domains'], values: { value: 'example..com' } },
  draft_file_not_found: { values: { value: ATTACHMENT } },
  public_domain: { values: { value: 'gmail.com' } },
  too_many_recipients: { values: { limit: 100 } },
  invalid_message_id: { fields: ['in_reply_to'] },
  header_injection: { fields: ['subject', 'address', 'addresses'] },
  invalid_text: { fields: ['subject', 'note', 'comment'] },
  invalid_base64: { fields: ['attachments[0].content'] },
  invalid_content_id: { fields: ['attachments[0].content_id'] },
  invalid_filename: { fields: ['attachments[0].filename', 'filename'] },
  invalid_content_type: {
    fields: ['attachments[0].content_type', 'content_type'],
    values: { value: 'text' },
  },
  header_not_allowed: { values: { field: 'Received' } },
  invalid_tag: { values: { value: 'zwei Wörter' } },
  metadata_too_large: { values: { limit: 4096 } },
  template_invalid: { values: { field: 'html_body', line: 3, column: 12 } },
  template_variable_missing: { values: { variable: 'angebot.nummer', field: 'subject', line: 1 } },
  template_too_complex: { values: { field: 'html_body' } },
  template_empty: { values: { field: 'subject' } },
  variables_too_large: { values: { limit: 65536 } },
  unknown_assignee: { values: { value: 'Ma', known: '4n8t0c5mz2qk (Ada)' } },
  unknown_account: { values: { value: 'einkauf' } },
  attachments_too_large: { values: { limit: 26214400 } },
  recipient_unsubscribed: { values: { value: 'ann@example.com', list: 'newsletter' } },
  recipient_suppressed: {
    values: { value: 'ann@example.com', since: LATER, detail: SUPPRESSION_TEXTS.hard_bounce },
  },
  events_expired: { values: { value: EVENT_ID } },
  invalid_webhook_url: { values: { detail: WEBHOOK_URL_TEXTS.scheme } },
  webhook_address_refused: { values: { value: '192.168.1.10' } },
  invalid_webhook_header: { values: { field: 'Content-Length' } },
  too_many_keys: { values: { limit: 1000 } },
  too_many_webhooks: { values: { limit: MAX_WEBHOOKS } },
  invitation_replaced: { values: { value: REPLY } },
  not_invited: { values: { value: 'vertrieb@example.org' } },
  organizer_not_sender: { values: { value: 'ann@example.com' } },
  loop_suspected: { values: { value: 'ann@example.com' } },
};

/** Fields that may have too many entries, and their maximum. */
const MOST_ENTRIES = [
  { field: 'addresses', limit: MAX_CUSTOMER_ADDRESSES },
  { field: 'labels', limit: MAX_THREAD_LABELS },
] as const;

/** Replies of the mail server, and errors of the network. */
const SEND_DETAILS: Partial<Readonly<Record<ErrorCode, string>>> = {
  send_failed: '550 5.7.1 refused',
  send_deferred: '451 4.3.0 try again later',
  send_unknown: 'no valid reply to the end of the message: connection closed',
};

/** Adds an example to each body and each answer. Throws Error when a field has no value. */
export function addExamples(paths: Paths): void {
  for (const operation of operationsOf(paths)) {
    for (const { content = {} } of [operation.requestBody ?? {}, ...Object.values(operation.responses)]) {
      for (const [type, media] of Object.entries<Media[string]>(content)) {
        const codes = codesOf(media.schema);
        if (codes === null) media.example = exampleOf(media.schema, operation.operationId, type);
        else
          media.examples = Object.fromEntries(
            codes.map((code) => [code, { value: errorExample(code, operation) }]),
          );
      }
    }
  }
}

function errorExample(code: ErrorCode, operation: Operation): object {
  const error =
    code === 'invalid_request'
      ? requestFault(operation)
      : new ServiceError(code, { values: valuesOf(code, operation) });
  const details = SEND_DETAILS[code];
  return {
    error: error.text,
    ...(details === undefined ? {} : { details, id: EMAIL }),
    ...(code === 'events_expired' ? { details: EVENT_ID } : {}),
    code,
  };
}

/** Throws Error when a placeholder of the text has no value. */
function valuesOf(code: ErrorCode, operation: Operation): Readonly<Record<string, string | number>> {
  const takes = namesOf(operation);
  const { fields = [], values = {} } = ERROR_VALUES[code] ?? {};
  const name =
    fields.find((field) => takes.includes(field.replace(/\[.*/, ''))) ?? values['field'] ?? fields[0];
  const right = rightOf(operation);
  const all: Readonly<Record<string, string | number>> = {
    ...values,
    ...(name === undefined ? {} : { field: name }),
    ...(right === null ? {} : { right }),
    ...(code === 'duplicate_field' ? { field: repeatedField(operation) } : {}),
    ...(code === 'too_many_entries' ? MOST_ENTRIES.find(({ field }) => takes.includes(field)) : {}),
  };
  const missing = [...ERRORS[code].text.matchAll(/\{(\w+)\}/g)].find(([, value = '']) => !(value in all));
  if (missing !== undefined) throw new Error(`no ${missing[0]} for ${code} of ${operation.operationId}`);
  return all;
}

/**
 * A field of the operation's body. Operations that take no body, or no fields in it, read one as well: an unknown name is reported as
 * repeated before it is reported as unknown.
 */
function repeatedField({ requestBody }: Operation): string {
  const schema: Schema = requestBody?.content['application/json']?.schema ?? {};
  const fields = Object.keys(schema.properties ?? {});
  return ['subject', 'reason', 'addresses'].find((field) => fields.includes(field)) ?? fields[0] ?? 'betreff';
}

/** An example fault for `invalid_request`, chosen by the input that the operation takes. */
function requestFault(operation: Operation): ServiceError {
  const takes = namesOf(operation);
  const schemaOf = (name: string): Schema =>
    operation.parameters?.find((one) => one.name === name)?.schema ?? {};
  const { maximum } = schemaOf('limit');
  if (maximum !== undefined) return invalidRequest('too_large', { field: 'limit', limit: maximum });
  if (takes.includes('message/rfc822')) return invalidRequest('missing_message');
  if (takes.includes('application/json')) return invalidRequest('not_an_object');
  const { maxLength } = schemaOf('address');
  if (maxLength !== undefined) return invalidRequest('too_long', { field: 'address', limit: maxLength });
  return invalidRequest('missing_host');
}

/** The names of its parameters and body fields, and its media type. */
function namesOf({ parameters = [], requestBody }: Operation): readonly string[] {
  const media = Object.entries(requestBody?.content ?? {});
  return [
    ...parameters.map(({ name }) => name),
    ...media.flatMap(([type, { schema }]) => [type, ...fieldsOf(schema)]),
  ];
}

/** Including fields of nested objects. */
function fieldsOf({ properties = {}, anyOf = [] }: Schema): readonly string[] {
  const fields = Object.entries(properties);
  return [...fields.flatMap(([name, inner]) => [name, ...fieldsOf(inner)]), ...anyOf.flatMap(fieldsOf)];
}

interface Schema {
  readonly title?: string;
  /** The generator turns a `const` into this, with one value. */
  readonly enum?: readonly unknown[];
  readonly items?: Schema;
  readonly type?: string | readonly string[];
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly anyOf?: readonly Schema[];
  readonly maximum?: number;
  readonly maxLength?: number;
}

/** `name` is the name of the field, with its title before it, or the media type. */
export function exampleOf(schema: Schema, operationId: string, name: string, title = ''): unknown {
  const keys = [
    `${operationId}.${title}.${name}`,
    `${operationId}.${name}`,
    `${title}.${name}`,
    name,
    schema.title ?? '',
  ];
  if (schema.enum?.length === 1) return schema.enum[0];
  const known = keys.find((key) => key in EXAMPLE_VALUES);
  if (known !== undefined) return EXAMPLE_VALUES[known];
  if (schema.items !== undefined) return [exampleOf(schema.items, operationId, '', title)];
  if (schema.type === 'boolean') return false;
  if (schema.type?.includes('null') === true) return null;
  const [form] = schema.anyOf ?? [];
  if (schema.properties === undefined && form !== undefined) return exampleOf(form, operationId, name, title);
  if (schema.properties === undefined) throw new Error(`no example for ${operationId}: ${title}.${name}`);
  const fields = Object.entries(schema.properties);
  return Object.fromEntries(
    fields
      .map(([field, inner]) => [field, exampleOf(inner, operationId, field, schema.title)] as const)
      .filter(([, value]) => value !== undefined),
  );
}
