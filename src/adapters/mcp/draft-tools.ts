/**
 * Tools for emails that a person reviews before they go out. Only plain text: the reviewer sees everything that the agent wrote. Each
 * change, and the send, names the version that the model saw, so that neither overwrites nor sends another writer's later changes.
 */
import { z } from 'zod';
import { path } from './api-call.ts';
import { bodyOf, defineTool, type Tool } from './define-tool.ts';
import {
  MAX_WRITTEN_BODY_CHARS,
  MAX_WRITTEN_RECIPIENTS_CHARS,
  MAX_WRITTEN_SUBJECT_CHARS,
  toOutcome,
  type SendAnswer,
} from './sending.ts';
import { MAX_TEXT_CHARS } from './untrusted.ts';
import { toDraftLine, toDraftView, type DraftJson, type DraftLineJson } from './views.ts';

const DEFAULT_ENTRIES = 10;
const MAX_ENTRIES = 25;

const id = z.uuid();
const accountId = z.string().min(1).max(63).optional();
const version = z
  .int()
  .min(1)
  .describe('That you have read. If the draft has changed since, nothing is done: read it again.');
const addresses = z.string().max(MAX_WRITTEN_RECIPIENTS_CHARS);
const fields = {
  to: addresses
    .optional()
    .describe('Addresses, separated by commas. Of an answer, those in place of its own.'),
  cc: addresses.optional(),
  bcc: addresses.optional(),
  subject: z.string().max(MAX_WRITTEN_SUBJECT_CHARS).optional(),
  text_body: z
    .string()
    .max(MAX_WRITTEN_BODY_CHARS)
    .optional()
    .describe('Plain text. An answer quotes the email below it.'),
};

/** Files of one draft that a tool may name. */
const MAX_FILES = 20;

const namedFile = {
  attachment_id: id.optional().describe('A file of an email.'),
  upload_id: id.optional().describe('A file that a program has uploaded.'),
  filename: z.string().min(1).max(255).optional().describe('Another name for it.'),
};
const newFile = z.object(namedFile);
const anyFile = newFile.extend({
  draft_file_id: id.optional().describe('A file that the draft has, and keeps.'),
});

/** In the API's form; the API refuses a file that is named twice, or not at all. */
const toAttachments = (files: readonly z.infer<typeof anyFile>[] | undefined) =>
  files === undefined
    ? {}
    : {
        attachments: files.map(({ draft_file_id: kept, ...file }) =>
          kept === undefined ? file : { ...file, id: kept },
        ),
      };

const ifMatch = (draftVersion: number) => `"${draftVersion}"`;

const createDraft = defineTool({
  name: 'create_draft',
  title: 'Write a draft',
  description:
    'Writes an email that is not sent: a person, or send_draft, sends it later. With answers_email_id it is an answer, and recipients, subject, thread and quote come from that email.',
  right: 'draft',
  effect: 'changes',
  input: {
    answers_email_id: id.optional().describe('The email that it answers or forwards.'),
    kind: z.enum(['reply', 'reply_all', 'forward']).default('reply').describe('With answers_email_id.'),
    with_files: z.boolean().default(true).describe('Of a forward: with all files of the email.'),
    ...fields,
    customer_id: id.optional(),
    account_id: accountId.describe('The account that would send it. An answer is sent by that of its email.'),
    attachments: z
      .array(newFile)
      .max(MAX_FILES)
      .optional()
      .describe(`Up to ${MAX_FILES} files, each by one identifier. The draft keeps them as they are.`),
  },
  async run(call, { answers_email_id: emailId, kind, with_files: withFiles, attachments, ...message }) {
    const answers = { email_id: emailId, kind, with_files: withFiles };
    const body = { message, ...(emailId === undefined ? {} : { answers }), ...toAttachments(attachments) };
    return toDraftView(bodyOf<DraftJson>(await call({ method: 'POST', path: '/api/drafts', body })), 0);
  },
});

const listDrafts = defineTool({
  name: 'list_drafts',
  title: 'List drafts',
  description: 'Lists drafts, those of people too, the last changed first.',
  right: 'draft',
  effect: 'none',
  input: {
    account_id: accountId.describe('Only of this account.'),
    thread_id: id.optional().describe('Only of this thread.'),
    limit: z.int().min(1).max(MAX_ENTRIES).default(DEFAULT_ENTRIES),
    cursor: z.string().max(1000).optional().describe('next_cursor of the answer before.'),
  },
  async run(call, query) {
    const list = bodyOf<{ drafts: readonly DraftLineJson[]; next_cursor: string | null }>(
      await call({ method: 'GET', path: '/api/drafts', query }),
    );
    return { drafts: list.drafts.map(toDraftLine), next_cursor: list.next_cursor };
  },
});

const readDraft = defineTool({
  name: 'read_draft',
  title: 'Read a draft',
  description: `Reads a draft with its text, ${MAX_TEXT_CHARS} characters at a time, and the version that edit_draft, delete_draft and send_draft ask for.`,
  right: 'draft',
  effect: 'none',
  input: {
    draft_id: id,
    offset: z.int().min(0).default(0).describe('next_offset of the answer before, to read on.'),
  },
  async run(call, { draft_id: draftId, offset }) {
    const draft = bodyOf<DraftJson>(await call({ method: 'GET', path: path('api', 'drafts', draftId) }));
    return toDraftView(draft, offset);
  },
});

const editDraft = defineTool({
  name: 'edit_draft',
  title: 'Change a draft',
  description:
    'Changes the fields that are given; the others stay. A new text takes the place of all of the old one, its HTML too, and attachments the place of all files.',
  right: 'draft',
  effect: 'changes',
  input: {
    draft_id: id,
    version,
    ...fields,
    attachments: z
      .array(anyFile)
      .max(MAX_FILES)
      .optional()
      .describe('All files that it has from now on, each by one identifier.'),
  },
  async run(call, { draft_id: draftId, version: read, attachments, ...message }) {
    const request = {
      method: 'PATCH',
      path: path('api', 'drafts', draftId),
      ifMatch: ifMatch(read),
      // Otherwise the person who sends the draft would see this text, and send the old HTML.
      body: {
        message: { ...message, ...(message.text_body === undefined ? {} : { html_body: null }) },
        ...toAttachments(attachments),
      },
    } as const;
    return toDraftView(bodyOf<DraftJson>(await call(request)), 0);
  },
});

const deleteDraft = defineTool({
  name: 'delete_draft',
  title: 'Delete a draft',
  description: 'Deletes a draft for ever, with its files.',
  right: 'draft',
  effect: 'destroys',
  input: { draft_id: id, version },
  async run(call, { draft_id: draftId, version: read }) {
    const request = {
      method: 'DELETE',
      path: path('api', 'drafts', draftId),
      ifMatch: ifMatch(read),
    } as const;
    return { deleted_draft_id: bodyOf<{ draft_id: string }>(await call(request)).draft_id };
  },
});

const sendDraft = defineTool({
  name: 'send_draft',
  title: 'Send a draft',
  description:
    'Sends a draft at once, as it is in this version; then it is gone. A repeat with the same version sends nothing again.',
  right: 'send',
  effect: 'sends',
  input: { draft_id: id, version },
  async run(call, { draft_id: draftId, version: read }) {
    const request = {
      method: 'POST',
      path: path('api', 'drafts', draftId, 'send'),
      ifMatch: ifMatch(read),
    } as const;
    return toOutcome(bodyOf<SendAnswer>(await call(request)));
  },
});

export const DRAFT_TOOLS: readonly Tool[] = [
  createDraft,
  listDrafts,
  readDraft,
  editDraft,
  deleteDraft,
  sendDraft,
];
