/** Drafts as the API shows them. */
import type { Draft, DraftAnswer, DraftSummary } from './draft-ports.ts';
import { toAttachmentJson } from '../emails/email-view.ts';
import { Kind } from '../reply/reply-routes.ts';
import { NullableLanguage, NullableTimeZone } from '../reply/reply-body.ts';
import { NullableKeyAuthor } from '../../platform/schemas/author.ts';
import { AccountId, pageSchema } from '../../platform/schemas/page-schemas.ts';
import {
  attachmentProperties,
  NullableUuid,
  record,
  Timestamp,
  Uuid,
} from '../../platform/schemas/schemas.ts';
import { DraftMessageBody } from './draft-body.ts';

const AnswerRecord = record('DraftAnswer', {
  email_id: { ...Uuid, description: 'Id of the email that is answered or forwarded.' },
  kind: Kind,
  quote: { type: 'boolean' },
  with_files: {
    type: ['boolean', 'null'],
    description: 'For a forward: attach all files of the email. Null: it is not a forward.',
  },
  language: { ...NullableLanguage, description: 'Null: there is no quote.' },
  time_zone: { ...NullableTimeZone, description: 'Null: there is no quote.' },
});
const NullableAnswer = { anyOf: [AnswerRecord, { type: 'null' }], title: 'NullableDraftAnswer' } as const;
const Author = { title: 'DraftAuthor', type: ['string', 'null'] } as const;
const Version = {
  title: 'DraftVersion',
  $comment: 'Version; it changes with every update. `If-Match` takes it in quotes.',
  type: 'integer',
  minimum: 1,
} as const;
const BeingSent = {
  title: 'DraftBeingSent',
  $comment: "True while a request is sending the draft; it can't be changed meanwhile.",
  type: 'boolean',
} as const;

const common = {
  id: Uuid,
  version: Version,
  account_id: { ...AccountId, description: 'Sending account.' },
  thread_id: {
    ...NullableUuid,
    description: 'Thread that the email would join, when the draft names a thread or answers an email.',
  },
  author: Author,
  created_by: {
    ...NullableKeyAuthor,
    description: 'Id of the key that created it; null for `API_SECRET`.',
  },
  answers: NullableAnswer,
  being_sent: BeingSent,
  created_at: Timestamp,
  updated_at: Timestamp,
} as const;

/** The sending decides which files the HTML shows. */
const DraftAttachment = record('DraftAttachment', {
  ...attachmentProperties,
  content_id: {
    type: ['string', 'null'],
    description:
      'Content-ID that the HTML uses for the file, without angle brackets; null when it uses none.',
  },
});

export const DraftSchema = record('Draft', {
  ...common,
  message: DraftMessageBody,
  attachments: { type: 'array', items: DraftAttachment },
});

export const DraftsSchema = pageSchema(
  'Drafts',
  'drafts',
  record('DraftSummary', {
    ...common,
    to: { type: 'string', description: 'Recipients as written, shortened.' },
    subject: { type: 'string', description: 'Shortened.' },
    file_count: { type: 'integer', minimum: 0 },
  }),
);

export function toDraftJson(draft: Draft): object {
  return {
    ...toCommonJson(draft),
    message: draft.message,
    attachments: draft.files.map((file) => ({ ...toAttachmentJson(file), content_id: file.contentId })),
  };
}

export function toSummaryJson({ recipients, subject, fileCount, ...draft }: DraftSummary): object {
  return { ...toCommonJson(draft), to: recipients, subject, file_count: fileCount };
}

function toCommonJson(draft: Omit<DraftSummary, 'recipients' | 'subject' | 'fileCount'>) {
  return {
    id: draft.id,
    version: draft.version,
    account_id: draft.accountId,
    thread_id: draft.threadId,
    author: draft.author,
    created_by: draft.createdBy,
    answers: draft.answers === null ? null : toAnswerJson(draft.answers),
    being_sent: draft.isBeingSent,
    created_at: draft.createdAt.toISOString(),
    updated_at: draft.updatedAt.toISOString(),
  };
}

function toAnswerJson({ emailId, kind, quote, withFiles, language, timeZone }: DraftAnswer) {
  return { email_id: emailId, kind, quote, with_files: withFiles, language, time_zone: timeZone };
}
