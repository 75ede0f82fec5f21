/** The JSON of emails, built from scratch in the simplest way, to compare with `email_json`. */
import type pg from 'pg';

type Row = Readonly<Record<string, unknown>>;

/** The expected and the actual rows of the table, by email. */
export async function compareEmailJson(
  pool: pg.Pool,
): Promise<{ expected: readonly Row[]; found: readonly Row[] }> {
  const expected = await pool.query<Row>(
    `select e.id as email_id, e.thread_id, e.date, email_is_listed(e.state) as is_listed, f.n as files, f.sent > 0 as has_files,
      e.direction, e.account_id,
      case when octet_length(e.text_body) <= 128 * 1024 and octet_length(e.json_before_text) <= 64 * 1024 then
        e.json_before_text || to_json(e.text_body) || e.json_after_text ||
        case when f.n = 0 then 'false,"email_attachments":[]' else 'true,"email_attachments":[' || f.json || ']' end
      end as json
    from emails e cross join lateral (
      select count(*)::int as n, count(*) filter (where not a.inline) as sent,
        string_agg(a.json, ',' order by a.ordinal) as json
      from email_attachments a where a.email_id = e.id
    ) f
    order by e.id`,
  );
  const found = await pool.query<Row>('select * from email_json order by email_id');
  return { expected: expected.rows, found: found.rows };
}
