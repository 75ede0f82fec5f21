/**
 * Tools for emails that a person reviews before they go out. Each change, and the send, names the version that the model saw, so that
 * neither overwrites nor sends another writer's later changes.
 */
import { z } from 'zod';
import { invalidRequest } from '../../core/errors.ts';
import { path, type ApiCall } from './api-call.ts';
import { InputFault } from './check-input.ts';
import { bodyOf, defineTool, type Tool } from './define-tool.ts';
import {
  accountId,
  answers,
  anyFiles,
  CHANGED_DRAFT_FIELDS,
  DRAFT_FIELDS,
  id,
  PLACE_FIELDS,
  SEND_DRAFT_FIELDS,
} from './message-fields.ts';
import { cursor, limit, offset } from './reading-tools.ts';
import { Outcome, toOutcome } from './sending.ts';
import { MAX_TEXT_CHARS } from './untrusted.ts';
import {
  DraftLine,
  DraftView,
  nextCursor,
  toDraftLine,
  toDraftView,
  type DraftJson,
  type DraftLineJson,
} from './views.ts';

const version = z
  .int()
  .min(1)
  .max(2_147_483_647)
  .describe('That you have read. If the draft has changed since, nothing is done: read it again.');
const author = z.string().min(1).max(200).describe('Whose draft it is.');

const ifMatch = (draftVersion: number) => `"${draftVersion}"`;

/** The send of an answer takes these from the email that it answers, and would drop them. */
function refusePlace(message: object): void {
  const field = PLACE_FIELDS.find((name) => (message as Record<string, unknown>)[name] !== undefined);
  if (field !== undefined) throw new InputFault(invalidRequest('not_with', { field, other: 'answers' }));
}

const createDraft = defineTool({
  name: 'create_draft',
  title: 'Create a draft',
  description:
    'Writes an email that is not sent: a person, or send_draft, sends it later. With answers it is an answer: recipients and ' +
    'subject that are not given, thread, account and quote come from that email.',
  rights: ['draft'],
  effect: 'changes',
  input: z.strictObject({ answers, author: author.optional(), ...DRAFT_FIELDS }),
  output: DraftView,
  async run(call, { answers: answered, author: writer, attachments, ...message }) {
    if (answered !== undefined) refusePlace(message);
    const body = {
      message,
      ...(answered === undefined ? {} : { answers: answered }),
      ...(writer === undefined ? {} : { author: writer }),
      ...(attachments === undefined ? {} : { attachments }),
    };
    return toDraftView(bodyOf<DraftJson>(await call({ method: 'POST', path: '/api/drafts', body })));
  },
});

const listDrafts = defineTool({
  name: 'list_drafts',
  title: 'List drafts',
  description: 'Lists drafts, those of people too, the last changed first.',
  rights: ['draft'],
  effect: 'none',
  input: z.strictObject({
    account_id: accountId.optional(),
    thread_id: id.optional(),
    author: author.optional(),
    limit,
    cursor,
  }),
  output: z.strictObject({ drafts: z.array(DraftLine), next_cursor: nextCursor }),
  async run(call, query) {
    const list = bodyOf<{ drafts: readonly DraftLineJson[]; next_cursor: string | null }>(
      await call({ method: 'GET', path: '/api/drafts', query }),
    );
    return { drafts: list.drafts.map(toDraftLine), next_cursor: list.next_cursor };
  },
});

async function findDraft(call: ApiCall, draftId: string): Promise<DraftJson> {
  return bodyOf<DraftJson>(await call({ method: 'GET', path: path('api', 'drafts', draftId) }));
}

const readDraft = defineTool({
  name: 'read_draft',
  title: 'Read a draft',
  description: `Reads a draft with its text, ${MAX_TEXT_CHARS} characters at a time, and the version that edit_draft, delete_draft and send_draft ask for.`,
  rights: ['draft'],
  effect: 'none',
  input: z.strictObject({
    draft_id: id,
    part: z.enum(['text', 'html']).default('text').describe('What untrusted_text holds.'),
    offset,
  }),
  output: DraftView,
  async run(call, { draft_id: draftId, part, offset: from }) {
    return toDraftView(await findDraft(call, draftId), from, part);
  },
});

const editDraft = defineTool({
  name: 'edit_draft',
  title: 'Change a draft',
  description:
    'Changes the fields that are given, and null takes one away; the others stay. A text_body without an html_body takes the ' +
    'place of the HTML as well, an html_body alone that of the text, and attachments the place of all files.',
  rights: ['draft'],
  effect: 'changes',
  input: z.strictObject({
    draft_id: id,
    version,
    answers: answers.unwrap().nullable().optional(),
    author: author.nullable().optional(),
    ...CHANGED_DRAFT_FIELDS,
    attachments: anyFiles,
  }),
  output: DraftView,
  async run(call, input) {
    const {
      draft_id: draftId,
      version: read,
      answers: answered,
      author: writer,
      attachments,
      ...message
    } = input;
    // The request names the version, so the draft is the same when it is changed.
    const isAnswer =
      answered === undefined ? (await findDraft(call, draftId)).answers !== null : answered !== null;
    if (isAnswer)
      refusePlace(Object.fromEntries(Object.entries(message).filter(([, value]) => value !== null)));
    const body = {
      message: { ...message, ...otherBody(message) },
      ...(answered === undefined ? {} : { answers: answered }),
      ...(writer === undefined ? {} : { author: writer }),
      ...(attachments === undefined ? {} : { attachments }),
    };
    const request = {
      method: 'PATCH',
      path: path('api', 'drafts', draftId),
      ifMatch: ifMatch(read),
      body,
    } as const;
    return toDraftView(bodyOf<DraftJson>(await call(request)));
  },
});

/** Otherwise the person who sends the draft would see the new text, and send the old HTML, or the other way round. */
function otherBody({
  text_body: text,
  html_body: html,
}: {
  text_body?: unknown;
  html_body?: unknown;
}): object {
  if (typeof text === 'string' && html === undefined) return { html_body: null };
  if (typeof html === 'string' && text === undefined) return { text_body: null };
  return {};
}

const deleteDraft = defineTool({
  name: 'delete_draft',
  title: 'Delete a draft',
  description: 'Deletes a draft for ever, with its files.',
  rights: ['draft'],
  effect: 'destroys',
  input: z.strictObject({ draft_id: id, version }),
  output: z.strictObject({ deleted_draft_id: z.string() }),
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
    'Sends the version of a draft that you have read, now, or at its send_at. A repeat sends nothing again.',
  rights: ['read', 'send'],
  effect: 'sends',
  input: z.strictObject({ draft_id: id, version, ...SEND_DRAFT_FIELDS }),
  output: Outcome,
  async run(call, { draft_id: draftId, version: read, ...body }) {
    const request = {
      method: 'POST',
      path: path('api', 'drafts', draftId, 'send'),
      ifMatch: ifMatch(read),
      body,
    } as const;
    return toOutcome(await call(request));
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
