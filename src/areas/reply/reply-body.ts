/** The body of a reply or a forward: that of a send, without the fields that the answered email determines. */
import { INVITATION_ANSWER_STATUSES } from '../../core/calendar/compose-answer.ts';
import { MAX_DESCRIPTION_CHARS } from '../../core/calendar/limits.ts';
import { REPLY_LANGUAGES, isTimeZone, type ReplyLanguage } from '../../core/reply/quote.ts';
import { invalidRequest, ServiceError } from '../../core/errors.ts';
import { Mistakes } from '../../core/mistakes.ts';
import type { ReplyKind, ReplyRequest } from './use-cases.ts';
import type { HttpLimits } from '../../platform/http/connections/limits.ts';
import {
  isBlank,
  readText,
  refuseUnknown,
  refuseWithout,
  toFields,
  wrongType,
  type Fields,
} from '../../platform/http/body/fields.ts';
import { refuseUnstorableIn } from '../../platform/http/body/refuse-unstorable.ts';
import type { EmailJson } from '../send/attachment-body.ts';
import {
  OF_TEMPLATE,
  readFlag,
  readSendFields,
  refuseMistakes,
  refuseNoBody,
  SendBody,
  WithoutTemplate,
  WithTemplate,
} from '../send/send-body.ts';

export const Language = {
  title: 'ReplyLanguage',
  $comment:
    'Language of the line above a quote, of the header block of a forward, and of the answer to an invitation.',
  type: 'string',
  enum: REPLY_LANGUAGES,
} as const;

export const NullableLanguage = {
  ...Language,
  type: ['string', 'null'],
  title: 'NullableReplyLanguage',
  enum: [...REPLY_LANGUAGES, null],
} as const;

/** The longest name of the time zone database has 32 characters. */
const MAX_TIME_ZONE_CHARS = 64;
export const TimeZone = {
  title: 'TimeZone',
  $comment: 'IANA time zone of the dates in the quote, such as `Europe/Berlin`.',
  type: 'string',
  minLength: 1,
  maxLength: MAX_TIME_ZONE_CHARS,
} as const;

export const NullableTimeZone = {
  ...TimeZone,
  title: 'NullableTimeZone',
  type: ['string', 'null'],
} as const;

/** As in the calendar, of which real ones take no more. */
const MAX_COMMENT_CHARS = MAX_DESCRIPTION_CHARS;

const DEFAULT_LANGUAGE: ReplyLanguage = 'de';
const DEFAULT_TIME_ZONE = 'UTC';

const {
  to: _to,
  cc: _cc,
  subject: _subject,
  in_reply_to: _inReplyTo,
  thread_id: _threadId,
  account_id: _accountId,
  ...SEND_PROPERTIES
} = SendBody.properties;

const OptionalList = (description: string) => ({ ...SendBody.properties.cc, description }) as const;

const REPLY_PROPERTIES = {
  to: OptionalList('Replaces the recipients taken from the email; `cc` is then empty unless given.'),
  cc: OptionalList('Replaces the Cc recipients taken from the email; an empty list for none.'),
  subject: { type: ['string', 'null'], description: 'Replaces the subject taken from the email.' },
  ...SEND_PROPERTIES,
  if_newest: {
    ...SEND_PROPERTIES.if_newest,
    description: 'As in `POST /api/send`: the newest email of the thread that the writer has seen.',
  },
  text_body: { type: ['string', 'null'], description: 'The new text, as plain text.' },
  html_body: { type: ['string', 'null'], description: 'The new text, as HTML.' },
  quote: {
    type: ['boolean', 'null'],
    description: 'Quotes the email below the new text. Default true.',
  },
  language: NullableLanguage,
  time_zone: NullableTimeZone,
} as const;

const BODY_NEEDED = [
  {
    required: ['text_body'],
    properties: { text_body: { type: 'string', minLength: 1 }, ...WithoutTemplate },
  },
  {
    required: ['html_body'],
    properties: { html_body: { type: 'string', minLength: 1 }, ...WithoutTemplate },
  },
  WithTemplate,
] as const;

export const ReplyBody = {
  type: 'object',
  title: 'ReplyRequest',
  additionalProperties: false,
  anyOf: BODY_NEEDED,
  properties: REPLY_PROPERTIES,
} as const;

export const ForwardBody = {
  type: 'object',
  title: 'ForwardRequest',
  additionalProperties: false,
  required: ['to'],
  anyOf: [{ properties: WithoutTemplate }, WithTemplate],
  properties: {
    ...REPLY_PROPERTIES,
    to: SendBody.properties.to,
    cc: SendBody.properties.cc,
    with_files: { type: ['boolean', 'null'], description: 'Attach all files of the email. Default true.' },
  },
} as const;

const { send_at, priority, lane, tags, metadata, if_newest } = REPLY_PROPERTIES;

export const InvitationAnswerBody = {
  type: 'object',
  title: 'InvitationAnswerRequest',
  additionalProperties: false,
  required: ['answer'],
  properties: {
    answer: { type: 'string', enum: INVITATION_ANSWER_STATUSES },
    comment: {
      type: ['string', 'null'],
      maxLength: MAX_COMMENT_CHARS,
      description: 'Stands in the text and in the calendar.',
    },
    organizer: {
      type: ['string', 'null'],
      description:
        'Address of the organizer, which confirms it where `organizer_is_sender` is false; otherwise not needed.',
    },
    language: NullableLanguage,
    send_at,
    priority,
    lane,
    tags,
    metadata,
    if_newest,
  },
} as const;

/** Throws ServiceError with status 400. */
export function readInvitationAnswer(json: EmailJson, limits: HttpLimits): ReplyInput {
  const body = toFields(json.value);
  if (body === null) throw invalidRequest('not_an_object');
  const mistakes = new Mistakes();
  const { note } = mistakes;
  refuseUnknown(body, new Set(Object.keys(InvitationAnswerBody.properties)), '', note);
  const { answer: asked, comment: _comment, organizer: _organizer, language: _language, ...ofSend } = body;
  const status = INVITATION_ANSWER_STATUSES.find((one) => one === asked);
  if (status === undefined) {
    note(invalidRequest('not_one_of', { field: 'answer', values: INVITATION_ANSWER_STATUSES.join(', ') }));
  }
  const comment = mistakes.check(() => (readText(body, 'comment') ?? '').trim()) || null;
  if (comment !== null && comment.length > MAX_COMMENT_CHARS)
    note(invalidRequest('too_long', { field: 'comment', limit: MAX_COMMENT_CHARS }));
  mistakes.check(() => refuseUnstorableIn({ comment, organizer: body['organizer'] }, ''));
  const read = readSendFields(ofSend, json, limits, mistakes);
  const language = mistakes.check(() => readLanguage(body['language'], 'language'));
  const organizer = mistakes.check(() => readText(body, 'organizer'));
  refuseMistakes(read, mistakes);
  const { accountId: _account, inReplyTo: _reply, threadId: _thread, ...message } = read;
  return {
    quote: false,
    language,
    timeZone: DEFAULT_TIME_ZONE,
    withFiles: false,
    maxFileBytes: limits.maxAttachmentBytes,
    maxFiles: limits.maxAttachments,
    invitation: { status: status as NonNullable<typeof status>, comment, organizer },
    message,
  };
}

/** Fields that a send does not have. */
const OWN = new Set(['quote', 'language', 'time_zone', 'with_files']);

/** The input for a reply, as read from a body. */
export type ReplyInput = Omit<ReplyRequest, 'emailId' | 'kind' | 'message'> & {
  readonly message: Omit<ReplyRequest['message'], 'authorKeyId' | 'authorName'>;
};

/** Throws ServiceError with status 400, or `attachments_too_large`. */
export function readReplyBody(json: EmailJson, limits: HttpLimits, kind: ReplyKind): ReplyInput {
  const body = toFields(json.value);
  if (body === null) throw invalidRequest('not_an_object');
  const isForward = kind === 'forward';
  const mistakes = new Mistakes();
  const { note } = mistakes;
  if (isForward && isBlank(body['to']))
    note(new ServiceError('missing_recipient_or_subject', { values: { field: 'to' } }));
  if (!isForward) refuseNoBody(body, note);
  refuseUnknown(body, new Set(Object.keys((isForward ? ForwardBody : ReplyBody).properties)), '', note);
  refuseWithout(body, OF_TEMPLATE, 'template_id', note);

  const ofSend = Object.fromEntries(Object.entries(body).filter(([field]) => !OWN.has(field)));
  const read = readSendFields(ofSend, json, limits, mistakes);
  const quoting = mistakes.check(() => readQuoting(body));
  const withFiles = mistakes.check(() => readFlag(body, 'with_files')) ?? true;
  refuseMistakes(read, mistakes);
  const { to, cc, subject, inReplyTo: _reply, threadId: _thread, accountId: _account, ...message } = read;
  return {
    ...quoting,
    withFiles,
    maxFileBytes: limits.maxAttachmentBytes,
    maxFiles: limits.maxAttachments,
    message: {
      ...message,
      to: isGiven(body, 'to') ? to : null,
      cc: isGiven(body, 'cc') ? cc : null,
      subject: subject.trim() === '' ? null : subject,
    },
  };
}

/** null is the same as a missing field. */
function isGiven(body: Fields, field: string): boolean {
  return (body[field] ?? null) !== null;
}

/** How the email is quoted. Throws `invalid_request`, also for a language or a time zone of a quote that is not wanted. */
export function readQuoting(body: Fields, path = ''): Pick<ReplyRequest, 'quote' | 'language' | 'timeZone'> {
  const quote = readFlag(body, 'quote', `${path}quote`) ?? true;
  const field = quote ? undefined : ['language', 'time_zone'].find((name) => isGiven(body, name));
  if (field !== undefined) {
    throw invalidRequest('not_with', { field: path + field, other: `${path}quote: false` });
  }
  const timeZone = readTimeZone(body['time_zone'], `${path}time_zone`);
  return { quote, language: readLanguage(body['language'], `${path}language`), timeZone };
}

function readLanguage(value: unknown, path: string): ReplyLanguage {
  const name = value ?? DEFAULT_LANGUAGE;
  if (typeof name !== 'string') throw wrongType(path, 'string');
  const known = REPLY_LANGUAGES.find((one) => one === name);
  if (known === undefined)
    throw invalidRequest('not_one_of', { field: path, values: REPLY_LANGUAGES.join(', ') });
  return known;
}

/** Throws `invalid_request`. */
export function readTimeZone(value: unknown, path = 'time_zone'): string {
  const name = value ?? DEFAULT_TIME_ZONE;
  if (typeof name !== 'string') throw wrongType(path, 'string');
  if (name.length > MAX_TIME_ZONE_CHARS || !isTimeZone(name)) {
    throw invalidRequest('malformed', { field: path });
  }
  return name;
}
