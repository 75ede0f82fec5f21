/**
 * The fields of an email that a tool takes: those of `POST /api/send`, under the same names and in every tool that writes one. A test
 * compares them with the API's document. Texts are shorter than the API allows, and none may be empty: a model that means "nothing" leaves
 * the field out.
 */
import { z } from 'zod';
import { INVITATION_ANSWER_STATUSES } from '../../core/calendar/compose-answer.ts';
import { MAX_DESCRIPTION_CHARS } from '../../core/calendar/limits.ts';
import { AUTO_SUBMITTED } from '../../core/delivery/loop-guard.ts';
import { MAX_LANE_LENGTH, PRIORITIES } from '../../core/delivery/priority.ts';
import { MAX_TAGS } from '../../core/message/limits.ts';
import { REPLY_LANGUAGES } from '../../core/reply/quote.ts';
import { MAX_TEMPLATE_VERSION } from '../../core/templates/limits.ts';
import { MAX_LIST_CHARS } from '../../core/unsubscribe/list-name.ts';

/** Limits of one email that a model writes: lower than those of the API for other callers. */
const MAX_BODY_CHARS = 100_000;
const MAX_ADDRESSES_CHARS = 2000;
const MAX_SUBJECT_CHARS = 500;
const MAX_NAME_CHARS = 255;
/** Files of one email. */
const MAX_FILES = 20;
/** Base64 of one file, which must fit into a message of the protocol with all else; larger files are uploaded. */
const MAX_CONTENT_CHARS = 700_000;

export const id = z.guid();
export const accountId = z.string().min(1).max(63);
export const moment = z.iso.datetime({ offset: true });
const addresses = z.string().min(1).max(MAX_ADDRESSES_CHARS);
const subject = z.string().min(1).max(MAX_SUBJECT_CHARS);
const body = z.string().min(1).max(MAX_BODY_CHARS);
const object = z.record(z.string(), z.unknown());

const namedFile = {
  filename: z.string().min(1).max(MAX_NAME_CHARS).optional(),
  content: z
    .string()
    .min(1)
    .max(MAX_CONTENT_CHARS)
    .optional()
    .describe('Base64 of a new file; needs filename.'),
  content_type: z.string().min(1).max(MAX_NAME_CHARS).optional(),
  content_id: z.string().min(1).max(200).optional().describe('For html_body: <img src="cid:…">.'),
  upload_id: id.optional().describe('A file of POST /api/uploads.'),
  attachment_id: id.optional().describe('A file of an email.'),
};
const files = (file: z.ZodRawShape) => z.array(z.strictObject(file)).max(MAX_FILES);

/** Each file is named by one of content, upload_id and attachment_id. */
const newFiles = files(namedFile)
  .optional()
  .describe('Each with one of content, upload_id and attachment_id.');
/** For a draft that has files already. */
export const anyFiles = files({ id: id.optional().describe('A file that the draft keeps.'), ...namedFile })
  .optional()
  .describe('All files that it has from now on, each with one of id, content, upload_id and attachment_id.');

/** Fields that the email to answer determines, unless they are given. */
const recipients = { to: addresses.optional(), cc: addresses.optional(), subject: subject.optional() };

/** Fields that an answer has as well. */
const common = {
  bcc: addresses.optional(),
  text_body: body.optional(),
  html_body: body.optional(),
  template_id: id.optional().describe('Gives subject and bodies that are not given here.'),
  template_version: z.int().min(1).max(MAX_TEMPLATE_VERSION).optional(),
  variables: object.optional().describe('Of the template.'),
  customer_id: id.optional(),
  company_id: id.optional(),
  send_at: moment.optional().describe('Sent then, not now.'),
  priority: z.enum(PRIORITIES).optional(),
  lane: z.string().min(1).max(MAX_LANE_LENGTH).optional(),
  auto_submitted: z.enum(AUTO_SUBMITTED).optional(),
  reply_to: addresses.optional(),
  from: z
    .string()
    .min(1)
    .max(MAX_ADDRESSES_CHARS)
    .optional()
    .describe('An address that the account sends as.'),
  signature: z.boolean().optional().describe('With the signature of the account.'),
  from_name: z.string().min(1).max(MAX_NAME_CHARS).optional(),
  headers: z.record(z.string(), z.string()).optional(),
  tags: z.array(z.string().min(1)).max(MAX_TAGS).optional(),
  metadata: object.optional(),
  unsubscribe: z.strictObject({ list: z.string().min(1).max(MAX_LIST_CHARS) }).optional(),
};

/** Fields that decide the thread and the account; the email that is answered decides them for an answer. */
const ifNewest = {
  if_newest: id
    .optional()
    .describe(
      'The last email of the thread that you have read: with a newer one nothing is sent, and the error names it.',
    ),
};
const place = {
  in_reply_to: z.string().min(1).max(1000).optional().describe('Message-ID.'),
  thread_id: id.optional().describe('Joins this thread.'),
  account_id: accountId.optional().describe('The account that sends.'),
};
export const PLACE_FIELDS = [
  'in_reply_to',
  'thread_id',
  'account_id',
] as const satisfies (keyof typeof place)[];

const quoting = {
  quote: z.boolean().optional().describe('Quotes the email below. Default true.'),
  language: z.enum(REPLY_LANGUAGES).optional().describe('Of the line above the quote.'),
  time_zone: z.string().min(1).max(64).optional(),
};
const withFiles = z.boolean().optional().describe('Of a forward: with the files of the email. Default true.');

/** A draft is compared with its thread when it is sent. */
export const SEND_DRAFT_FIELDS = ifNewest;
export const SEND_FIELDS = {
  to: addresses.describe('Addresses, separated by commas: Ann <ann@example.com>, bob@example.com'),
  cc: addresses.optional(),
  subject: subject.optional().describe('Needed without template_id.'),
  ...common,
  ...place,
  ...ifNewest,
  attachments: newFiles,
};
export const REPLY_FIELDS = { ...recipients, ...common, ...ifNewest, ...quoting, attachments: newFiles };
export const FORWARD_FIELDS = { ...REPLY_FIELDS, to: addresses, with_files: withFiles };

/** The text of the answer is made from it. */
export const INVITATION_ANSWER_FIELDS = {
  answer: z.enum(INVITATION_ANSWER_STATUSES),
  comment: z.string().min(1).max(MAX_DESCRIPTION_CHARS).optional(),
  organizer: z
    .string()
    .min(1)
    .max(MAX_NAME_CHARS)
    .optional()
    .describe(
      'Only where organizer_is_sender is false: the address that gets the answer. Ask the user before.',
    ),
  language: quoting.language.describe('Of the text.'),
  send_at: common.send_at,
  priority: common.priority,
  lane: common.lane,
  tags: common.tags,
  metadata: common.metadata,
  ...ifNewest,
};

const message = { ...recipients, ...common, ...place };
export const DRAFT_FIELDS = { ...message, attachments: newFiles };
/** null takes a field away. */
export const CHANGED_DRAFT_FIELDS = nullable(message);

/** The email that a draft answers. */
export const answers = z
  .strictObject({
    email_id: id,
    kind: z.enum(['reply', 'reply_all', 'forward']).optional().describe('Default reply.'),
    ...quoting,
    with_files: withFiles,
  })
  .optional();

/** Fields that may be null as well. */
function nullable<Fields extends Readonly<Record<string, z.ZodOptional>>>(fields: Fields) {
  const entries = Object.entries(fields).map(([name, field]) => [
    name,
    z.nullable(field.unwrap()).optional(),
  ]);
  return Object.fromEntries(entries) as { [Name in keyof Fields]: z.ZodOptional<z.ZodNullable<z.ZodType>> };
}
