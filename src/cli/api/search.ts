/** `email-worker search`: finds emails. */
import { shownMailbox } from '../../core/address/shown-mailbox.ts';
import { path } from '../../api/mcp/api-call.ts';
import { defineCommand } from '../command.ts';
import type { Column } from '../table.ts';
import { EMAIL_STATES } from '../../core/delivery/states.ts';
import type { EmailJson } from './email-json.ts';
import { collect, formatMoment, LIMIT_OPTION, printListing, readLimit } from './format.ts';
import { API_OPTIONS, openApi } from './service-api.ts';

const COLUMNS: readonly Column<EmailJson>[] = [
  { title: 'DATE (UTC)', value: ({ date }) => formatMoment(date) },
  {
    title: 'WITH',
    value: ({ direction, from_address: from, to_addresses: to }) =>
      direction === 'inbound' ? shownMailbox(from) : `to ${to.map(shownMailbox).join(', ')}`,
    shrinks: true,
  },
  { title: 'SUBJECT', value: ({ subject }) => subject, shrinks: true },
  { title: 'THREAD', value: ({ thread_id: threadId }) => threadId },
];

export const searchCommand = defineCommand({
  name: 'search',
  summary: 'Lists emails that contain all words, newest first.',
  description:
    'Searches subjects, texts, names, addresses and file names. "several words" are a phrase, and a minus excludes a word, as ' +
    'on the page. Without words, the newest emails are listed. Needs a running service.',
  arguments: [{ name: 'word', meaning: 'Words to search for.', required: false, repeated: true }],
  options: {
    from: { type: 'string', value: 'text', meaning: 'Only emails from this address or name.' },
    to: { type: 'string', value: 'text', meaning: 'Only emails to this address or name.' },
    account: { type: 'string', value: 'id', multiple: true, meaning: 'Only of this account.' },
    state: {
      type: 'string',
      value: 'state',
      completes: EMAIL_STATES,
      meaning: `Only in this state: ${EMAIL_STATES.join(', ')}.`,
    },
    ...LIMIT_OPTION,
    ...API_OPTIONS,
  },
  examples: [
    { line: 'search invoice 4711', meaning: 'Lists emails with both words.' },
    {
      line: 'search --from ada@example.com --json | jq -r .subject',
      meaning: 'Prints the subjects of one sender.',
    },
  ],
  async run({ from, to, account, state, limit, url, json = false }, words, context) {
    const most = readLimit(limit);
    const api = await openApi(url, context);
    const q = words.length === 0 ? undefined : words.join(' ');
    const query = { q, from, to, account_id: account, state };
    const rows = await collect(
      api.list<EmailJson>({ path: path('api', 'emails'), query, field: 'emails', limit: most }),
    );
    printListing(context.output, { rows, columns: COLUMNS, none: 'no email matches', asJson: json });
    return 'done';
  },
});
