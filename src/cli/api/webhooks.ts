/** `email-worker webhooks`: lists the webhooks and their deliveries, and pauses or resumes a webhook. */
import { path } from '../../api/mcp/api-call.ts';
import { defineCommand, UsageError } from '../command.ts';
import type { Column } from '../table.ts';
import { parseUuid } from '../values.ts';
import { collect, formatMoment, LIMIT_OPTION, printJson, printListing, readLimit } from './format.ts';
import { API_OPTIONS, openApi } from './service-api.ts';

interface WebhookJson {
  readonly id: string;
  readonly url: string;
  readonly state: 'active' | 'paused';
  readonly pause_reason: string | null;
  readonly pause_detail: string | null;
  readonly failing_since: string | null;
}

interface DeliveryJson {
  readonly event_id: string;
  readonly event_type: string;
  readonly attempt: number;
  readonly started_at: string;
  readonly duration_ms: number;
  readonly outcome: 'delivered' | 'failed';
  readonly status: number | null;
  readonly error: string | null;
}

const ACTIONS = ['list', 'deliveries', 'pause', 'resume'] as const;
const OUTCOMES = ['delivered', 'failed'] as const;

const WEBHOOK_COLUMNS: readonly Column<WebhookJson>[] = [
  { title: 'WEBHOOK', value: ({ id }) => id },
  {
    title: 'STATE',
    value: stateOf,
    style: (webhook) => (stateOf(webhook) === 'active' ? 'green' : 'yellow'),
  },
  { title: 'URL', value: ({ url }) => url, shrinks: true },
  {
    title: 'WHY',
    value: ({ pause_detail: why, failing_since: since }) =>
      why ?? (since === null ? null : `since ${formatMoment(since)}`),
    shrinks: true,
  },
];

function stateOf({ state, pause_reason: reason, failing_since: since }: WebhookJson): string {
  if (state === 'paused') return `paused: ${(reason ?? '').replaceAll('_', ' ')}`;
  return since === null ? 'active' : 'failing';
}

const DELIVERY_COLUMNS: readonly Column<DeliveryJson>[] = [
  { title: 'STARTED (UTC)', value: ({ started_at: at }) => formatMoment(at) },
  {
    title: 'OUTCOME',
    value: ({ outcome }) => outcome,
    style: ({ outcome }) => (outcome === 'failed' ? 'red' : null),
  },
  { title: 'EVENT', value: ({ event_id: id }) => id, right: true },
  { title: 'TYPE', value: ({ event_type: type }) => type },
  { title: 'TRY', value: ({ attempt }) => attempt, right: true },
  { title: 'MS', value: ({ duration_ms: ms }) => ms, right: true },
  { title: 'STATUS', value: ({ status }) => status, right: true },
  { title: 'WHY', value: ({ error }) => error, shrinks: true },
];

export const webhooksCommand = defineCommand({
  name: 'webhooks',
  summary: 'Lists webhooks and their deliveries, pauses and resumes webhooks.',
  description:
    '`list`, the default, shows all webhooks. `deliveries` shows the attempts of one, newest first. `pause` holds events back; ' +
    '`resume` continues at the same position, also after the service paused a failing webhook. Needs a running service.',
  arguments: [
    {
      name: 'action',
      meaning: '`list`, `deliveries`, `pause` or `resume`. Default: `list`.',
      required: false,
      repeated: false,
      completes: ACTIONS,
    },
    {
      name: 'id',
      meaning: 'Id of the webhook, for all actions but `list`.',
      required: false,
      repeated: false,
    },
  ],
  options: {
    outcome: {
      type: 'string',
      value: 'outcome',
      completes: OUTCOMES,
      meaning: 'deliveries: only `delivered` or only `failed` attempts.',
    },
    ...LIMIT_OPTION,
    ...API_OPTIONS,
  },
  examples: [
    { line: 'webhooks', meaning: 'Lists all webhooks.' },
    {
      line: 'webhooks deliveries 0199d3a4-5b1e-7c52-9f0e-2f6a1d3b8c47 --outcome failed',
      meaning: 'Lists failed deliveries with their reasons.',
    },
  ],
  async run({ outcome, limit, url, json = false }, [action = 'list', id], context) {
    if (!ACTIONS.some((known) => known === action)) {
      throw new UsageError(`the action must be one of ${ACTIONS.join(', ')}`);
    }
    if (outcome !== undefined && !OUTCOMES.some((known) => known === outcome)) {
      throw new UsageError('--outcome must be delivered or failed');
    }
    const most = readLimit(limit);
    const { output } = context;
    if (action === 'list') {
      if (id !== undefined) throw new UsageError(`unexpected argument ${id}`);
      const api = await openApi(url, context);
      const listing = { path: path('api', 'webhooks'), field: 'webhooks', limit: most };
      const rows = await collect(api.list<WebhookJson>(listing));
      printListing(output, { rows, columns: WEBHOOK_COLUMNS, none: 'there are no webhooks', asJson: json });
      return 'done';
    }
    if (id === undefined) throw new UsageError('the id of the webhook is missing; webhooks list shows it');
    const webhookPath = path('api', 'webhooks', parseUuid('<id>', id), action);
    const api = await openApi(url, context);
    if (action === 'deliveries') {
      const listing = { path: webhookPath, query: { outcome }, field: 'deliveries', limit: most };
      const rows = await collect(api.list<DeliveryJson>(listing));
      printListing(output, { rows, columns: DELIVERY_COLUMNS, none: 'nothing was tried', asJson: json });
      return 'done';
    }
    const webhook = await api.ask<WebhookJson>({ method: 'POST', path: webhookPath });
    if (json) printJson(output, webhook);
    else output.print(`${webhook.id} is ${stateOf(webhook)}`);
    return 'done';
  },
});
