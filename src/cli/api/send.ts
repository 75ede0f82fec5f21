/** `email-worker send`: sends an email, or saves a draft, through the running service. */
import { randomUUID } from 'node:crypto';
import path from 'node:path';
import { path as apiPath } from '../../api/mcp/api-call.ts';
import { defineCommand, UsageError, type CommandContext, type CommandResult } from '../command.ts';
import { parseUuid } from '../values.ts';
import { BoundedInput } from './bounded-input.ts';
import { contentTypeOf } from './content-types.ts';
import { printJson } from './format.ts';
import { API_OPTIONS, ApiError, openApi, type ServiceApi } from './service-api.ts';

/** For the text and all files together, in bytes: they are held in memory. Usually more than MAX_ATTACHMENT_BYTES. */
const MAX_INPUT_BYTES = 100 * 1024 * 1024;

interface SentJson {
  readonly status: 'sent' | 'queued' | 'partial';
  readonly id?: string;
  readonly messageId: string;
  readonly threadId?: string;
  readonly not_accepted?: readonly {
    readonly address: string;
    readonly state: 'rejected' | 'deferred';
    readonly reply: { readonly code: number; readonly text: string } | null;
  }[];
}

interface DraftJson {
  readonly id: string;
}

/** Codes after which the email may have been sent, or may still be sent. */
const UNKNOWN_CODES: ReadonlySet<string> = new Set(['send_unknown', 'idempotency_in_progress']);

export const sendCommand = defineCommand({
  name: 'send',
  summary: 'Sends an email through the running service.',
  description:
    'Without --text and --html, the text is read from standard input. The command prints the ids of the email and its thread ' +
    'when the mail server has accepted it, or with --at when it is queued.\n\n' +
    'An email is sent once: a request without a response is repeated with its idempotency key. If the outcome is still unknown, ' +
    'the command prints the key; the same command with --idempotency-key reports the outcome later and never sends twice. ' +
    'Scripts set their own key, such as the number of an invoice.',
  arguments: [],
  options: {
    to: {
      type: 'string',
      value: 'addresses',
      multiple: true,
      meaning: 'Recipients, such as "Ada <ada@example.com>"; may be given several times.',
    },
    cc: { type: 'string', value: 'addresses', multiple: true, meaning: 'Copies, in the same form.' },
    bcc: { type: 'string', value: 'addresses', multiple: true, meaning: 'Blind copies, in the same form.' },
    subject: { type: 'string', value: 'text', meaning: 'The subject.' },
    text: { type: 'string', value: 'text', meaning: 'The plain text.' },
    html: { type: 'string', value: 'file', completes: 'files', meaning: 'A file with the HTML.' },
    attach: {
      type: 'string',
      value: 'file',
      multiple: true,
      completes: 'files',
      meaning: 'A file to attach; may be given several times.',
    },
    account: { type: 'string', value: 'id', meaning: 'The account that sends. Default: the first one.' },
    thread: { type: 'string', value: 'id', meaning: 'Thread of the email.' },
    at: {
      type: 'string',
      value: 'time',
      meaning: 'When to send it, such as 2027-01-31T12:00:00Z. Default: now.',
    },
    draft: { type: 'boolean', meaning: 'Sends nothing: creates a draft, which a person sends on the page.' },
    'dry-run': { type: 'boolean', meaning: 'Sends nothing: prints as JSON what would be sent.' },
    'idempotency-key': {
      type: 'string',
      value: 'key',
      meaning:
        '1 to 256 visible ASCII characters, the same for each try of the same email. Default: a new one.',
    },
    ...API_OPTIONS,
  },
  examples: [
    {
      line: "send --to ada@example.com --subject 'Your invoice' --text 'Dear Ada, …' --attach invoice.pdf --idempotency-key invoice-4711",
      meaning: 'Sends a text with a file, once, however often it is run.',
    },
    {
      line: 'send --to ops@example.com --subject Backup < backup.log',
      meaning: 'Sends the content of a file.',
    },
  ],
  async run(values, _positionals, context) {
    const { to = [], subject, draft = false, url, json = false } = values;
    const { 'idempotency-key': key, 'dry-run': dryRun = false } = values;
    if (to.length === 0 && !draft) throw new UsageError('--to is missing');
    if (subject === undefined) throw new UsageError('--subject is missing');
    if (key !== undefined && !/^[!-~]{1,256}$/.test(key)) {
      throw new UsageError('--idempotency-key must be 1 to 256 visible ASCII characters');
    }
    if (draft && key !== undefined) throw new UsageError('--idempotency-key is for a send, not for a draft');
    if (dryRun && (draft || key !== undefined))
      throw new UsageError('--dry-run goes with neither --draft nor --idempotency-key');
    const thread = values.thread === undefined ? undefined : parseUuid('--thread', values.thread);
    const input = new BoundedInput(MAX_INPUT_BYTES, 'text and files');
    const html = values.html === undefined ? undefined : (await input.readFile(values.html)).toString('utf8');
    const text = values.text ?? (html === undefined ? await readText(input, context) : undefined);
    const attachments: object[] = [];
    for (const file of values.attach ?? []) {
      attachments.push({
        filename: path.basename(file),
        content: (await input.readFile(file)).toString('base64'),
        content_type: contentTypeOf(file),
      });
    }
    const message = {
      ...listed('to', to),
      ...listed('cc', values.cc),
      ...listed('bcc', values.bcc),
      subject,
      ...given('text_body', text),
      ...given('html_body', html),
      ...given('account_id', values.account),
      ...given('thread_id', thread),
      ...given('send_at', values.at),
    };
    const files = attachments.length === 0 ? {} : { attachments };
    const api = await openApi(url, context);
    if (dryRun) return await check(api, { ...message, ...files }, context);
    if (draft) return await leaveDraft(api, { message, ...files }, context, json);
    return await send(api, { ...message, ...files }, key ?? randomUUID(), context, json);
  },
});

async function send(
  api: ServiceApi,
  body: object,
  idempotencyKey: string,
  { output }: CommandContext,
  asJson: boolean,
): Promise<CommandResult> {
  const request = { method: 'POST', path: apiPath('api', 'send'), body, idempotencyKey } as const;
  const sent = await api.ask<SentJson>(request).catch((error: unknown) => {
    // The operator must not send it again by hand while the key can still find out its outcome.
    const isOpen = error instanceof ApiError && (error.passing || UNKNOWN_CODES.has(error.code ?? ''));
    if (isOpen || !(error instanceof ApiError)) {
      output.note(
        `it is not known whether the email was sent; the same command with --idempotency-key ${idempotencyKey} says what became of it, and never sends it twice`,
      );
    }
    throw error;
  });
  if (asJson) printJson(output, sent);
  else if (sent.status === 'partial')
    output.print(`sent ${sent.messageId}; it is recorded when the database is back`);
  else output.print(`${sent.status} ${sent.id ?? ''} in thread ${sent.threadId ?? ''}`);
  const { not_accepted: notAccepted = [] } = sent;
  for (const { address, state, reply } of notAccepted) {
    const why = reply === null ? '' : `: ${reply.code} ${reply.text}`;
    output.note(
      `${address} ${state === 'rejected' ? 'was refused' : 'was put off, and is tried again'}${why}`,
    );
  }
  return notAccepted.some(({ state }) => state === 'rejected') ? 'failed' : 'done';
}

async function check(api: ServiceApi, body: object, { output }: CommandContext): Promise<CommandResult> {
  const query = { dry_run: true };
  printJson(output, await api.ask<object>({ method: 'POST', path: apiPath('api', 'send'), query, body }));
  return 'done';
}

/** Not repeated: a second request would leave another draft. */
async function leaveDraft(
  api: ServiceApi,
  body: object,
  { output }: CommandContext,
  asJson: boolean,
): Promise<CommandResult> {
  const draft = await api.ask<DraftJson>({ method: 'POST', path: apiPath('api', 'drafts'), body });
  if (asJson) printJson(output, draft);
  else output.print(`draft ${draft.id}`);
  return 'done';
}

const given = (name: string, value: string | undefined): object =>
  value === undefined ? {} : { [name]: value };

const listed = (name: string, values: readonly string[] = []): object =>
  values.length === 0 ? {} : { [name]: values.length === 1 ? values[0] : values };

async function readText(input: BoundedInput, { output }: CommandContext): Promise<string> {
  if (process.stdin.isTTY) output.note('the text, then Ctrl-D:');
  const text = await input.readStandardInput();
  if (text.trim() === '')
    throw new UsageError('there is no text: give --text or --html, or write to standard input');
  return text;
}
