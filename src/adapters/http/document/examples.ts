/**
 * Examples for the OpenAPI document, put together from the values of fields (example-values.ts): an answer then shows every
 * field that its schema has.
 */
import { invalidRequest, ServiceError, SUPPRESSION_TEXTS, type ErrorCode } from '../../../core/errors.ts';
import { codesOf } from '../schemas/error-schemas.ts';
import { EMAIL, EVENT_ID, LATER } from './example-story.ts';
import { EXAMPLE_VALUES } from './example-values.ts';
import { operationsOf, type Media, type Operation, type Paths } from './components.ts';

interface ErrorValues {
  /** Names that `{field}` may stand for: the first one that the operation takes is shown, else `values.field`, else the first. */
  readonly fields?: readonly string[];
  readonly values?: Readonly<Record<string, string | number>>;
}

/** What the texts of errors name. */
const ERROR_VALUES: Partial<Readonly<Record<ErrorCode, ErrorValues>>> = {
  unknown_field: { values: { field: 'betreff' } },
  duplicate_field: {
    fields: ['subject', 'reason', 'addresses', 'note', 'outcome'],
    values: { field: 'note' },
  },
  invalid_uuid: { fields: ['id', 'threadId', 'customerId', 'thread_id', 'customer_id'] },
  invalid_address: { fields: ['to', 'address', 'addresses'], values: { value: 'ann@' } },
  invalid_domain: { fields: ['domain', 'domains'], values: { value: 'example..com' } },
  public_domain: { values: { value: 'gmail.com' } },
  too_many_entries: { fields: ['addresses', 'labels'], values: { limit: 1000 } },
  too_many_recipients: { values: { limit: 100 } },
  invalid_message_id: { fields: ['in_reply_to'] },
  header_injection: { fields: ['subject', 'address', 'addresses'] },
  invalid_text: { fields: ['subject', 'note'] },
  invalid_base64: { fields: ['attachments[0].content'] },
  invalid_content_id: { fields: ['attachments[0].content_id'] },
  invalid_filename: { fields: ['attachments[0].filename', 'filename'] },
  invalid_content_type: {
    fields: ['attachments[0].content_type', 'Content-Type'],
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
  unknown_account: { values: { value: 'einkauf' } },
  attachments_too_large: { values: { limit: 26214400 } },
  recipient_unsubscribed: { values: { value: 'ann@example.com', list: 'newsletter' } },
  recipient_suppressed: {
    values: { value: 'ann@example.com', since: LATER, detail: SUPPRESSION_TEXTS.hard_bounce },
  },
  events_expired: { values: { value: EVENT_ID } },
  invalid_webhook_url: { values: { detail: 'Sie muss mit https:// beginnen.' } },
  webhook_address_refused: { values: { value: '192.168.1.10' } },
  invalid_webhook_header: { values: { field: 'Content-Length' } },
  forbidden_right: { values: { right: 'send' } },
  too_many_keys: { values: { limit: 1000 } },
  too_many_webhooks: { values: { limit: 100 } },
  loop_suspected: { values: { value: 'ann@example.com' } },
};

/** What an `invalid_request` may be: the first whose field the operation takes, else the last. */
const INVALID_REQUESTS = [
  { field: 'limit', error: invalidRequest('too_large', { field: 'limit', limit: 200 }) },
  { field: 'message/rfc822', error: invalidRequest('missing_message') },
  { field: 'application/json', error: invalidRequest('not_an_object') },
  { field: 'address', error: invalidRequest('too_long', { field: 'address', limit: 400 }) },
  { field: '', error: invalidRequest('missing_host') },
] as const;

/** Adds an example to each body and each answer. Throws Error when a field has none. */
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
  const takes = namesOf(operation);
  const { fields = [], values = {} } = ERROR_VALUES[code] ?? {};
  const name =
    fields.find((field) => takes.includes(field.replace(/\[.*/, ''))) ?? values['field'] ?? fields[0];
  const field = name === undefined ? {} : { field: name };
  const fault = INVALID_REQUESTS.find((one) => takes.includes(one.field)) ?? INVALID_REQUESTS[4];
  const error =
    code === 'invalid_request' ? fault.error : new ServiceError(code, { values: { ...values, ...field } });
  return {
    error: error.text,
    ...(code.startsWith('send_')
      ? { details: '550 5.7.1 refused', id: EMAIL }
      : code === 'events_expired'
        ? { details: EVENT_ID }
        : {}),
    code,
  };
}

/** Of its parameters, the fields of its body, and its type; where that may be any, the header that says it. */
function namesOf({ parameters = [], requestBody }: Operation): readonly string[] {
  const media = Object.entries(requestBody?.content ?? {});
  return [
    ...parameters.map(({ name }) => name),
    ...media.flatMap(([type, { schema }]) => [type === '*/*' ? 'Content-Type' : type, ...fieldsOf(schema)]),
  ];
}

/** With those of objects within. */
function fieldsOf({ properties = {}, anyOf = [] }: Schema): readonly string[] {
  const fields = Object.entries(properties);
  return [...fields.flatMap(([name, inner]) => [name, ...fieldsOf(inner)]), ...anyOf.flatMap(fieldsOf)];
}

interface Schema {
  readonly title?: string;
  /** The generator makes one value of a `const`. */
  readonly enum?: readonly unknown[];
  readonly items?: Schema;
  readonly type?: string | readonly string[];
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly anyOf?: readonly Schema[];
}

/** `name` is that of the field, with its title before it, or the media type. */
function exampleOf(schema: Schema, operationId: string, name: string, title = ''): unknown {
  const keys = [`${operationId}.${name}`, `${title}.${name}`, name, schema.title ?? ''];
  if (schema.enum?.length === 1) return schema.enum[0];
  const known = keys.find((key) => key in EXAMPLE_VALUES);
  if (known !== undefined) return EXAMPLE_VALUES[known];
  if (schema.items !== undefined) return [exampleOf(schema.items, operationId, '', title)];
  if (schema.type === 'boolean') return false;
  if (schema.type?.includes('null') === true) return null;
  if (schema.properties === undefined) throw new Error(`no example for ${operationId}: ${title}.${name}`);
  const fields = Object.entries(schema.properties);
  return Object.fromEntries(
    fields.map(([field, inner]) => [field, exampleOf(inner, operationId, field, schema.title)]),
  );
}
