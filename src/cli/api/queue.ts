/** `email-worker queue`: lists the emails that are to be sent and their outcomes, and takes an operator's decisions about them. */
import { shownMailbox } from '../../core/address/shown-mailbox.ts';
import { path } from '../../api/mcp/api-call.ts';
import { defineCommand, UsageError, type CommandResult } from '../command.ts';
import { parseUuid } from '../values.ts';
import type { Output } from '../output.ts';
import type { Column, Style } from '../table.ts';
import type { EmailJson } from './email-json.ts';
import { collect, formatUntil, LIMIT_OPTION, printJson, printListing, readLimit } from './format.ts';
import { API_OPTIONS, openApi, type ServiceApi } from './service-api.ts';

/** The states of the emails that an action lists, one after the other. */
const LISTED: Readonly<Record<string, readonly string[]>> = {
  list: ['sending', 'deferred', 'queued'],
  unknown: ['unknown'],
  failed: ['failed'],
};
const ACTIONS = ['list', 'unknown', 'failed', 'retry', 'cancel', 'resolve'] as const;
const OUTCOMES = ['sent', 'failed'] as const;

const STYLES: Readonly<Record<string, Style>> = { unknown: 'red', failed: 'red', deferred: 'yellow' };

const COLUMNS: readonly Column<EmailJson>[] = [
  { title: 'STATE', value: ({ state }) => state, style: ({ state }) => STYLES[state] ?? null },
  { title: 'EMAIL', value: ({ id }) => id },
  { title: 'NEXT', value: ({ next_attempt_at: at }) => (at === null ? null : formatUntil(at)), right: true },
  { title: 'TO', value: ({ to_addresses: to }) => to.map(shownMailbox).join(', '), shrinks: true },
  { title: 'SUBJECT', value: ({ subject }) => subject, shrinks: true, spare: true },
  { title: 'WHY', value: ({ state_detail: why }) => why, shrinks: true },
  { title: 'ACCOUNT', value: ({ account_id: account }) => account, shrinks: true, spare: true },
];

export const queueCommand = defineCommand({
  name: 'queue',
  summary: 'Lists queued sends, and retries, cancels or resolves them.',
  description:
    '`list`, the default, shows sends in progress, retries and waiting sends. `unknown` shows emails whose connection broke ' +
    'after the hand-over: the service does not send them again, because recipients may have them. Check the log of the mail ' +
    'server, then `resolve` them as `sent` or `failed`, or `retry` them, which sends a second copy if the first one arrived. ' +
    '`failed` shows sends that were given up.\n\n' +
    '`retry` sends a failed, cancelled or unknown email again, or a deferred one now; `cancel` removes a waiting one from the ' +
    'queue. Needs a running service.',
  arguments: [
    {
      name: 'action',
      meaning: '`list`, `unknown`, `failed`, `retry`, `cancel` or `resolve`. Default: `list`.',
      required: false,
      repeated: false,
      completes: ACTIONS,
    },
    { name: 'id', meaning: 'Id of the email to retry, cancel or resolve.', required: false, repeated: false },
  ],
  options: {
    outcome: {
      type: 'string',
      value: 'outcome',
      completes: OUTCOMES,
      meaning: 'resolve: the outcome, `sent` or `failed`.',
    },
    account: { type: 'string', value: 'id', multiple: true, meaning: 'Only of this account.' },
    ...LIMIT_OPTION,
    ...API_OPTIONS,
  },
  examples: [
    { line: 'queue', meaning: 'Lists queued sends.' },
    { line: 'queue unknown', meaning: 'Lists sends that need a decision.' },
    {
      line: 'queue resolve 0199d3a4-5b1e-7c52-9f0e-2f6a1d3b8c47 --outcome sent',
      meaning: 'Records that the mail server has sent it.',
    },
  ],
  async run({ outcome, account, limit, url, json = false }, [action = 'list', id], context) {
    const states = LISTED[action];
    if (states !== undefined) {
      if (id !== undefined) throw new UsageError(`unexpected argument ${id}`);
      const most = readLimit(limit);
      const api = await openApi(url, context);
      const rows = await listStates(api, states, account, most);
      printListing(context.output, {
        rows,
        columns: COLUMNS,
        none: action === 'list' ? 'nothing waits to be sent' : `no email is ${action}`,
        asJson: json,
      });
      if (action === 'list' && (await listStates(api, ['unknown'], account, 1)).length > 0) {
        context.output.note('of some emails it is unknown whether they were sent: queue unknown lists them');
      }
      return 'done';
    }
    if (!ACTIONS.some((known) => known === action)) {
      throw new UsageError(`the action must be one of ${ACTIONS.join(', ')}`);
    }
    if (id === undefined) throw new UsageError('the id of the email is missing; queue list shows it');
    const emailId = parseUuid('<id>', id);
    const body = action === 'resolve' ? { outcome: readOutcome(outcome) } : undefined;
    const api = await openApi(url, context);
    const request = { method: 'POST', path: path('api', 'emails', emailId, action) } as const;
    const state = await api.ask<EmailState>(body === undefined ? request : { ...request, body });
    return tell(context.output, state, json);
  },
});

interface EmailState {
  readonly id: string;
  readonly state: string;
}

async function listStates(
  api: ServiceApi,
  states: readonly string[],
  account: readonly string[] | undefined,
  limit: number,
): Promise<readonly EmailJson[]> {
  const rows: EmailJson[] = [];
  for (const state of states) {
    if (rows.length === limit) break;
    const listing = {
      path: path('api', 'emails'),
      query: { state, account_id: account },
      field: 'emails',
      limit: limit - rows.length,
    };
    rows.push(...(await collect(api.list<EmailJson>(listing))));
  }
  return rows;
}

function readOutcome(outcome: string | undefined): string {
  if (!OUTCOMES.some((known) => known === outcome)) {
    throw new UsageError('resolve needs --outcome sent or --outcome failed');
  }
  return outcome ?? '';
}

function tell(output: Output, state: EmailState, asJson: boolean): CommandResult {
  if (asJson) printJson(output, state);
  else output.print(`${state.id} is ${state.state}`);
  return 'done';
}
