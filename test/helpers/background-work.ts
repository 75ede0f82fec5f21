/** The work that the service does by itself after it has recorded something. */
import { query } from './query.ts';
import { waitUntil } from './wait-until.ts';

/** Waits until all events are in the feed, all words are searchable, all customers are linked, and all rules have judged, which may write further events. */
export async function backgroundWorkIsDone(connectionString: string): Promise<void> {
  await waitUntil('what was recorded is numbered, indexed and linked', async () => {
    const [left] = await query(
      connectionString,
      `select exists (select from customer_relinks) or exists (select from customer_addresses where not is_applied)
        or exists (select from mail_rule_queue) or exists (select from search_queue) or exists (select from event_inbox) as is_any`,
    );
    return left?.['is_any'] === false;
  });
}
