/** `email-worker search`: finds emails. */
import { path } from '../../adapters/mcp/api-call.ts';
import { defineCommand } from '../command.ts';
import type { Column } from '../table.ts';
import { EMAIL_STATES } from '../../core/delivery/states.ts';
import type { EmailJson } from './email-json.ts';
import { collect, formatAddress, formatMoment, LIMIT_OPTION, printListing, readLimit } from './format.ts';
import { API_OPTIONS, openApi } from './service-api.ts';

const COLUMNS: readonly Column<EmailJson>[] = [
  { title: 'DATE (UTC)', value: ({ date }) => formatMoment(date) },
  {
    title: 'WITH',
    value: ({ direction, from_address: from, to_addresses: to }) =>
      direction === 'inbound' ? formatAddress(from) : `to ${to.map(formatAddress).join(', ')}`,
    shrinks: true,
  },
  { title: 'SUBJECT', value: ({ subject }) => subject, shrinks: true },
  { title: 'THREAD', value: ({ thread_id: threadId }) => threadId },
];

export const searchCommand = defineCommand({
  name: 'search',
  summary: 'Finds emails that have all the words, the newest first.',
  description:
    'Words are found in subjects, texts, names, addresses and names of files, "several words" as they stand, and a word with - before it is left out, as in the ' +
    'search of the page. Without a word, the newest emails are listed. It asks the running service.',
  arguments: [{ name: 'word', meaning: 'What to look for.', required: false, repeated: true }],
  options: {
    from: { type: 'string', value: 'text', meaning: 'Only from such an address or name.' },
    to: { type: 'string', value: 'text', meaning: 'Only to such an address or name.' },
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
    { line: 'search invoice 4711', meaning: 'Finds emails with both words.' },
    {
      line: 'search --from ada@example.com --json | jq -r .subject',
      meaning: 'Prints the subjects of what one person wrote.',
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
