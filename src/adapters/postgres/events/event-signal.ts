/**
 * Says when transactions of this process have written events: a trigger sends the client of the connection a notice, and the
 * connection comes back to the pool after the commit. So no writer has to tell, nothing is asked again and again, and no commit waits,
 * as it would for NOTIFY. A notice that is lost (a server or pooler may filter them) costs time alone: the inbox is looked at anyway.
 */
import type { Pool } from 'pg';
import { EVENTS_NOTICE, takeNotices } from '../db/connection.ts';

/** @param pool made by createPool */
export function onEventsWritten(pool: Pool, tell: () => void): void {
  pool.on('release', (_error, client) => {
    if (takeNotices(client).has(EVENTS_NOTICE)) tell();
  });
}
