/** Tools that change nothing. Each answer is bounded, and tells the model how to get the rest. */
import { z } from 'zod';
import { path } from './api-call.ts';
import { ApiRefusal, bodyOf, defineTool, type Tool } from './define-tool.ts';
import { mayBeText, textPieceOf } from './file-text.ts';
import { MAX_TEXT_CHARS } from './untrusted.ts';
import { toEmailLine, toEmailView, toThreadLine, type EmailJson, type ThreadJson } from './views.ts';

const DEFAULT_ENTRIES = 10;
const MAX_ENTRIES = 25;
const DEFAULT_EMAILS = 5;
const MAX_EMAILS = 10;
/** Of each email of a thread: `read_email` returns the rest. */
const THREAD_TEXT_CHARS = 3000;

const id = z.uuid();
const cursor = z.string().max(1000).optional().describe('next_cursor of the answer before.');
const limit = z.int().min(1).max(MAX_ENTRIES).default(DEFAULT_ENTRIES);
const accountId = z.string().min(1).max(63).optional().describe('Only of this account.');
const query = z
  .string()
  .min(1)
  .max(200)
  .describe(
    'All of these words; "quoted" for a phrase, -word to exclude. The beginning of a word is enough.',
  );

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
  description: 'Finds emails by words of subject, addresses, file names and text. Newest first.',
  right: 'read',
  effect: 'none',
  input: { query, account_id: accountId, limit, cursor },
  async run(call, { query: q, ...rest }) {
    const list = bodyOf<EmailList>(await call({ method: 'GET', path: '/api/emails', query: { q, ...rest } }));
    return { emails: list.emails.map(toEmailLine), next_cursor: list.next_cursor };
  },
});

const listThreads = defineTool({
  name: 'list_threads',
  title: 'List threads',
  description: 'Lists threads (conversations), newest activity first. Filters combine.',
  right: 'read',
  effect: 'none',
  input: {
    query: query.optional(),
    account_id: accountId,
    customer_id: id.optional().describe('Only of this customer.'),
    status: z.enum(['open', 'done']).optional(),
    unanswered: z.boolean().optional().describe('The newest email that a person wrote is inbound.'),
    unread: z.boolean().optional(),
    assignee: z.string().min(1).max(200).optional(),
    label: z.string().min(1).max(100).optional(),
    limit,
    cursor,
  },
  async run(call, { query: q, ...rest }) {
    const list = bodyOf<{ threads: readonly ThreadJson[]; next_cursor: string | null }>(
      await call({ method: 'GET', path: '/api/threads', query: { q, ...rest } }),
    );
    return { threads: list.threads.map(toThreadLine), next_cursor: list.next_cursor };
  },
});

const readThread = defineTool({
  name: 'read_thread',
  title: 'Read a thread',
  description: `Reads a thread and its emails, newest first. Of each email the new text without quotes, at most ${THREAD_TEXT_CHARS} characters; read_email has all of it.`,
  right: 'read',
  effect: 'none',
  input: {
    thread_id: id,
    limit: z.int().min(1).max(MAX_EMAILS).default(DEFAULT_EMAILS),
    cursor,
  },
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
  right: 'read',
  effect: 'none',
  input: {
    email_id: id,
    offset: z.int().min(0).default(0).describe('next_offset of the answer before, to read on.'),
  },
  async run(call, { email_id: emailId, offset }) {
    const email = bodyOf<EmailJson>(await call({ method: 'GET', path: path('api', 'emails', emailId) }));
    return toEmailView(email, email.text_body, offset);
  },
});

/** Bytes of one answer: no more characters than for other texts. */
const FILE_BYTES = MAX_TEXT_CHARS;

const readAttachment = defineTool({
  name: 'read_attachment',
  title: 'Read an attachment',
  description: `Reads a file of an email where it is text (plain text, CSV, JSON, XML, HTML and the like), ${FILE_BYTES} bytes at a time. Of another file it tells type and size.`,
  right: 'read',
  effect: 'none',
  input: {
    attachment_id: id.describe('Of the attachments that read_email lists.'),
    offset: z.int().min(0).default(0).describe('next_offset of the answer before, to read on.'),
  },
  async run(call, { attachment_id: attachmentId, offset }) {
    const answer = await call({
      method: 'GET',
      path: path('api', 'attachments', attachmentId),
      range: `bytes=${offset}-${offset + FILE_BYTES - 1}`,
    });
    const { status, file } = answer;
    // RFC 9110 §15.5.17: the range is empty, at the end or in an empty file.
    if (status === 416) {
      return { attachment_id: attachmentId, is_text: true, untrusted_text: '', next_offset: null };
    }
    if (file === null) throw new ApiRefusal(answer);
    const { contentType, sizeBytes, bytes } = file;
    const piece = mayBeText(contentType) ? textPieceOf(bytes, offset, sizeBytes) : null;
    return {
      attachment_id: attachmentId,
      content_type: contentType,
      size_bytes: sizeBytes,
      is_text: piece !== null,
      ...piece,
    };
  },
});

const listCustomerEmails = defineTool({
  name: 'list_customer_emails',
  title: "List a customer's emails",
  description: 'Lists all emails of a customer, newest first.',
  right: 'read',
  effect: 'none',
  input: {
    customer_id: id,
    direction: z.enum(['inbound', 'outbound']).optional(),
    since: z.iso.datetime({ offset: true }).optional(),
    until: z.iso.datetime({ offset: true }).optional(),
    limit,
    cursor,
  },
  async run(call, { customer_id: customerId, ...rest }) {
    const list = bodyOf<EmailList>(
      await call({ method: 'GET', path: path('api', 'customer', customerId, 'emails'), query: rest }),
    );
    return { emails: list.emails.map(toEmailLine), next_cursor: list.next_cursor };
  },
});

export const READING_TOOLS: readonly Tool[] = [
  searchEmails,
  listThreads,
  readThread,
  readEmail,
  readAttachment,
  listCustomerEmails,
];
