/** `email-worker accounts`: lists the accounts, and how far their mailboxes have been read. */
import { shownMailbox } from '../../core/address/shown-mailbox.ts';
import { path } from '../../adapters/mcp/api-call.ts';
import { defineCommand } from '../command.ts';
import type { Column } from '../table.ts';
import { formatSeconds, printListing, type AddressJson } from './format.ts';
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

export const accountsCommand = defineCommand({
  name: 'accounts',
  summary: 'Lists accounts and the progress of their mailboxes.',
  description:
    'READ is the time since the least recently read mailbox was read, TO READ the number of messages still to be recorded, SET ' +
    'ASIDE the number of quarantined messages. Needs a running service.',
  arguments: [],
  options: API_OPTIONS,
  examples: [
    { line: 'accounts', meaning: 'Lists all accounts.' },
    {
      line: "accounts --json | jq 'select(.last_error != null) | .id'",
      meaning: 'Prints the ids of failing accounts.',
    },
  ],
  async run({ url, json = false }, _positionals, context) {
    const api = await openApi(url, context);
    const { accounts } = await api.ask<{ readonly accounts: readonly AccountJson[] }>({
      method: 'GET',
      path: path('api', 'accounts'),
    });
    printListing(context.output, {
      rows: accounts,
      columns: COLUMNS,
      none: 'there are no accounts',
      asJson: json,
    });
    return 'done';
  },
});
