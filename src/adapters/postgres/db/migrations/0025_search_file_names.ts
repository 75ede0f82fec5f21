/** The names of attachments are searched: emails that have some are read anew by the worker, see 0020. */
import { sql, type Kysely } from 'kysely';

export async function up(db: Kysely<never>): Promise<void> {
  await sql.raw(QUEUE_THOSE_WITH_FILES).execute(db);
}

// The newest last, as the worker begins at the end.
const QUEUE_THOSE_WITH_FILES = `
  insert into search_queue (email_ids)
  select array_agg(id order by date) from (
    select id, date, row_number() over (order by date, id) / 100 as part from emails e
    where exists (select from email_attachments a where a.email_id = e.id)
  ) e group by part order by part`;
