/**
 * The body of POST /api/send: its schema, and the reading of a parsed body into a SendRequest. Checks come in a fixed order, so that one
 * mistake always gets one code: missing fields, unknown fields, types, UUIDs, attachments. The application checks the content of the fields
 * (addresses, Message-IDs, file names).
 */
import { AUTO_SUBMITTED, type AutoSubmitted } from '../../core/delivery/loop-guard.ts';
import type { TemplateUse } from '../templates/template-ports.ts';
import { noteContentMistakes } from './content-mistakes.ts';
import type { AskedSend, SendRequest } from './use-cases.ts';
import { isListName, MAX_LIST_CHARS } from '../../core/unsubscribe/list-name.ts';
import { isLane, MAX_LANE_LENGTH, PRIORITIES, type Priority } from '../../core/delivery/priority.ts';
import { STANDARD_HEADERS, type CustomHeaders } from '../../core/message/custom-headers.ts';
import { MAX_CUSTOM_HEADERS, MAX_METADATA_BYTES, MAX_TAGS } from '../../core/message/limits.ts';
import { MAX_TEMPLATE_VERSION, MAX_VARIABLES_BYTES } from '../../core/templates/limits.ts';
import type { Metadata } from '../../core/message/tags.ts';
import { MAX_FROM_NAME_CHARS } from '../../platform/base/limits.ts';
import { invalidRequest, ServiceError } from '../../core/errors.ts';
import { Mistakes, refuse, type NoteMistake } from '../../core/mistakes.ts';
import { ONE_LINE_PATTERN } from '../../core/one-line.ts';
import { parseMoment } from '../../core/moment.ts';
import {
  isBlank,
  readText,
  readUuid,
  refuseLostNumbers,
  refuseUnknown,
  refuseWithout,
  toFields,
  wrongType,
  type Fields,
} from '../../platform/http/body/fields.ts';
import { refuseUnstorableIn } from '../../platform/http/body/refuse-unstorable.ts';
import type { JsonWithLongStrings } from '../../platform/http/body/json-long-strings.ts';
import type { HttpLimits } from '../../platform/http/connections/limits.ts';
import { NonBlankText, NullableUuid, OptionalText, Uuid } from '../../platform/schemas/schemas.ts';
import { AnyAttachment, readAttachments, type EmailJson } from './attachment-body.ts';

const AddressList = (description: string) =>
  ({
    title: 'AddressList',
    description,
    anyOf: [NonBlankText, { type: 'array', minItems: 1, items: NonBlankText }],
  }) as const;

const OptionalAddressList = (description: string) =>
  ({
    title: 'NullableAddressList',
    description,
    anyOf: [{ type: 'string' }, { type: 'array', items: { type: 'string' } }, { type: 'null' }],
  }) as const;

const OptionalUuid = (description: string) => ({ ...NullableUuid, description }) as const;

export const IfNewest = OptionalUuid(
  'The email of the thread that was recorded last, as far as the writer has seen it. When the thread has a newer one, received or sent, ' +
    'nothing is sent: 409 `thread_has_moved_on`, with `new_emails`. Compared as the send is recorded, so that of two answers at the same ' +
    'moment one is sent; hence the answer is 202. Only in a thread; needs the right `read` as well.',
);

const UnsubscribeBody = {
  type: 'object',
  title: 'UnsubscribeInput',
  additionalProperties: false,
  required: ['list'],
  properties: {
    list: {
      type: 'string',
      minLength: 1,
      maxLength: MAX_LIST_CHARS,
      pattern: ONE_LINE_PATTERN,
      description:
        'Name of the list; recipients see it. A list belongs to the sending account and needs no set-up.',
    },
  },
} as const;

/** Among several forms of a body, the one that names a template. */
export const WithTemplate = {
  required: ['template_id'],
  properties: { template_id: Uuid },
} as const;

/** The other forms: without a template, what fills it would have no effect, and the email would go out with its placeholders in it. */
export const WithoutTemplate = {
  template_version: { type: 'null' },
  variables: { type: 'null' },
} as const;

const VariablesBody = {
  title: 'NullableTemplateVariables',
  anyOf: [{ type: 'object', additionalProperties: true }, { type: 'null' }],
  $comment: `Variables of the template; only with \`template_id\`. Any JSON object up to ${MAX_VARIABLES_BYTES} bytes.`,
} as const;

/** Published; `readSendBody` does the validation, and a test compares the two: see docs/decisions/0044-body-of-a-send.md. */
export const SendBody = {
  type: 'object',
  title: 'SendRequest',
  additionalProperties: false,
  required: ['to'],
  anyOf: [
    {
      required: ['subject', 'text_body'],
      properties: { subject: NonBlankText, text_body: { type: 'string', minLength: 1 }, ...WithoutTemplate },
    },
    {
      required: ['subject', 'html_body'],
      properties: { subject: NonBlankText, html_body: { type: 'string', minLength: 1 }, ...WithoutTemplate },
    },
    WithTemplate,
  ],
  properties: {
    to: AddressList(
      'RFC 5322 address list such as `Ann <ann@example.com>, bob@example.com`, or several of them.',
    ),
    subject: OptionalText('Required unless `template_id` is given.'),
    text_body: OptionalText(
      'Plain text. At least one of `text_body`, `html_body` and `template_id` is required.',
    ),
    html_body: OptionalText('HTML. At least one of `text_body`, `html_body` and `template_id` is required.'),
    template_id: OptionalUuid(
      'Template for subject, text and HTML. Fields in the request replace those of the template.',
    ),
    template_version: {
      title: 'NullableTemplateVersion',
      type: ['integer', 'null'],
      minimum: 1,
      maximum: MAX_TEMPLATE_VERSION,
      $comment: 'Version of the template; only with `template_id`. Default: the newest version.',
    },
    variables: VariablesBody,
    cc: OptionalAddressList('As `to`.'),
    bcc: OptionalAddressList('As `to`; never appears in the message.'),
    in_reply_to: OptionalText('Message-ID of the email that is answered; the send joins its thread.'),
    thread_id: OptionalUuid('Existing thread; takes precedence over `in_reply_to`.'),
    if_newest: IfNewest,
    customer_id: OptionalUuid('The customer the email belongs to.'),
    company_id: OptionalUuid('The company the email belongs to.'),
    account_id: OptionalText(
      'Sending account. Default: the account of the thread, else the default account.',
    ),
    send_at: {
      title: 'NullableSendTime',
      type: ['string', 'null'],
      format: 'date-time',
      $comment:
        'Time to send the email, at most a year ahead (RFC 3339 with offset). The response is 202; the Date header will show this time.',
    },
    priority: {
      title: 'NullablePriority',
      enum: [...PRIORITIES, null],
      $comment: 'Priority in the queue; a higher priority always goes first. Default `normal`.',
    },
    lane: {
      title: 'NullableLane',
      type: ['string', 'null'],
      minLength: 1,
      maxLength: MAX_LANE_LENGTH,
      pattern: ONE_LINE_PATTERN,
      $comment:
        'Lane in the queue. Lanes of the same priority take turns, so bulk mail in its own lane does not delay other mail. ' +
        'Default: `reply` when the email joins a thread, else `new`.',
    },
    auto_submitted: {
      title: 'NullableAutoSubmitted',
      enum: [...AUTO_SUBMITTED, null],
      $comment:
        'For an email written by a program (RFC 3834): `auto-replied` for an answer, `auto-generated` for any other. It sets the ' +
        'header Auto-Submitted, so that other programs do not answer.',
    },
    reply_to: OptionalAddressList(
      'Addresses for answers, in the form of `to`. Default: the address of the account.',
    ),
    from: {
      title: 'NullableFrom',
      anyOf: [
        NonBlankText,
        {
          type: 'object',
          additionalProperties: false,
          required: ['address'],
          properties: { address: NonBlankText, name: { type: ['string', 'null'] } },
        },
        { type: 'null' },
      ],
      $comment:
        "The account's `from` or one of its `addresses`, else 403 `forbidden_from`; without `account_id` it decides the account. Default: " +
        "the account's; for an answer, the address that the email was written to.",
    },
    signature: {
      title: 'WithSignature',
      type: ['boolean', 'null'],
      $comment: 'With the signature of the address or the account, above a quote. Default false.',
    },
    footer: {
      title: 'WithFooter',
      type: ['boolean', 'null'],
      $comment: "False: without the account's footer; needs the right `admin`. Default true.",
    },
    from_name: {
      title: 'NullableFromName',
      type: ['string', 'null'],
      $comment: `Display name in From, up to ${MAX_FROM_NAME_CHARS} characters. Default: the name of the account.`,
    },
    headers: {
      title: 'SendHeaders',
      anyOf: [{ type: 'object', additionalProperties: { type: ['string', 'null'] } }, { type: 'null' }],
      $comment: `Up to ${MAX_CUSTOM_HEADERS} further header fields, by name: any \`X-…\`, and ${STANDARD_HEADERS.join(', ')}.`,
    },
    tags: {
      title: 'SendTags',
      anyOf: [{ type: 'array', items: { type: 'string' } }, { type: 'null' }],
      $comment: `Up to ${MAX_TAGS} tags of 1 to 64 characters: letters and digits, after the first character also \`_ . : @ + -\`. For \`GET /api/emails?tag=\`; events of the email contain them.`,
    },
    metadata: {
      title: 'NullableMetadata',
      anyOf: [{ type: 'object', additionalProperties: true }, { type: 'null' }],
      $comment: `Any JSON object up to ${MAX_METADATA_BYTES} bytes. Records and events of the email contain it; the message does not.`,
    },
    unsubscribe: {
      title: 'NullableUnsubscribeInput',
      anyOf: [UnsubscribeBody, { type: 'null' }],
      $comment:
        'Lets the only recipient unsubscribe from a list with one click (RFC 8058) by the headers List-Unsubscribe and ' +
        'List-Unsubscribe-Post. Needs `PUBLIC_URL`. A send to an address that unsubscribed gets 422.',
    },
    attachments: {
      title: 'NullableAttachmentInputs',
      anyOf: [{ type: 'array', items: AnyAttachment }, { type: 'null' }],
    },
  },
} as const;

export const OF_TEMPLATE = Object.keys(WithoutTemplate);

const SEND_FIELDS = new Set(Object.keys(SendBody.properties));
const FROM_FIELDS = new Set(['address', 'name']);
const UNSUBSCRIBE_FIELDS = new Set(Object.keys(UnsubscribeBody.properties));
/** Throws ServiceError with status 400, or `attachments_too_large`. `maxProblems`: see Mistakes. */
export function readSendBody(json: EmailJson, limits: HttpLimits, maxProblems?: number): AskedSend {
  const body = toFields(json.value);
  if (body === null) throw invalidRequest('not_an_object');

  const mistakes = new Mistakes(maxProblems);
  const { note } = mistakes;
  if (isBlank(body['to'])) note(missing('to'));
  if (isBlank(body['subject']) && !namesTemplate(body)) note(missing('subject'));
  refuseNoBody(body, note);
  refuseUnknown(body, SEND_FIELDS, '', note);
  refuseWithout(body, OF_TEMPLATE, 'template_id', note);
  const read = readSendFields(body, json, limits, mistakes);
  refuseMistakes(read, mistakes);
  return read;
}

const missing = (field: 'to' | 'subject') =>
  new ServiceError('missing_recipient_or_subject', { values: { field } });

/** A body with mistakes is searched for those that its fields contain, too. Throws the first mistake. */
export function refuseMistakes(read: AskedSend, mistakes: Mistakes): void {
  if (!mistakes.any) return;
  noteContentMistakes(read, mistakes);
  mistakes.refuseAny();
}

const namesTemplate = (body: Fields): boolean => (body['template_id'] ?? null) !== null;

/** The mistake is `missing_body`. */
export function refuseNoBody(body: Fields, note = refuse): void {
  const isGiven = !isEmpty(body['text_body']) || !isEmpty(body['html_body']) || namesTemplate(body);
  if (!isGiven) note(new ServiceError('missing_body'));
}

/** Contents are Base64, which is checked where it is decoded: long ones are never in memory. */
export function withoutContents(body: Fields): Fields {
  const { attachments } = body;
  if (!Array.isArray(attachments)) return body;
  const others = attachments.map((file: unknown) =>
    typeof file === 'object' && file !== null ? { ...file, content: null } : file,
  );
  return { ...body, attachments: others };
}

/**
 * The fields of a send in a body, even an incomplete one; the caller has checked `body` for unknown fields. Mistakes are those of readSendBody;
 * a field with one is undefined, so the caller refuses them before it uses the result.
 *
 * @param path stands before the names of fields whose text can't be stored
 */
export function readSendFields(
  body: Fields,
  json: EmailJson,
  limits: HttpLimits,
  mistakes: Mistakes,
  path = '',
): AskedSend {
  const { check, note } = mistakes;
  // A right that lacks is no matter of a request that is refused anyway, and would be logged.
  const requireRead = () => {
    if (!mistakes.any) json.requireRead();
  };
  const requireAdmin = () => {
    if (!mistakes.any) json.requireAdmin();
  };
  const own = { ...json, requireRead, requireAdmin };
  check(() => refuseUnstorableIn(withoutContents(body), path));
  return {
    to: check(() => readAddressLists(body, 'to')),
    cc: check(() => readAddressLists(body, 'cc')),
    bcc: check(() => readAddressLists(body, 'bcc')),
    subject: check(() => readText(body, 'subject') ?? ''),
    textBody: check(() => readText(body, 'text_body') || null),
    htmlBody: check(() => readText(body, 'html_body') || null),
    inReplyTo: check(() => readText(body, 'in_reply_to')),
    threadId: check(() => readUuid(body, 'thread_id')),
    ...check(() => readIfNewest(body, own)),
    customerId: check(() => readUuid(body, 'customer_id')),
    companyId: check(() => readUuid(body, 'company_id')),
    accountId: check(() => readText(body, 'account_id')),
    attachments: check(() => readAttachments(body['attachments'], own, limits, mistakes)),
    respondAsync: false,
    sendAt: check(() => readSendAt(body)),
    priority: check(() => readPriority(body)),
    lane: check(() => readLane(body)),
    autoSubmitted: check(() => readAutoSubmitted(body)),
    replyTo: check(() => readAddressLists(body, 'reply_to')),
    from: check(() => readFrom(body['from'] ?? null, note)),
    ...check(() => readClosing(body, own)),
    fromName: check(() => readText(body, 'from_name')),
    headers: check(() => readHeaders(body, mistakes)),
    tags: check(() => readTagTexts(body)),
    metadata: check(() => readMetadata(body, json)),
    unsubscribeList: check(() => readUnsubscribeList(body, note)),
    template: check(() => readTemplateUse(body, json, mistakes)),
  };
}

/** The error names emails, so the caller must be allowed to read. */
export function readIfNewest(
  body: Fields,
  { requireRead }: Pick<EmailJson, 'requireRead'>,
): Pick<SendRequest, 'ifNewest'> {
  const ifNewest = readUuid(body, 'if_newest');
  if (ifNewest === null) return {};
  requireRead();
  return { ifNewest };
}

function readClosing(body: Fields, { requireAdmin }: EmailJson): Pick<SendRequest, 'signature' | 'footer'> {
  const signature = readFlag(body, 'signature');
  const footer = readFlag(body, 'footer');
  if (footer === false) requireAdmin();
  return { ...(signature === true ? { signature } : {}), ...(footer === false ? { footer } : {}) };
}

export function readFlag(body: Fields, field: string, path = field): boolean | null {
  const value = body[field] ?? null;
  if (value !== null && typeof value !== 'boolean') throw wrongType(path, 'boolean');
  return value;
}

/** As one text, with the name before the address; see parseFrom. */
function readFrom(value: unknown, note: NoteMistake): string | null {
  if (value === null) return null;
  const fields = toFields(value);
  if (fields === null) {
    if (typeof value !== 'string') throw wrongType('from', 'string');
    return value;
  }
  refuseUnknown(fields, FROM_FIELDS, 'from.', note);
  const address = readText(fields, 'address', 'from.address');
  if (address === null) throw invalidRequest('missing', { field: 'from.address' });
  const name = readText(fields, 'name', 'from.name')?.trim() ?? '';
  return name === '' ? address : `"${name.replace(/["\\]/g, '\\$&')}" <${address}>`;
}

function readSendAt(body: Fields): Date | null {
  const text = readText(body, 'send_at');
  if (text === null) return null;
  const date = parseMoment(text);
  if (date === null) throw new ServiceError('invalid_send_at');
  return date;
}

function readPriority(body: Fields): Priority | null {
  const text = readText(body, 'priority');
  if (text === null) return null;
  const priority = PRIORITIES.find((known) => known === text);
  if (priority === undefined)
    throw invalidRequest('not_one_of', { field: 'priority', values: PRIORITIES.join(', ') });
  return priority;
}

function readAutoSubmitted(body: Fields): AutoSubmitted | null {
  const text = readText(body, 'auto_submitted');
  if (text === null) return null;
  const known = AUTO_SUBMITTED.find((value) => value === text);
  if (known === undefined)
    throw invalidRequest('not_one_of', { field: 'auto_submitted', values: AUTO_SUBMITTED.join(', ') });
  return known;
}

function readHeaders(body: Fields, mistakes: Mistakes): CustomHeaders {
  const fields = body['headers'] ?? null;
  const headers = fields === null ? {} : toFields(fields);
  if (headers === null) throw wrongType('headers', 'object');
  const entries = Object.keys(headers).map(
    (name) => [name, mistakes.check(() => readText(headers, name, `headers.${name}`))] as const,
  );
  // null means absent.
  return Object.fromEntries(
    entries.filter((entry): entry is [string, string] => typeof entry[1] === 'string'),
  );
}

function readTagTexts(body: Fields): readonly string[] {
  const value = body['tags'] ?? [];
  if (!Array.isArray(value) || !value.every((tag) => typeof tag === 'string'))
    throw wrongType('tags', 'texts');
  return value;
}

const holdsAny = (text: string, parts: Iterable<string>): boolean =>
  [...parts].some((part) => text.includes(part));

function readMetadata(body: Fields, { longStrings }: JsonWithLongStrings): Metadata {
  const value = body['metadata'] ?? null;
  const metadata = value === null ? {} : toFields(value);
  if (metadata === null) throw wrongType('metadata', 'object');
  refuseLostNumbers(metadata, 'metadata');
  // The value of a key `content` was taken for a file, because of its length.
  if (holdsAny(JSON.stringify(metadata), longStrings.keys())) {
    throw new ServiceError('metadata_too_large', { values: { limit: MAX_METADATA_BYTES } });
  }
  return metadata;
}

/** null: no template is named. */
function readTemplateUse(body: Fields, json: EmailJson, mistakes: Mistakes): TemplateUse | null {
  const id = mistakes.check(() => readUuid(body, 'template_id'));
  const version = mistakes.check(() => readVersionNumber(body['template_version']));
  const variables = mistakes.check(() => readVariables(body['variables'], json));
  return id === null ? null : { id, version, variables };
}

function readVersionNumber(value: unknown): number | null {
  const version = value ?? null;
  if (version === null) return null;
  const field = 'template_version';
  if (typeof version !== 'number' || !Number.isInteger(version)) throw wrongType(field, 'integer');
  if (version < 1) throw invalidRequest('too_small', { field, limit: 1 });
  if (version > MAX_TEMPLATE_VERSION)
    throw invalidRequest('too_large', { field, limit: MAX_TEMPLATE_VERSION });
  return version;
}

function readVariables(value: unknown, { longStrings }: JsonWithLongStrings): Fields {
  const variables = value === undefined || value === null ? {} : toFields(value);
  if (variables === null) throw wrongType('variables', 'object');
  refuseLostNumbers(variables, 'variables');
  // The value of a key `content` was taken for a file, because of its length.
  if (longStrings.size > 0 && holdsAny(JSON.stringify(variables), longStrings.keys())) {
    throw new ServiceError('variables_too_large', { values: { limit: MAX_VARIABLES_BYTES } });
  }
  return variables;
}

function readUnsubscribeList(body: Fields, note: NoteMistake): string | null {
  const value = body['unsubscribe'] ?? null;
  if (value === null) return null;
  const fields = toFields(value);
  if (fields === null) throw wrongType('unsubscribe', 'object');
  refuseUnknown(fields, UNSUBSCRIBE_FIELDS, 'unsubscribe.', note);
  const list = readText(fields, 'list', 'unsubscribe.list');
  if (list === null || !isListName(list)) throw new ServiceError('invalid_list');
  return list;
}

function readLane(body: Fields): string | null {
  const lane = readText(body, 'lane');
  if (lane !== null && !isLane(lane)) throw new ServiceError('invalid_lane');
  return lane;
}

function readAddressLists(body: Fields, field: string): readonly string[] {
  const value = body[field] ?? [];
  const lists: readonly unknown[] = Array.isArray(value) ? value : [value];
  const texts = lists.filter((list) => typeof list === 'string');
  if (texts.length < lists.length) {
    throw wrongType(field, 'strings');
  }
  // An empty form field is not a recipient.
  return texts.filter((text) => text.trim() !== '');
}

/** A body may be white space; only an empty one counts as not given. */
function isEmpty(value: unknown): boolean {
  return value === undefined || value === null || value === '';
}
