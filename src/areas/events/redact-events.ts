/** Removes data about erased people from the feed. Events keep their position, their type and their identifiers. */
import { run, statement, type Executor } from '../../platform/db/statement.ts';

/** Events that one statement looks at. */
const EXAMINED = 5000;

/** The data of a redacted event. */
export const REDACTED = '{"erased":true}';

export interface RedactedEvents {
  /** The position of the last event that was looked at. */
  readonly to: number;
  readonly events: number;
  readonly isLast: boolean;
}

/**
 * Redacts events of emails that the erasure deleted, events that name an address, and the labels and assignees in events of threads that
 * are gone. All events must be numbered before, except those that a transaction writes at this moment. @param pattern see addressPattern
 */
export async function redactEvents(
  executor: Executor,
  erasureId: string,
  pattern: string,
  after: number,
): Promise<RedactedEvents> {
  const [row] = await run(executor, REDACT, {
    erasureId,
    pattern,
    after,
    limit: EXAMINED,
    redacted: REDACTED,
  });
  return {
    to: Number(row?.last ?? after),
    events: Number(row?.events ?? 0),
    isLast: Number(row?.examined ?? 0) < EXAMINED,
  };
}

const REDACT = statement(
  'redact-events',
  `with examined as materialized (
    select position, type, email_id, thread_id, data from events where position > $after order by position limit $limit::int
  ), redacted as (
    update events e set data = $redacted from examined x
    where e.position = x.position and x.data not in ('{}', $redacted) and (
      lower(x.data) ~ $pattern or exists (
        select from deleted_emails d where d.id = x.email_id and d.erasure_id = $erasureId
      )
      or x.type = 'thread.updated' and not exists (select from email_threads t where t.id = x.thread_id)
        and not exists (select from thread_aliases a where a.id = x.thread_id)
    )
    returning e.position
  )
  select (select count(*) from examined) as examined, (select count(*) from redacted) as events,
    (select position from examined order by position desc limit 1) as last`,
);

/** False while events that were written before `mark` wait to be numbered. */
export async function areNumbered(executor: Executor, mark: number): Promise<boolean> {
  const [row] = await run(executor, ARE_NUMBERED, { mark });
  return row?.are_numbered === true;
}

const ARE_NUMBERED = statement(
  'are-events-numbered',
  'select not exists (select from event_inbox where ordinal <= $mark::bigint) as are_numbered',
);

/** A mark that no event written so far exceeds. */
export async function markOfInbox(executor: Executor): Promise<number> {
  const [row] = await run(executor, MARK);
  return Number(row?.last_value ?? 0);
}

const MARK = statement('mark-of-event-inbox', 'select last_value from event_inbox_ordinal_seq');
