/** Lets the feed of a restored database go on at positions that no reader has seen. */
import { run, statement, type Executor } from '../../platform/db/statement.ts';

/**
 * The lost database may have given out positions after those that the backup contains. New events get positions that it can't have given:
 * after the middle of today's, and by the second, so that a second restore on the same day begins elsewhere. Readers that stand between the
 * two have seen events that are undone, and get an error that says so.
 */
export async function skipPositions(executor: Executor): Promise<void> {
  await run(executor, SKIP);
  await run(executor, MAKE_PARTITION);
}

/** Transaction ids are those of another server. */
const SKIP = statement(
  'skip-event-positions',
  `update event_clock c set mark_xid = null, position = n.next, lost = c.lost + int8multirange(int8range(c.position, n.next, '()'))
  from (
    select greatest(
      (event_day(now()) << 36) + (1::bigint << 35) + (extract(epoch from now())::bigint % 86400) * (1 << 18),
      position + (1 << 18)
    ) as next from event_clock
  ) n`,
);

const MAKE_PARTITION = statement(
  'make-partition-of-clock',
  'select make_event_partition(position >> 36) from event_clock',
);

/** For a database that goes on as it was, on another server. */
export async function keepPositions(executor: Executor): Promise<void> {
  await run(executor, KEEP_POSITIONS);
}

const KEEP_POSITIONS = statement('keep-event-positions', 'update event_clock set mark_xid = null');
