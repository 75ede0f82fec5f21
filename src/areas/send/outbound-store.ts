/** `OutboundStore` on PostgreSQL. */
import type { Pool } from 'pg';
import type { OutboundStore } from './outbound-ports.ts';
import { normaliseMessageId } from '../../core/message/message-id.ts';
import type { Parent, PlacementFacts } from '../../core/thread/place-outbound.ts';
import { pointOf } from '../../core/thread/meeting-points.ts';
import { columnsOf, jsonObjects, type JsonOf } from '../../platform/db/json.ts';
import { run, statement } from '../../platform/db/statement.ts';
import { LISTED } from '../emails/listed.ts';
import { toMessageId } from '../emails/message-id-column.ts';
import { threadIdOf } from '../emails/thread-rows.ts';
import { isKnownAs } from '../threads/message-ids.ts';
import { readNewer } from './newer-emails.ts';
import { createOutboundRecorder } from './record-outbound.ts';

export function createOutboundStore(pool: Pool): OutboundStore {
  return {
    recordOutbound: createOutboundRecorder(pool),
    readNewer: (threadId, emailId) => readNewer(pool, threadId, emailId),

    async readPlacementFacts(request): Promise<PlacementFacts> {
      const {
        threadId,
        inReplyTo,
        accountId,
        defaultAccountId,
        meetingKey,
        answeredEmailId = null,
        findsFooter = false,
      } = request;
      const named = inReplyTo === null ? null : normaliseMessageId(inReplyTo);
      const [row] = await run(pool, PLACEMENT_FACTS, {
        threadId,
        inReplyTo: named,
        point: named === null || meetingKey === undefined ? null : pointOf(named, meetingKey),
        accountId,
        defaultAccountId,
        answeredEmailId,
        findsFooter,
      });
      const parent = toParent(row?.parent ?? null);
      return {
        thread:
          row === undefined || row.thread_id === null || row.thread_account_id === null
            ? null
            : { id: row.thread_id, accountId: row.thread_account_id },
        newest: toParent(row?.newest ?? null),
        inReplyToWritten: parent?.messageId ?? null,
        inReplyToThreadId: row?.in_reply_to_thread_id ?? null,
        inReplyToReferences: parent?.references ?? [],
        inReplyToThreadIndex: parent?.threadIndex ?? null,
        inReplyToAutomaticFrom: parent?.automaticFrom ?? [],
        hasFooter: row?.has_footer ?? false,
      };
    },
  };
}

/** The email `n` or `p` that a send answers or follows. */
const PARENT = jsonObjects('parent-json', { alias: ['n', 'p'] }, ({ alias }) => ({
  from: `emails ${alias}`,
  columns: {
    ...columnsOf(alias, 'in_reply_to', 'reference_ids'),
    message_id: `coalesce(${alias}.written_message_id, ${alias}.message_id)`,
    thread_index: `translate(encode(${alias}.thread_index, 'base64'), E'\\n', '')`,
    // People write to mailing lists, too.
    automatic_from: `case
      when ${alias}.direction = 'inbound' and ${alias}.written_by = 'machine' and ${alias}.automatic ->> 'kind' <> 'list'
      then (
      select array_agg(a ->> 'address')
      from jsonb_array_elements(jsonb_build_array(${alias}.from_address) || ${alias}.reply_to_addresses) a
    ) end`,
  },
})).narrow<{ message_id: string }>();
type ParentJson = JsonOf<typeof PARENT>;

const parentOf = (alias: 'n' | 'p') =>
  `case when ${alias}.id is not null then ${PARENT.of({ alias }).object} end`;

function toParent(row: ParentJson | null): Parent | null {
  if (row === null) return null;
  // RFC 5322 §3.6.4: for a parent without References, its In-Reply-To is used, if that is a single one.
  const references =
    row.reference_ids.length > 0 ? row.reference_ids : row.in_reply_to.length === 1 ? row.in_reply_to : [];
  return {
    messageId: toMessageId(row.message_id),
    references: references.map(toMessageId),
    threadIndex: row.thread_index,
    automaticFrom: row.automatic_from ?? [],
  };
}

/** `$accountId`: the account that the caller named. */
const PLACEMENT_FACTS = statement(
  'placement-facts',
  `select t.id as thread_id, t.account_id as thread_account_id, ${parentOf('n')} as newest,
    coalesce(m.thread_id, p.thread_id, w.thread_id) as in_reply_to_thread_id, ${parentOf('p')} as parent,
    -- An email that certainly did not go out does not count, and neither does one that goes out later, if it is not cancelled.
    $findsFooter::boolean and exists (
      select from emails e left join send_queue q on q.email_id = e.id
      where e.thread_id = coalesce(t.id, m.thread_id, p.thread_id, w.thread_id) and e.has_footer and ${LISTED}
        and (q.due_at is null or q.due_at <= now())
    ) as has_footer
  from (select $inReplyTo::text as message_id) named
  left join email_threads t on t.id = ${threadIdOf('$threadId::uuid')}
  left join lateral (
    select * from emails e where e.thread_id = t.id and ${LISTED} order by e.date desc, e.id desc limit 1
  ) n on true
  left join thread_message_ids m on m.account_id = coalesce($accountId, t.account_id, $defaultAccountId)
    and ${isKnownAs('m', 'named')}
  left join lateral (
    select m.thread_id from (select $point::text as message_id) n
    join thread_message_ids m on m.account_id = coalesce($accountId, t.account_id, $defaultAccountId)
      and ${isKnownAs('m', 'n')}
  ) w on true
  left join lateral (
    select * from emails e
    where e.account_id = coalesce($accountId, t.account_id, $defaultAccountId) and (e.message_id = $inReplyTo or e.relay_message_id = $inReplyTo)
    order by e.id = $answeredEmailId::uuid desc nulls last, e.date, e.id limit 1
  ) p on true`,
).narrow<{ newest: ParentJson | null; parent: ParentJson | null; has_footer: boolean }>();
