/** `EventFeed` on PostgreSQL; the schema defines how events are written and numbered: db/migrations/0001_schema/events.ts. */
import type { Pool } from 'pg';
import { accountIdsOf } from '../../platform/base/account-filter.ts';
import type { EventFeed, EventPage } from './event-ports.ts';
import { eventsExpired } from '../../core/event/event-id.ts';
import { run, statement, type RowOf } from '../../platform/db/statement.ts';

/** Events that one statement looks at: a rare type must not make it read a month. */
const MAX_EXAMINED = 10_000;

export function createEventFeed(pool: Pool): EventFeed {
  return {
    async read(after, filter, limit) {
      const { types, customerId, isHistorical } = filter;
      const accountIds = accountIdsOf(filter);
      const isFiltered = [types, accountIds, customerId, isHistorical].some((wanted) => wanted !== null);
      const examine = isFiltered ? MAX_EXAMINED : limit;
      const rows = await run(pool, READ, {
        after,
        types: types === null ? null : [...types],
        accountIds,
        customerId,
        isHistorical,
        limit,
        examine,
      });
      const [first] = rows;
      if (first === undefined) throw new Error('the clock of events has no row');
      const oldest = Number(first.forgotten);
      // The start is not a position that a reader got: reading from there means everything that is kept.
      if (after > 0 && after < oldest) throw eventsExpired(oldest);
      // The reader has seen events that a restore has undone.
      if (first.lost_to !== null) throw eventsExpired(Number(first.lost_to));
      return toPage(after, first, rows, { limit, examine });
    },

    async readLatest() {
      const [row] = await run(pool, READ_LATEST);
      return Number(row?.position ?? 0);
    },

    async number(atMost) {
      const [row] = await run(pool, NUMBER, { atMost });
      return row?.moved ?? 0;
    },

    async keep(days) {
      const [row] = await run(pool, KEEP, { days });
      return row?.days ?? null;
    },
  };
}

function toPage(
  after: number,
  { last, examined, examined_to: to }: RowOf<typeof READ>,
  rows: readonly RowOf<typeof READ>[],
  { limit, examine }: { readonly limit: number; readonly examine: number },
): EventPage {
  const events = rows.flatMap(({ position, type, json }) =>
    position === null || type === null || json === null ? [] : [{ position: Number(position), type, json }],
  );
  if (events.length === limit) {
    return { events, next: events.at(-1)?.position ?? after, isLast: false };
  }
  const isWhole = Number(examined) < examine;
  return { events, next: Math.max(after, Number(isWhole ? last : to)), isLast: isWhole };
}

/** As `Date.toISOString`. */
const TIME = `to_char(occurred_at at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"')`;
const orNull = (column: string) => `coalesce(to_json(${column})::text, 'null')`;

const JSON_OF_EVENT = `concat('{"id":"', lpad(to_hex(position), 16, '0'), '","type":"', type, '","occurred_at":"', ${TIME},
      '","account_id":', ${orNull('account_id')}, ',"email_id":', ${orNull('email_id')},
      ',"thread_id":', ${orNull('thread_id')}, ',"customer_id":', ${orNull('customer_id')},
      ',"company_id":', ${orNull('company_id')}, ',"historical":', is_historical::text, ',"author":', coalesce(author, 'null'),
      ',"data":', data, '}')`;

const READ = statement(
  'read-events',
  `with examined as (
    select * from events where position > $after order by position limit $examine
  ), matching as (
    select position, type, ${JSON_OF_EVENT} as json from examined
    where ($types::text[] is null or type = any ($types)) and ($accountIds::text[] is null or account_id = any ($accountIds))
      and ($customerId::uuid is null or customer_id = $customerId)
      and ($isHistorical::boolean is null or is_historical = $isHistorical)
    order by position limit $limit
  ), size as (
    select count(*) as examined, max(position) as examined_to from examined
  )
  select c.position as last, c.forgotten,
    case when not isempty(c.lost) then (select upper(r) from unnest(c.lost) r where $after <@ r) end as lost_to, s.examined, s.examined_to, m.position, m.type, m.json
  from event_clock c cross join size s left join matching m on true
  order by m.position`,
);

const READ_LATEST = statement('latest-event', 'select position from event_clock');

const NUMBER = statement('number-events', 'select number_events($atMost) as moved');

const KEEP = statement('keep-events', 'select keep_events($days) as days');
