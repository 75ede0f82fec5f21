/** Emails that could not be parsed are found among millions: GET /api/emails?defect=not_parsed, and reparsing. */
import { sql, type Kysely } from 'kysely';

export async function up(db: Kysely<never>): Promise<void> {
  await sql
    .raw(`create index emails_not_parsed on emails (date desc, id desc) where defects @> '{not_parsed}'`)
    .execute(db);
}
