/** `email-worker accounts`: lists the accounts, and how far their mailboxes have been read; changes those that the API manages. */
import { formatSeconds } from '../../core/durations.ts';
import { shownMailbox } from '../../core/address/shown-mailbox.ts';
import { path, type ApiRequest } from '../../api/mcp/api-call.ts';
import { createAccountStore } from '../../areas/accounts/account-store.ts';
import { stopRemoval } from '../../areas/capture/removal-store.ts';
import { isAccountBeingErased, requestAccountErasure } from '../../areas/erase/erasure-store.ts';
import { forgetMailboxes, followRules } from '../../areas/mailboxes/mailbox-records.ts';
import { rotateSecrets } from '../../service/account-sealer.ts';
import { defineCommand, UsageError, type CommandResult } from '../command.ts';
import { printable, type Output } from '../output.ts';
import type { Column } from '../table.ts';
import {
  CAPTURE_ACTIONS,
  checkCaptureOptions,
  isCaptureAction,
  runCaptureAction,
  type CaptureOptions,
} from './account-capture.ts';
import { BoundedInput } from './bounded-input.ts';
import { formatCount, printJson, printListing, type AddressJson } from './format.ts';
import { API_OPTIONS, openApi } from './service-api.ts';

interface FailureJson {
  readonly reason: string;
}

interface MailboxJson {
  readonly lag_seconds: number | null;
  readonly last_error: FailureJson | null;
  readonly left_at: string | null;
  readonly counts: { readonly remaining: number; readonly quarantined: number };
}

interface AccountJson {
  readonly id: string;
  readonly state: 'active' | 'paused' | 'unavailable' | 'removed';
  readonly from_address: AddressJson | null;
  readonly has_mailbox: boolean;
  readonly warning: string | null;
  readonly last_error: FailureJson | null;
  readonly mailboxes: readonly MailboxJson[];
  readonly sent_copies: { readonly failed: number; readonly last_error: FailureJson | null };
}

const read = ({ mailboxes }: AccountJson) => mailboxes.filter(({ left_at: leftAt }) => leftAt === null);
const sum = (mailboxes: readonly MailboxJson[], of: keyof MailboxJson['counts']) =>
  mailboxes.length === 0 ? null : mailboxes.reduce((total, { counts }) => total + counts[of], 0);

/** The age of the last read of the mailbox that lags most. */
function lagOf(account: AccountJson): string | null {
  const lags = read(account).flatMap(({ lag_seconds: lag }) => (lag === null ? [] : [lag]));
  return lags.length === 0 ? null : formatSeconds(Math.max(...lags));
}

function whatIsWrong(account: AccountJson): string | null {
  const { last_error: error, warning, sent_copies: copies } = account;
  const ofMailbox = read(account).find((mailbox) => mailbox.last_error !== null)?.last_error;
  return (
    (account.state === 'paused' ? 'paused' : null) ??
    error?.reason ??
    ofMailbox?.reason ??
    warning ??
    (copies.failed > 0
      ? `copies of sent mail that failed: ${copies.failed}; ${copies.last_error?.reason ?? ''}`
      : null)
  );
}

const COLUMNS: readonly Column<AccountJson>[] = [
  { title: 'ACCOUNT', value: ({ id }) => id },
  {
    title: 'ADDRESS',
    value: ({ from_address: from }) => (from === null ? 'not configured' : shownMailbox(from)),
    shrinks: true,
  },
  {
    title: 'MAILBOXES',
    value: (account) => (account.has_mailbox ? read(account).length : null),
    right: true,
  },
  { title: 'READ', value: (account) => lagOf(account), right: true },
  { title: 'TO READ', value: (account) => sum(read(account), 'remaining'), right: true },
  {
    title: 'SET ASIDE',
    value: (account) => sum(read(account), 'quarantined'),
    right: true,
    style: (account) => ((sum(read(account), 'quarantined') ?? 0) > 0 ? 'yellow' : null),
  },
  {
    title: 'WHAT IS WRONG',
    value: whatIsWrong,
    shrinks: true,
    style: (account) => (whatIsWrong(account) === null ? 'dim' : 'red'),
  },
];

interface CandidateJson {
  readonly source: string;
  readonly name: string | null;
  readonly log_in: string;
  readonly smtp_url: string | null;
  readonly imap_url: string | null;
  readonly note: string | null;
}

interface FoundJson {
  readonly candidates: readonly CandidateJson[];
}

const FOUND: readonly Column<CandidateJson>[] = [
  { title: 'SOURCE', value: ({ source }) => source },
  { title: 'PROVIDER', value: ({ name }) => name },
  { title: 'LOG-IN', value: ({ log_in: logIn }) => logIn.replace('_', ' ') },
  { title: 'IMAP_URL', value: ({ imap_url: url }) => url },
  { title: 'SMTP_URL', value: ({ smtp_url: url }) => url },
  { title: 'NOTE', value: ({ note }) => note, shrinks: true },
];

interface CheckJson {
  readonly ok: boolean;
  readonly folders: readonly { readonly path: string; readonly special_use: string | null }[];
  readonly findings: readonly {
    readonly step: string;
    readonly grade: string;
    readonly text: string;
    readonly advice: string | null;
  }[];
}

/** The actions whose argument is a file. */
const TAKES_FILE: ReadonlySet<string> = new Set(['check', 'add']);
const ACTIONS = [
  'list',
  'find',
  'check',
  'add',
  'consent',
  'pause',
  'resume',
  'resync',
  'remove',
  ...CAPTURE_ACTIONS,
  'rotate-secrets',
] as const;
/** Far more than an account with its keys has. */
const MAX_INPUT_BYTES = 1024 * 1024;

export const accountsCommand = defineCommand({
  name: 'accounts',
  summary: 'Lists accounts and the progress of their mailboxes; adds, pauses, resumes and removes accounts.',
  description:
    '`list`, the default: READ is the time since the least recently read mailbox was read, TO READ the number of messages still ' +
    'to be recorded, SET ASIDE the number of quarantined messages. `add` takes the fields of ACCOUNTS_FILE as a JSON object; ' +
    '`${NAME}` is not replaced. `find` looks for the servers of the mailbox with an address; `check` tries the servers of such an object, and keeps nothing. `consent` prints a link for the ' +
    'owner of a mailbox, who allows the access at the provider; it is good for one day and one use. `preview` judges all recorded mail of an account by its rules (`capture`), or by those in a file, and shows what they would leave out; ' +
    '`apply` removes for good what the own rules of the account leave out, `removal` shows its progress, `stop-removal` ends it. Accounts of the configuration are only listed, and previewed. All of these need a running service.\n\n' +
    '`rotate-secrets` seals the secrets of accounts with the first key of SECRETS_KEY, or with a new one in the data folder. With ' +
    'SECRETS_KEY, restart all processes with the new and the old key first, and without the old one afterwards.',
  arguments: [
    {
      name: 'action',
      meaning:
        '`list`, `find`, `check`, `add`, `consent`, `pause`, `resume`, `resync`, `remove`, `preview`, `apply`, `removal`, `stop-removal` or `rotate-secrets`. Default: `list`.',
      required: false,
      repeated: false,
      completes: ACTIONS,
    },
    {
      name: 'id',
      meaning:
        'Id of the account; for `find` an address; for `check` and `add` a JSON file, by default standard input.',
      required: false,
      repeated: false,
      completes: 'files',
    },
  ],
  options: {
    ...API_OPTIONS,
    erase: {
      type: 'boolean',
      meaning: 'remove: erases all mail of the account, too; the JSON of --json has the erasure.',
    },
    'send-message': {
      type: 'boolean',
      meaning: 'check: sends a message from the account to itself, and waits until it is in INBOX.',
    },
    rules: {
      type: 'string',
      value: 'file',
      completes: 'files',
      meaning: 'preview: judges by the rules in this JSON file. Default: those of the account.',
    },
    emails: {
      type: 'string',
      value: 'number',
      meaning: 'apply: confirms that this number of emails is removed, as preview shows it.',
    },
    version: {
      type: 'string',
      value: 'number',
      meaning: 'apply: the version of the account whose rules were previewed, as preview shows it.',
    },
    'dry-run': { type: 'boolean', meaning: 'apply: only checks the number, and removes nothing.' },
  },
  examples: [
    { line: 'accounts preview sales', meaning: 'Counts what the rules of an account leave out of its mail.' },
    { line: 'accounts apply sales --version 3 --emails 120', meaning: 'Removes these emails.' },
    { line: 'accounts', meaning: 'Lists all accounts.' },
    { line: 'accounts find ann@example.com', meaning: 'Prints the servers of a mailbox.' },
    { line: 'accounts add sales.json', meaning: 'Creates an account from a file.' },
    {
      line: "accounts --json | jq 'select(.last_error != null) | .id'",
      meaning: 'Prints the ids of failing accounts.',
    },
  ],
  async run(
    {
      url,
      json = false,
      'send-message': sendsMessage = false,
      erase = false,
      rules,
      emails,
      version,
      'dry-run': dryRun = false,
    },
    [action = 'list', id],
    context,
  ) {
    const { output } = context;
    if (!ACTIONS.some((known) => known === action))
      throw new UsageError(`the action must be one of ${ACTIONS.join(', ')}`);
    if (action === 'list' || action === 'rotate-secrets') {
      if (id !== undefined) throw new UsageError(`unexpected argument ${id}`);
    } else if (!TAKES_FILE.has(action) && id === undefined)
      throw new UsageError(
        action === 'find'
          ? 'the address of the mailbox is missing'
          : 'the id of the account is missing; accounts list shows it',
      );
    if (action === 'rotate-secrets') {
      const { pool } = await context.open();
      const accounts = await rotateSecrets(
        context.config,
        createAccountStore(pool, {
          forgetMailboxes,
          followRules,
          stopRemoval,
          isBeingErased: isAccountBeingErased,
          requestErasure: requestAccountErasure,
        }),
      );
      output.print(
        `${formatCount(accounts, 'account')} ${accounts === 1 ? 'is' : 'are'} sealed with the new key`,
      );
      return 'done';
    }
    if (erase && action !== 'remove') throw new UsageError('--erase belongs to remove');
    if (sendsMessage && action !== 'check') throw new UsageError('--send-message belongs to check');
    const ofRules: CaptureOptions = { rules, emails, version, dryRun, json };
    checkCaptureOptions(action, ofRules);
    const account = TAKES_FILE.has(action) ? await readAccount(id) : undefined;
    const api = await openApi(url, context);
    if (isCaptureAction(action) && id !== undefined)
      return await runCaptureAction(api, output, { action, id, options: ofRules });
    if (action === 'list') {
      const { accounts } = await api.ask<{ readonly accounts: readonly AccountJson[] }>({
        method: 'GET',
        path: path('api', 'accounts'),
      });
      printListing(output, { rows: accounts, columns: COLUMNS, none: 'there are no accounts', asJson: json });
      return 'done';
    }
    if (action === 'find') {
      const found = await api.ask<FoundJson>({
        method: 'GET',
        path: `${path('api', 'accounts', 'settings')}?${new URLSearchParams({ address: id ?? '' }).toString()}`,
      });
      printListing(output, {
        rows: found.candidates,
        columns: FOUND,
        none: 'no servers were found',
        asJson: json,
      });
      return found.candidates.length > 0 ? 'done' : 'failed';
    }
    if (action === 'check')
      return printCheck(output, await api.ask<CheckJson>(requestOf(action, '', account, sendsMessage)), json);
    if (action === 'consent') {
      const consent = await api.ask<{ readonly url: string }>(requestOf(action, id ?? '', undefined));
      if (json) printJson(output, consent);
      else output.print(printable(consent.url));
      return 'done';
    }
    const request = requestOf(action, id ?? '', account);
    const changed = await api.ask<Pick<AccountJson, 'id'>>(
      erase ? { ...request, path: `${request.path}?erase=true` } : request,
    );
    if (json) printJson(output, changed);
    else if (erase) output.print(`${changed.id} is deleted; its mail is being erased`);
    else output.print(`${changed.id} is ${DONE[action] ?? action}`);
    return 'done';
  },
});

/** What worked, and what did not, with advice. */
function printCheck(output: Output, check: CheckJson, asJson: boolean): CommandResult {
  if (asJson) printJson(output, check);
  else {
    for (const { grade, text, advice } of check.findings)
      output.print(printable(`${grade}: ${text}${advice === null ? '' : `. ${advice}`}`));
    for (const { path: folder, special_use: use } of check.folders)
      output.print(printable(`folder: ${folder}${use === null ? '' : ` (${use})`}`));
  }
  return check.ok ? 'done' : 'failed';
}

/** Action → what became of the account. */
const DONE: Readonly<Record<string, string>> = {
  add: 'created',
  pause: 'paused',
  resume: 'active',
  resync: 'compared with its mailboxes again',
  remove: 'deleted; its mail stays',
};

function requestOf(action: string, id: string, body: object | undefined, sendsMessage = false): ApiRequest {
  if (body !== undefined) {
    const place = action === 'check' ? path('api', 'accounts', 'check') : path('api', 'accounts');
    return { method: 'POST', path: sendsMessage ? `${place}?send_message=true` : place, body };
  }
  if (action === 'remove') return { method: 'DELETE', path: path('api', 'accounts', id) };
  return { method: 'POST', path: path('api', 'accounts', id, action) };
}

/** Throws UsageError, which never quotes the text: it has passwords. */
async function readAccount(file: string | undefined): Promise<object> {
  const input = new BoundedInput(MAX_INPUT_BYTES, 'an account');
  const text =
    file === undefined ? await input.readStandardInput() : (await input.readFile(file)).toString('utf8');
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    throw new UsageError('the account is not JSON');
  }
  if (typeof value !== 'object' || value === null || Array.isArray(value))
    throw new UsageError('the account must be one JSON object');
  return value;
}
