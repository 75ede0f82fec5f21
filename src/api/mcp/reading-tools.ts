/** Tools that change nothing. Each answer is bounded, and tells the model how to get the rest. */
import { z } from 'zod';
import { path } from './api-call.ts';
import { ApiRefusal, bodyOf, defineTool, type Tool } from './define-tool.ts';
import { mayBeText, textPieceOf } from './file-text.ts';
import { accountId as account, id, moment } from './message-fields.ts';
import { MAX_TEXT_CHARS } from './untrusted.ts';
import {
  EmailLine,
  EmailView,
  nextCursor,
  nextOffset,
  ThreadLine,
  toEmailLine,
  toEmailView,
  toThreadLine,
  type EmailJson,
  type ThreadJson,
} from './views.ts';

const DEFAULT_ENTRIES = 10;
const MAX_ENTRIES = 25;
const DEFAULT_EMAILS = 5;
const MAX_EMAILS = 10;
/** Of each email of a thread: `read_email` returns the rest. */
const THREAD_TEXT_CHARS = 3000;
/** No text and no file is as long. */
const MAX_OFFSET = 1_000_000_000;

export const cursor = z.string().min(1).max(1000).optional().describe('next_cursor of the page before.');
export const limit = z.int().min(1).max(MAX_ENTRIES).default(DEFAULT_ENTRIES);
export const offset = z.int().min(0).max(MAX_OFFSET).default(0).describe('next_offset of the piece before.');
const words = z.string().min(1).max(200);
const label = z.string().min(1).max(100).optional();
/** Filters of both lists, named as in the API. */
const filters = {
  q: words
    .optional()
    .describe(
      'All of these words; "quoted" for a phrase, -word to exclude. The beginning of a word is enough.',
    ),
  from: words.optional().describe('As q, of the sender alone.'),
  to: words.optional().describe('As q, of the recipients alone.'),
  subject: words.optional(),
  account_id: account.optional(),
  customer_id: id.optional(),
  company_id: id.optional(),
  label: label.describe('Of the thread.'),
};

interface ThreadPage {
  readonly thread: ThreadJson;
  readonly emails: readonly EmailJson[];
  readonly next_cursor: string | null;
}
interface EmailList {
  readonly emails: readonly EmailJson[];
  readonly next_cursor: string | null;
}

const searchEmails = defineTool({
  name: 'search_emails',
  title: 'Search emails',
  description:
    'Lists emails, newest first: all, or those that match all filters, such as words or a customer.',
  rights: ['read'],
  effect: 'none',
  input: z.strictObject({
    ...filters,
    thread_id: id.optional(),
    direction: z.enum(['inbound', 'outbound']).optional(),
    has_files: z.boolean().optional(),
    tag: z.string().min(1).max(64).optional(),
    message_id: z.string().min(3).max(997).optional().describe('With or without angle brackets.'),
    recorded_since: moment.optional(),
    limit,
    cursor,
  }),
  output: z.strictObject({ emails: z.array(EmailLine), next_cursor: nextCursor }),
  async run(call, query) {
    const list = bodyOf<EmailList>(await call({ method: 'GET', path: '/api/emails', query }));
    return { emails: list.emails.map(toEmailLine), next_cursor: list.next_cursor };
  },
});

const listThreads = defineTool({
  name: 'list_threads',
  title: 'List threads',
  description: 'Lists threads (conversations), newest activity first: all, or those that match all filters.',
  rights: ['read'],
  effect: 'none',
  input: z.strictObject({
    ...filters,
    status: z.enum(['open', 'done', 'spam']).optional(),
    unanswered: z.boolean().optional().describe('The newest email that no machine wrote is inbound.'),
    undelivered: z
      .boolean()
      .optional()
      .describe('With a send that failed, is unclear or bounced, and waits for a person.'),
    unread: z.boolean().optional(),
    assignee: z.string().length(12).optional().describe('Id of an assignee, as threads show it.'),
    assigned: z.boolean().optional(),
    has_attachments: z.boolean().optional(),
    active_since: moment.optional(),
    active_until: moment.optional(),
    limit,
    cursor,
  }),
  output: z.strictObject({ threads: z.array(ThreadLine), next_cursor: nextCursor }),
  async run(call, query) {
    const list = bodyOf<{ threads: readonly ThreadJson[]; next_cursor: string | null }>(
      await call({ method: 'GET', path: '/api/threads', query }),
    );
    return { threads: list.threads.map(toThreadLine), next_cursor: list.next_cursor };
  },
});

const readThread = defineTool({
  name: 'read_thread',
  title: 'Read a thread',
  description: `Reads a thread and its emails, newest first. Of each email the new text without quotes, at most ${THREAD_TEXT_CHARS} characters; read_email has all of it.`,
  rights: ['read'],
  effect: 'none',
  input: z.strictObject({
    thread_id: id,
    limit: z.int().min(1).max(MAX_EMAILS).default(DEFAULT_EMAILS),
    cursor,
  }),
  output: z.strictObject({ thread: ThreadLine, emails: z.array(EmailView), next_cursor: nextCursor }),
  async run(call, { thread_id: threadId, ...page }) {
    const { thread, emails, next_cursor } = bodyOf<ThreadPage>(
      await call({ method: 'GET', path: path('api', 'threads', threadId), query: page }),
    );
    return {
      thread: toThreadLine(thread),
      emails: emails.map((email) =>
        toEmailView(email, email.reply_text ?? email.text_body, 0, THREAD_TEXT_CHARS),
      ),
      next_cursor,
    };
  },
});

const readEmail = defineTool({
  name: 'read_email',
  title: 'Read an email',
  description: `Reads one email with its whole text, quotes included, ${MAX_TEXT_CHARS} characters at a time.`,
  rights: ['read'],
  effect: 'none',
  input: z.strictObject({ email_id: id, offset }),
  output: EmailView,
  async run(call, { email_id: emailId, offset: from }) {
    const email = bodyOf<EmailJson>(await call({ method: 'GET', path: path('api', 'emails', emailId) }));
    return toEmailView(email, email.text_body, from);
  },
});

/** Bytes of one answer: no more characters than for other texts. */
const FILE_BYTES = MAX_TEXT_CHARS;

const readAttachment = defineTool({
  name: 'read_attachment',
  title: 'Read an attachment',
  description: `Reads a file of an email where it is text (plain text, CSV, JSON, XML, HTML and the like), ${FILE_BYTES} bytes at a time. For any other file it returns type and size.`,
  rights: ['read'],
  effect: 'none',
  input: z.strictObject({ attachment_id: id.describe('Of the attachments of read_email.'), offset }),
  output: z.strictObject({
    attachment_id: z.string(),
    is_text: z.boolean(),
    untrusted_content_type: z.string().optional(),
    size_bytes: z.number().optional(),
    untrusted_text: z.string().optional(),
    next_offset: nextOffset.optional(),
  }),
  async run(call, { attachment_id: attachmentId, offset: from }) {
    const answer = await call({
      method: 'GET',
      path: path('api', 'attachments', attachmentId),
      range: `bytes=${from}-${from + FILE_BYTES - 1}`,
    });
    const { status, file } = answer;
    // RFC 9110 §15.5.17: the range is empty, at the end or in an empty file.
    if (status === 416) {
      return { attachment_id: attachmentId, is_text: true, untrusted_text: '', next_offset: null };
    }
    if (file === null) throw new ApiRefusal(answer);
    const { contentType, sizeBytes, bytes } = file;
    const piece = mayBeText(contentType) ? textPieceOf(bytes, from, sizeBytes) : null;
    return {
      attachment_id: attachmentId,
      untrusted_content_type: contentType,
      size_bytes: sizeBytes,
      is_text: piece !== null,
      ...piece,
    };
  },
});

export const READING_TOOLS: readonly Tool[] = [
  searchEmails,
  listThreads,
  readThread,
  readEmail,
  readAttachment,
];
