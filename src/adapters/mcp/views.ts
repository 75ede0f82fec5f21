/** The view of emails and threads for a language model: as much as it needs, in few words, with text from others marked. */
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
export interface EmailJson {
  readonly id: string;
  readonly thread_id?: string;
  readonly account_id?: string;
  readonly customer_id?: string | null;
  readonly direction: string;
  readonly from_address: AddressJson;
  readonly to_addresses: readonly AddressJson[];
  readonly cc_addresses?: readonly AddressJson[];
  readonly subject: string;
  readonly text_body: string;
  readonly reply_text?: string | null;
  readonly date: string;
  readonly state?: string;
  readonly new_participant?: boolean;
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
  readonly status: string;
  readonly assignee: string | null;
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

/** An address is untrusted data as well: a stranger chooses its name, and the part before the `@`. */
const toAddresses = (addresses: readonly AddressJson[]) =>
  addresses
    .slice(0, MAX_ADDRESSES)
    .map(({ name, address }) => (name === '' ? address : `${name} <${address}>`));

/** An entry of a list. */
export const toEmailLine = (email: EmailJson) => ({
  id: email.id,
  thread_id: email.thread_id,
  account_id: email.account_id,
  direction: email.direction,
  state: email.state,
  date: email.date,
  untrusted_from: toAddresses([email.from_address])[0],
  untrusted_to: toAddresses(email.to_addresses),
  untrusted_subject: email.subject,
  untrusted_snippet: pieceOf(email.text_body.replace(/\s+/g, ' ').trim(), 0, SNIPPET_CHARS).untrusted_text,
  attachment_count: email.email_attachments.length,
});

const toFiles = (files: readonly AttachmentJson[]) =>
  files.map((file) => ({
    id: file.id,
    untrusted_filename: file.filename,
    content_type: file.content_type,
    size_bytes: file.size_bytes,
  }));

/** An email with a piece of its text. */
export const toEmailView = (email: EmailJson, text: string, offset: number, maxChars = MAX_TEXT_CHARS) => ({
  id: email.id,
  thread_id: email.thread_id,
  account_id: email.account_id,
  customer_id: email.customer_id,
  direction: email.direction,
  state: email.state,
  date: email.date,
  sender_is_new_in_thread: email.new_participant,
  untrusted_from: toAddresses([email.from_address])[0],
  untrusted_to: toAddresses(email.to_addresses),
  untrusted_cc: toAddresses(email.cc_addresses ?? []),
  untrusted_subject: email.subject,
  ...pieceOf(text, offset, maxChars),
  attachments: toFiles(email.email_attachments),
});

export const toThreadLine = (thread: ThreadJson) => ({
  id: thread.id,
  account_id: thread.account_id,
  customer_id: thread.customer_id,
  status: thread.status,
  assignee: thread.assignee,
  labels: thread.labels,
  unanswered: thread.unanswered,
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
  answers_email_id: draft.answers?.email_id ?? null,
  kind: draft.answers?.kind ?? null,
  being_sent: draft.being_sent,
  updated_at: draft.updated_at,
});

/** An entry of a list. */
export const toDraftLine = (draft: DraftLineJson) => ({
  ...toDraftCommon(draft),
  untrusted_to: draft.to,
  untrusted_subject: draft.subject,
  attachment_count: draft.file_count,
});

/** A draft with a piece of its text. Any person or model may have written it, and may have pasted text from mail into it. */
export function toDraftView({ message, attachments, ...draft }: DraftJson, offset: number) {
  const people = (field: string) => pieceOf([message[field] ?? []].flat().join(', '), 0).untrusted_text;
  const text = (field: string) => (typeof message[field] === 'string' ? message[field] : '');
  return {
    ...toDraftCommon(draft),
    untrusted_to: people('to'),
    untrusted_cc: people('cc'),
    untrusted_bcc: people('bcc'),
    untrusted_subject: pieceOf(text('subject'), 0).untrusted_text,
    ...pieceOf(text('text_body'), offset),
    // A person wrote the HTML: the text alone is not what would be sent.
    has_html: text('html_body') !== '',
    send_at: message['send_at'] ?? null,
    attachments: toFiles(attachments),
  };
}
