/**
 * Signals that transactions of this process have written events: a trigger sends the client of the connection a notice, and the connection
 * comes back to the pool after the commit. So no writer has to signal, nothing is polled, and no commit waits, as it would for NOTIFY. A
 * lost notice (a server or pooler may filter them) costs only time: the inbox is checked regularly anyway.
 */
import type { Pool } from 'pg';
import { EVENTS_NOTICE, takeNotices } from '../../platform/db/connection.ts';

/** @param pool made by createPool */
export function onEventsWritten(pool: Pool, tell: () => void): void {
  pool.on('release', (_error, client) => {
    if (takeNotices(client).has(EVENTS_NOTICE)) tell();
  });
}
