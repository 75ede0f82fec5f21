/** `email-worker thread`: prints the emails of a thread for reading. */
import { shownMailbox } from '../../core/address/shown-mailbox.ts';
import { path } from '../../api/mcp/api-call.ts';
import { defineCommand } from '../command.ts';
import { printable, type Output } from '../output.ts';
import { paint } from '../table.ts';
import { parseUuid } from '../values.ts';
import type { EmailJson } from './email-json.ts';
import { formatBytes, formatMoment, LIMIT_OPTION, printJson, readLimit, type AddressJson } from './format.ts';
import { API_OPTIONS, openApi, type ServiceApi } from './service-api.ts';

interface ThreadEmailJson extends EmailJson {
  readonly cc_addresses: readonly AddressJson[];
  readonly text_body: string;
  readonly reply_text: string | null;
  readonly truncated: boolean;
  readonly email_attachments: readonly { readonly filename: string; readonly size_bytes: number }[];
}

interface ThreadJson {
  readonly id: string;
  readonly account_id: string;
  readonly subject: string;
  readonly email_count: number;
  readonly status: string;
  readonly assignee_name: string | null;
  readonly labels: readonly string[];
}

interface ThreadPageJson {
  readonly thread: ThreadJson;
  readonly emails: readonly ThreadEmailJson[];
  readonly next_cursor: string | null;
}

/** Emails per page. */
const PAGE = 50;
/** The line of dashes between emails. */
const RULE_COLUMNS = 72;

export const threadCommand = defineCommand({
  name: 'thread',
  summary: 'Prints the emails of a thread, oldest first.',
  description:
    'Prints the new text of each email; with `--quotes` also the quoted text. Control characters are printed as \\u001b and the ' +
    'like. Of a long thread, --limit newest emails are printed. Needs a running service.',
  arguments: [
    {
      name: 'id',
      meaning: 'The id of the thread, or of a thread that was merged into it.',
      required: true,
      repeated: false,
    },
  ],
  options: {
    quotes: { type: 'boolean', meaning: 'Also prints quoted text.' },
    ...LIMIT_OPTION,
    ...API_OPTIONS,
    json: {
      type: 'boolean',
      meaning: 'Prints one JSON object: `thread`, and its `emails` as in the API, oldest first.',
    },
  },
  examples: [
    { line: 'thread 0199d3a4-5b1e-7c52-9f0e-2f6a1d3b8c47 | less', meaning: 'Shows a thread page by page.' },
  ],
  async run({ quotes = false, limit, url, json = false }, [id = ''], context) {
    const most = readLimit(limit);
    const threadId = parseUuid('<id>', id);
    const { thread, emails, isWhole } = await readThread(await openApi(url, context), threadId, most);
    const { output } = context;
    if (json) {
      printJson(output, { thread, emails });
      return 'done';
    }
    for (const line of headOf(thread)) output.print(line);
    if (!isWhole)
      output.note(`only the newest ${emails.length} of ${thread.email_count} emails; see --limit`);
    for (const email of emails) printEmail(output, email, quotes);
    return 'done';
  },
});

/** The newest emails, the oldest of them first. */
async function readThread(api: ServiceApi, threadId: string, limit: number) {
  const newest: ThreadEmailJson[] = [];
  let cursor: string | undefined;
  for (;;) {
    const page = await api.ask<ThreadPageJson>({
      method: 'GET',
      path: path('api', 'threads', threadId),
      query: { limit: Math.min(PAGE, limit - newest.length), cursor },
    });
    newest.push(...page.emails);
    cursor = page.next_cursor ?? undefined;
    if (cursor === undefined || newest.length >= limit) {
      return { thread: page.thread, emails: newest.reverse(), isWhole: cursor === undefined };
    }
  }
}

function headOf({
  id,
  subject,
  account_id: account,
  status,
  assignee_name: assignee,
  labels,
  email_count: count,
}: ThreadJson) {
  const facts = [
    `${count} ${count === 1 ? 'email' : 'emails'}`,
    status,
    `account ${account}`,
    ...(assignee === null ? [] : [`with ${assignee}`]),
    ...labels,
  ];
  return [subject, facts.join(', '), `thread ${id}`].map(printable);
}

function printEmail(output: Output, email: ThreadEmailJson, withQuotes: boolean): void {
  const { direction, state, from_address: from, to_addresses: to, cc_addresses: cc } = email;
  const width = Math.min(output.columns ?? RULE_COLUMNS, RULE_COLUMNS);
  output.print(paint(output, 'dim', '-'.repeat(width)));
  const what = direction === 'inbound' ? 'received' : state;
  output.print(printable(`${formatMoment(email.date)} UTC  ${what}  ${email.id}`));
  output.print(paint(output, 'bold', printable(`From: ${shownMailbox(from)}`)));
  output.print(printable(`To: ${to.map(shownMailbox).join(', ')}`));
  if (cc.length > 0) output.print(printable(`Cc: ${cc.map(shownMailbox).join(', ')}`));
  for (const { filename, size_bytes: size } of email.email_attachments) {
    output.print(printable(`File: ${filename} (${formatBytes(size)})`));
  }
  output.print('');
  const text = withQuotes ? email.text_body : (email.reply_text ?? email.text_body);
  for (const line of text.trimEnd().split(/\r\n|[\r\n]/))
    output.print(printable(line.replaceAll('\t', '    ')));
  if (email.truncated) output.print(paint(output, 'dim', `… longer; all of it: GET /api/emails/${email.id}`));
}
