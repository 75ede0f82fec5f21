/** The bodies of drafts: fields that are given are checked for their types, and no field is required. */
import type { Draft, DraftAnswer } from './draft-ports.ts';
import type { DraftChange, DraftSend } from './use-cases.ts';
import { REPLY_KINDS, type ReplyKind } from '../reply/use-cases.ts';
import { MAX_AUTHOR_CHARS } from '../../core/drafts/limits.ts';
import { invalidRequest, ServiceError } from '../../core/errors.ts';
import { Mistakes } from '../../core/mistakes.ts';
import type { SendRequest } from '../send/use-cases.ts';
import type { HttpLimits } from '../../platform/http/connections/limits.ts';
import { ForwardBody, readQuoting, readReplyBody } from '../reply/reply-body.ts';
import { Uuid } from '../../platform/schemas/schemas.ts';
import {
  readText,
  readUuid,
  refuseUnknown,
  toFields,
  wrongType,
  type Fields,
} from '../../platform/http/body/fields.ts';
import { AttachmentBody, readAttachments, type EmailJson } from '../send/attachment-body.ts';
import { readFlag, readSendBody, readSendFields, SendBody, withoutContents } from '../send/send-body.ts';
import { refuseUnstorableIn } from '../../platform/http/body/refuse-unstorable.ts';
import { isOneLine, ONE_LINE_PATTERN } from '../../core/one-line.ts';

/** Whether the thread has moved on is decided when the draft is sent. */
const { attachments: _files, if_newest: _ifNewest, ...MESSAGE_PROPERTIES } = SendBody.properties;

/** The fields of a send, complete or not. */
export const DraftMessageBody = {
  type: 'object',
  title: 'DraftMessage',
  additionalProperties: false,
  properties: {
    ...MESSAGE_PROPERTIES,
    to: SendBody.properties.cc,
    subject: { type: ['string', 'null'] },
  },
} as const;

/** The email that a draft answers, with the fields that a reply has beyond a send. */
const AnswerBody = {
  type: 'object',
  title: 'DraftAnswerInput',
  additionalProperties: false,
  required: ['email_id'],
  properties: {
    email_id: { ...Uuid, description: 'Id of the email that is answered or forwarded.' },
    kind: {
      type: ['string', 'null'],
      enum: [...REPLY_KINDS, null],
      description: 'Default: `reply`.',
    },
    quote: ForwardBody.properties.quote,
    language: ForwardBody.properties.language,
    time_zone: ForwardBody.properties.time_zone,
    with_files: ForwardBody.properties.with_files,
  },
} as const;

const KeptFile = {
  type: 'object',
  title: 'KeptFile',
  additionalProperties: false,
  required: ['id'],
  properties: { id: { ...Uuid, description: 'Id of a file that the draft already contains.' } },
} as const;

export const DraftBody = {
  type: 'object',
  title: 'DraftRequest',
  additionalProperties: false,
  properties: {
    author: {
      type: ['string', 'null'],
      maxLength: MAX_AUTHOR_CHARS,
      pattern: ONE_LINE_PATTERN,
      description: 'Author of the draft, as the caller names people, in one line.',
    },
    answers: {
      anyOf: [AnswerBody, { type: 'null' }],
      description: 'Takes recipients, subject, thread and quote from that email when the draft is sent.',
    },
    message: DraftMessageBody,
    attachments: {
      anyOf: [{ type: 'array', items: { anyOf: [AttachmentBody, KeptFile] } }, { type: 'null' }],
      description:
        'Replaces all files: new files by `content`, `upload_id` or `attachment_id`, kept files by `id`.',
    },
  },
} as const;

export const DraftSendBody = {
  type: 'object',
  title: 'DraftSendRequest',
  additionalProperties: false,
  properties: { if_newest: SendBody.properties.if_newest },
} as const;

const FIELDS = new Set(Object.keys(DraftBody.properties));
const MESSAGE_FIELDS = new Set(Object.keys(MESSAGE_PROPERTIES));
const KEPT_FIELDS = new Set(Object.keys(KeptFile.properties));
const ANSWER_FIELDS = new Set(Object.keys(AnswerBody.properties));

/** Returns only the fields of the body. Throws ServiceError with status 400, `payload_too_large` or `attachments_too_large`. */
export function readDraftBody(json: EmailJson, limits: HttpLimits): Omit<DraftChange, 'authorKeyId'> {
  const body = toFields(json.value);
  if (body === null) throw invalidRequest('not_an_object');
  const mistakes = new Mistakes();
  const given = <T extends object>(field: string, read: (value: unknown) => T): T | object =>
    field in body ? (mistakes.check(() => read(body[field])) ?? {}) : {};
  refuseUnknown(body, FIELDS, '', mistakes.note);
  // readSendFields checks the message.
  mistakes.check(() => refuseUnstorableIn(withoutContents({ ...body, message: null }), ''));
  const change = {
    ...given('author', () => ({ author: readAuthor(body) })),
    ...given('answers', (value) => ({ answers: readAnswer(value, mistakes) })),
    ...given('message', (value) =>
      mistakes.inPart('message', () => readMessage(value, json, limits, mistakes)),
    ),
    ...given('attachments', (value) => ({ files: readAttachments(value, json, limits, mistakes, readKept) })),
    maxFileBytes: limits.maxAttachmentBytes,
    maxFiles: limits.maxAttachments,
  };
  mistakes.refuseAny();
  return change;
}

function readAuthor(body: Fields): string | null {
  const author = readText(body, 'author');
  if ((author?.length ?? 0) > MAX_AUTHOR_CHARS) {
    throw invalidRequest('too_long', { field: 'author', limit: MAX_AUTHOR_CHARS });
  }
  if (author !== null && !isOneLine(author)) throw invalidRequest('not_one_line', { field: 'author' });
  return author;
}

function readAnswer(value: unknown, mistakes: Mistakes): DraftAnswer | null {
  if (value === null) return null;
  const answer = toFields(value);
  if (answer === null) throw wrongType('answers', 'object');
  refuseUnknown(answer, ANSWER_FIELDS, 'answers.', mistakes.note);
  const emailId = mistakes.check(() => readUuid(answer, 'email_id', 'answers.email_id'));
  if (emailId === null) mistakes.note(invalidRequest('missing', { field: 'answers.email_id' }));
  const kind: ReplyKind | undefined = mistakes.check(() => readKind(answer));
  const withFiles = mistakes.check(() => readFlag(answer, 'with_files', 'answers.with_files'));
  if (kind !== undefined && kind !== 'forward' && (withFiles ?? null) !== null)
    mistakes.note(
      invalidRequest('only_with', { field: 'answers.with_files', other: 'answers.kind: forward' }),
    );
  const quoting = readQuoting(answer, 'answers.');
  return {
    emailId: emailId ?? '',
    kind: kind ?? 'reply',
    withFiles: kind === 'forward' ? (withFiles ?? true) : null,
    ...(quoting.quote ? quoting : { quote: false, language: null, timeZone: null }),
  };
}

function readKind(answer: Fields): ReplyKind {
  const name = readText(answer, 'kind', 'answers.kind') ?? 'reply';
  const kind = REPLY_KINDS.find((one) => one === name);
  if (kind === undefined)
    throw invalidRequest('not_one_of', { field: 'answers.kind', values: REPLY_KINDS.join(', ') });
  return kind;
}

function readMessage(
  value: unknown,
  json: EmailJson,
  limits: HttpLimits,
  mistakes: Mistakes,
): Required<Pick<DraftChange, 'message' | 'unfinished'>> {
  const message = toFields(value);
  if (message === null) throw wrongType('message', 'object');
  refuseUnknown(message, MESSAGE_FIELDS, 'message.', mistakes.note);
  // The value of a key `content` was taken for a file, because of its length.
  const text = JSON.stringify(message);
  if ([...json.longStrings.keys()].some((placeholder) => text.includes(placeholder))) {
    throw new ServiceError('payload_too_large');
  }
  return { message, unfinished: readSendFields(message, json, limits, mistakes, 'message.') };
}

/** A file that the draft already has. */
function readKept(fields: Fields, path: string): { readonly keptId: string } | null {
  if (!('id' in fields)) return null;
  refuseUnknown(fields, KEPT_FIELDS, `${path}.`);
  const keptId = readUuid(fields, 'id', `${path}.id`);
  if (keptId === null) throw invalidRequest('missing', { field: `${path}.id` });
  return { keptId };
}

/** The draft as a send, without its files. Throws the errors of a send with such a body. */
export function readDraftSend(
  draft: Draft,
  limits: HttpLimits,
  moment: Pick<SendRequest, 'respondAsync' | 'ifNewest'>,
  asked: Pick<SendRequest, 'authorKeyId' | 'authorName' | 'isByPerson'>,
  requireAdmin: () => void,
): DraftSend {
  // Its files are stored separately.
  const json = (value: object): EmailJson => ({
    value,
    longStrings: new Map(),
    requireRead: () => undefined,
    requireAdmin,
  });
  const { answers, message } = draft;
  if (answers === null) {
    return { kind: 'send', request: { ...readSendBody(json(message), limits), ...moment, ...asked } };
  }
  const { emailId, kind, quote, withFiles, language, timeZone } = answers;
  // A draft with fields that the answered email determines was refused; null is not among the fields of a reply.
  const body = {
    ...message,
    quote,
    language,
    time_zone: timeZone,
    ...(withFiles === null ? {} : { with_files: withFiles }),
  };
  const reply = readReplyBody(json(body), limits, kind);
  return {
    kind: 'reply',
    request: {
      ...reply,
      emailId,
      kind,
      message: {
        ...reply.message,
        ...moment,
        authorKeyId: asked.authorKeyId,
        authorName: asked.authorName ?? '',
      },
    },
  };
}
