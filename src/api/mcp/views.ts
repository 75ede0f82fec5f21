/** The view of emails and threads for a language model: as much as it needs, in few words, with text from others marked. */
import { z } from 'zod';
import { SENDER_WARNINGS, type SenderWarning } from '../../core/address/sender-warnings.ts';
import { shownMailbox } from '../../core/address/shown-mailbox.ts';
import { WRITERS } from '../../core/delivery/writer.ts';
import { MAX_TEXT_CHARS, pieceOf } from './untrusted.ts';

/** Objects of the API; only the fields that are read here. */
interface AddressJson {
  readonly name: string;
  readonly address: string;
}
interface AttachmentJson {
  readonly id: string;
  readonly filename: string;
  readonly content_type: string;
  readonly size_bytes: number;
}
interface CalendarTimeJson {
  readonly local: string;
  readonly utc: string | null;
}
interface InvitationJson {
  readonly method: string | null;
  readonly summary: string;
  readonly location: string | null;
  readonly start: CalendarTimeJson | null;
  readonly end: CalendarTimeJson | null;
  readonly organizer: AddressJson | null;
  readonly organizer_is_sender: boolean;
  readonly replaced_by: { readonly method: string } | null;
  readonly answer: { readonly status: string } | null;
}
export interface EmailJson {
  readonly id: string;
  readonly thread_id?: string;
  readonly account_id?: string;
  readonly customer_id?: string | null;
  readonly direction: 'inbound' | 'outbound';
  readonly from_address: AddressJson;
  readonly to_addresses: readonly AddressJson[];
  readonly cc_addresses?: readonly AddressJson[];
  readonly subject: string;
  readonly text_body: string;
  readonly reply_text?: string | null;
  readonly date: string;
  readonly state: string;
  readonly new_participant?: boolean;
  readonly written_by?: 'person' | 'machine' | 'unsure' | null;
  readonly sender_warnings?: readonly SenderWarning[];
  readonly authentication: { readonly verdict: 'passed' | 'failed' | 'unknown' } | null;
  readonly invitation?: InvitationJson | null;
  readonly email_attachments: readonly AttachmentJson[];
}
export interface ThreadJson {
  readonly id: string;
  readonly account_id: string;
  readonly subject: string;
  readonly customer_id: string | null;
  readonly participants: readonly AddressJson[];
  readonly email_count: number;
  readonly unread_count: number;
  readonly unanswered: boolean;
  readonly undelivered: number;
  readonly status: string;
  readonly assignee: string | null;
  readonly assignee_name: string | null;
  readonly labels: readonly string[];
  readonly last_activity_at: string;
  readonly newest_email?: { readonly id: string; readonly direction: string; readonly snippet: string };
}

interface DraftCommonJson {
  readonly id: string;
  readonly version: number;
  readonly account_id: string;
  readonly thread_id: string | null;
  readonly author: string | null;
  readonly created_by: { readonly name: string } | null;
  readonly answers: { readonly email_id: string; readonly kind: string } | null;
  readonly being_sent: boolean;
  readonly updated_at: string;
}
export interface DraftLineJson extends DraftCommonJson {
  readonly to: string;
  readonly subject: string;
  readonly file_count: number;
}
/** The fields of its message are as callers wrote them: any field of a send, or none. */
export interface DraftJson extends DraftCommonJson {
  readonly message: Readonly<Record<string, unknown>>;
  readonly attachments: readonly AttachmentJson[];
}

const SNIPPET_CHARS = 300;
/** Recipients of an email that are shown. */
const MAX_ADDRESSES = 20;

const text = z.string();
const texts = z.array(z.string());
const count = z.number();
export const nextCursor = z.string().nullable().describe('For the next page; null on the last one.');
export const nextOffset = z.number().nullable().describe('To read on; null at the end.');
const sender = z
  .enum(['proven', 'forged', 'unproven', 'ours'])
  .describe(
    'proven: the domain of untrusted_from sent it. forged: it did not, or From is unclear. unproven: not known. ours: sent by this company.',
  );

const File = z.strictObject({
  id: text,
  untrusted_filename: text,
  untrusted_content_type: text,
  size_bytes: count,
});

const emailFields = {
  id: text,
  thread_id: text.optional(),
  account_id: text.optional(),
  direction: text,
  state: text,
  date: text,
  sender,
  untrusted_from: text,
  untrusted_to: texts,
  untrusted_subject: text,
};
/** An entry of a list. */
export const EmailLine = z.strictObject({
  ...emailFields,
  untrusted_snippet: text,
  attachment_count: count,
});
/** An email with a piece of its text. */
export const EmailView = z.strictObject({
  ...emailFields,
  customer_id: text.nullable().optional(),
  sender_is_new_in_thread: z.boolean().optional(),
  sender_warnings: z.array(z.enum(SENDER_WARNINGS)).optional().describe('What deceives about the sender.'),
  written_by: z
    .enum(WRITERS)
    .optional()
    .describe('Of a received email: machine needs no answer; unsure may be a person.'),
  invitation: z
    .strictObject({
      method: text.nullable().describe('request: answer_invitation answers it.'),
      untrusted_summary: text,
      untrusted_location: text.optional(),
      start: text.nullable(),
      end: text.nullable(),
      untrusted_organizer: text.optional(),
      organizer_is_sender: z.boolean(),
      replaced_by: text.optional().describe('A later request or cancel: this one counts no more.'),
      answer: text.optional().describe('How it was answered from here.'),
    })
    .optional(),
  untrusted_cc: texts.optional(),
  untrusted_text: text,
  next_offset: nextOffset,
  attachments: z.array(File).optional(),
});

export const ThreadLine = z.strictObject({
  id: text,
  account_id: text,
  customer_id: text.nullable(),
  status: text,
  assignee: text.nullable().describe('Id, as list_threads takes it.'),
  assignee_name: text.nullable(),
  labels: texts,
  unanswered: z.boolean(),
  undelivered: count.describe('Sends that did not arrive, or perhaps not, and wait for a person.'),
  email_count: count,
  unread_count: count,
  last_activity_at: text,
  untrusted_subject: text,
  untrusted_participants: texts,
  newest_email: z.strictObject({ id: text, direction: text, untrusted_snippet: text }).optional(),
});

const draftFields = {
  id: text,
  version: count,
  account_id: text,
  thread_id: text.nullable(),
  author: text.nullable(),
  created_by_key: text.nullable(),
  answers: z.strictObject({ email_id: text, kind: text }).nullable(),
  being_sent: z.boolean(),
  updated_at: text,
  untrusted_to: text,
  untrusted_subject: text,
};
export const DraftLine = z.strictObject({ ...draftFields, attachment_count: count });
/** A draft with a piece of its text or its HTML. */
export const DraftView = z.strictObject({
  ...draftFields,
  untrusted_cc: text.optional(),
  untrusted_bcc: text.optional(),
  untrusted_text: text,
  next_offset: nextOffset,
  has_html: z.boolean().describe('Its recipients see the HTML: read it with part "html".'),
  untrusted_other_fields: z.string().optional().describe('JSON of the other fields of its email.'),
  attachments: z.array(File).optional(),
});

/** An address is untrusted data as well: a stranger chooses its name, and the part before the `@`. */
const toAddresses = (addresses: readonly AddressJson[]): string[] =>
  addresses.slice(0, MAX_ADDRESSES).map(shownMailbox);

const VERDICTS = { passed: 'proven', failed: 'forged', unknown: 'unproven' } as const;

/** What is empty is left out: a model pays for each field. */
const unlessEmpty = <Name extends string, T extends { readonly length: number }>(name: Name, value: T) =>
  (value.length === 0 ? {} : { [name]: value }) as { readonly [N in Name]?: T };

const toEmailFields = (email: EmailJson) => ({
  id: email.id,
  ...(email.thread_id === undefined ? {} : { thread_id: email.thread_id }),
  ...(email.account_id === undefined ? {} : { account_id: email.account_id }),
  direction: email.direction,
  state: email.state,
  date: email.date,
  sender:
    email.direction === 'outbound' ? ('ours' as const) : VERDICTS[email.authentication?.verdict ?? 'unknown'],
  untrusted_from: shownMailbox(email.from_address),
  untrusted_to: toAddresses(email.to_addresses),
  untrusted_subject: email.subject,
});

export const toEmailLine = (email: EmailJson): z.infer<typeof EmailLine> => ({
  ...toEmailFields(email),
  untrusted_snippet: pieceOf(email.text_body.replace(/\s+/g, ' ').trim(), 0, SNIPPET_CHARS).untrusted_text,
  attachment_count: email.email_attachments.length,
});

const toFiles = (files: readonly AttachmentJson[]) =>
  unlessEmpty(
    'attachments',
    files.map((file) => ({
      id: file.id,
      untrusted_filename: file.filename,
      untrusted_content_type: file.content_type,
      size_bytes: file.size_bytes,
    })),
  );

const momentOf = (time: CalendarTimeJson | null): string | null => time?.utc ?? time?.local ?? null;

const toInvitation = (invitation: InvitationJson): NonNullable<z.infer<typeof EmailView>['invitation']> => ({
  method: invitation.method,
  untrusted_summary: invitation.summary,
  ...(invitation.location === null ? {} : { untrusted_location: invitation.location }),
  start: momentOf(invitation.start),
  end: momentOf(invitation.end),
  ...(invitation.organizer === null ? {} : { untrusted_organizer: shownMailbox(invitation.organizer) }),
  organizer_is_sender: invitation.organizer_is_sender,
  ...(invitation.replaced_by === null ? {} : { replaced_by: invitation.replaced_by.method }),
  ...(invitation.answer === null ? {} : { answer: invitation.answer.status }),
});

export const toEmailView = (
  email: EmailJson,
  body: string,
  offset: number,
  maxChars = MAX_TEXT_CHARS,
): z.infer<typeof EmailView> => ({
  ...toEmailFields(email),
  ...(email.customer_id === undefined ? {} : { customer_id: email.customer_id }),
  ...(email.new_participant === undefined ? {} : { sender_is_new_in_thread: email.new_participant }),
  ...unlessEmpty('sender_warnings', [...(email.sender_warnings ?? [])]),
  ...(email.written_by ? { written_by: email.written_by } : {}),
  ...(email.invitation ? { invitation: toInvitation(email.invitation) } : {}),
  ...unlessEmpty('untrusted_cc', toAddresses(email.cc_addresses ?? [])),
  ...pieceOf(body, offset, maxChars),
  ...toFiles(email.email_attachments),
});

export const toThreadLine = (thread: ThreadJson): z.infer<typeof ThreadLine> => ({
  id: thread.id,
  account_id: thread.account_id,
  customer_id: thread.customer_id,
  status: thread.status,
  assignee: thread.assignee,
  assignee_name: thread.assignee_name,
  labels: [...thread.labels],
  unanswered: thread.unanswered,
  undelivered: thread.undelivered,
  email_count: thread.email_count,
  unread_count: thread.unread_count,
  last_activity_at: thread.last_activity_at,
  untrusted_subject: thread.subject,
  untrusted_participants: toAddresses(thread.participants),
  ...(thread.newest_email === undefined
    ? {}
    : {
        newest_email: {
          id: thread.newest_email.id,
          direction: thread.newest_email.direction,
          untrusted_snippet: thread.newest_email.snippet,
        },
      }),
});

const toDraftCommon = (draft: DraftCommonJson) => ({
  id: draft.id,
  version: draft.version,
  account_id: draft.account_id,
  thread_id: draft.thread_id,
  author: draft.author,
  created_by_key: draft.created_by?.name ?? null,
  answers: draft.answers === null ? null : { email_id: draft.answers.email_id, kind: draft.answers.kind },
  being_sent: draft.being_sent,
  updated_at: draft.updated_at,
});

export const toDraftLine = (draft: DraftLineJson): z.infer<typeof DraftLine> => ({
  ...toDraftCommon(draft),
  untrusted_to: draft.to,
  untrusted_subject: draft.subject,
  attachment_count: draft.file_count,
});

/** The part of a draft that is shown in pieces. */
export type DraftPart = 'text' | 'html';

/** A draft with a piece of its text. Any person or model may have written it, and may have pasted text from mail into it. */
export function toDraftView(
  { message, attachments, ...draft }: DraftJson,
  offset = 0,
  part: DraftPart = 'text',
): z.infer<typeof DraftView> {
  const { to, cc, bcc, subject, text_body: textBody, html_body: html, ...others } = message;
  const people = (value: unknown) => pieceOf([value ?? []].flat().join(', '), 0).untrusted_text;
  const written = (value: unknown) => (typeof value === 'string' ? value : '');
  const given = Object.fromEntries(Object.entries(others).filter(([, value]) => value !== null));
  return {
    ...toDraftCommon(draft),
    untrusted_to: people(to),
    ...unlessEmpty('untrusted_cc', people(cc)),
    ...unlessEmpty('untrusted_bcc', people(bcc)),
    untrusted_subject: pieceOf(written(subject), 0).untrusted_text,
    ...pieceOf(written(part === 'html' ? html : textBody), offset),
    has_html: written(html) !== '',
    ...(Object.keys(given).length === 0
      ? {}
      : { untrusted_other_fields: pieceOf(JSON.stringify(given), 0).untrusted_text }),
    ...toFiles(attachments),
  };
}
