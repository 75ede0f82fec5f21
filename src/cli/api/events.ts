/** `email-worker events`: prints events as they happen, as JSON lines. */
import { path } from '../../api/mcp/api-call.ts';
import { parseEventId } from '../../core/event/event-id.ts';
import { EVENT_TYPES } from '../../core/event/event-types.ts';
import { defineCommand, UsageError } from '../command.ts';
import { printJson } from './format.ts';
import { API_OPTIONS, openApi } from './service-api.ts';

interface EventJson {
  readonly id: string;
}

interface EventsJson {
  readonly events: readonly EventJson[];
  readonly next: string;
}

const PAGE = 500;
/** How long one request waits for the next event, in s: proxies cut a connection that is silent for more than a minute. */
const WAIT_S = 25;

export const eventsCommand = defineCommand({
  name: 'events',
  summary: 'Prints events, each as one line of JSON.',
  description:
    'Without options, prints all stored events, oldest first. `--follow` continues with new events until Ctrl-C; without ' +
    '`--after` it starts with the next one. Pass the `id` of the last processed event as `--after` of the next run, so that no ' +
    'event is missed or repeated. The command survives a restart of the service.',
  arguments: [],
  options: {
    follow: { type: 'boolean', meaning: 'Waits for new events.' },
    after: {
      type: 'string',
      value: 'id',
      meaning: 'Only events after this one; 0000000000000000: from the first stored event.',
    },
    type: {
      type: 'string',
      value: 'type',
      completes: EVENT_TYPES,
      multiple: true,
      meaning: 'Only of this type, such as `email.received`; may be given several times.',
    },
    account: { type: 'string', value: 'id', multiple: true, meaning: 'Only of this account.' },
    url: API_OPTIONS.url,
  },
  examples: [
    { line: 'events --follow --type email.received', meaning: 'Prints each email as it arrives.' },
    {
      line: 'events --follow --after 000512c000000006 >> events.jsonl',
      meaning: 'Continues after an event.',
    },
  ],
  async run({ follow = false, after, type, account, url }, _positionals, context) {
    if (after !== undefined && parseEventId(after) === null) {
      throw new UsageError('--after must be the id of an event, such as 000512c000000006');
    }
    const { output, signal } = context;
    const api = await openApi(url, context);
    let position = after;
    if (follow && position === undefined) {
      const latest = await api.ask<EventJson>({ method: 'GET', path: path('api', 'events', 'latest') });
      position = latest.id;
    }
    try {
      for (;;) {
        const page = await api.ask<EventsJson>({
          method: 'GET',
          path: path('api', 'events'),
          query: {
            after: position,
            type,
            account_id: account,
            limit: PAGE,
            ...(follow ? { wait: WAIT_S } : {}),
          },
        });
        for (const event of page.events) {
          printJson(output, event);
          position = event.id;
          // The next run prints the events that were not printed yet.
          if (signal.aborted) break;
        }
        if (!signal.aborted) position = page.next;
        if (signal.aborted || (!follow && page.events.length === 0)) return 'done';
      }
    } finally {
      if (signal.aborted && position !== undefined) output.note(`go on with --after ${position}`);
    }
  },
});
