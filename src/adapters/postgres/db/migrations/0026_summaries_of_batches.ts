/**
 * Keeps `thread_summaries` for many emails that are inserted together, of which several may be in one thread, by adding
 * what they mean to the row: migration 0009 counted such threads anew, and all others of the statement with them.
 *
 * Emails that are read when they are received are not marked as unread first. The insert names them in the
 * setting `email_worker.read_emails` of the transaction, as a uuid array.
 */
import { sql, type Kysely } from 'kysely';

export async function up(db: Kysely<never>): Promise<void> {
  await sql.raw(EMAILS_AFTER_INSERT).execute(db);
}

/** The newest of the inserted emails of a thread that `which` holds for; see SUMMARY_COLUMNS of migration 0009. */
const newest = (value: string, which = 'true') =>
  `(array_agg(${value} order by activity_at desc, id desc) filter (where ${which}))[1]`;

const EMAILS_AFTER_INSERT = `
  create or replace function emails_after_insert() returns trigger language plpgsql as $$
  declare
    read_emails uuid[] = coalesce(nullif(current_setting('email_worker.read_emails', true), ''), '{}')::uuid[];
  begin
    insert into unread_emails (email_id)
    select e.id from inserted e
    where e.direction = 'inbound' and email_is_listed(e.state) and e.id <> all (read_emails);

    insert into thread_summaries as s
      (thread_id, account_id, customer_id, company_id, email_count, unread_count, has_attachments, last_activity_at,
        newest_email_id, newest_direction, person_at, person_email_id, person_direction)
    select t.id, t.account_id, t.customer_id, t.company_id, n.email_count, n.unread_count, n.has_attachments,
      n.last_activity_at, n.newest_email_id, n.newest_direction, n.person_at, n.person_email_id, n.person_direction
    from (
      select thread_id, count(*) as email_count,
        count(*) filter (where direction = 'inbound' and id <> all (read_emails)) as unread_count,
        bool_or(exists (select from email_attachments a where a.email_id = e.id)) as has_attachments,
        max(activity_at) as last_activity_at,
        ${newest('id')} as newest_email_id,
        ${newest('direction')} as newest_direction,
        max(activity_at) filter (where is_by_person) as person_at,
        ${newest('id', 'is_by_person')} as person_email_id,
        ${newest('direction', 'is_by_person')} as person_direction
      from (
        select id, thread_id, direction, automatic is null as is_by_person, email_activity_at(date, created_at) as activity_at
        from inserted
        where email_is_listed(state)
      ) e
      group by thread_id
    ) n join email_threads t on t.id = n.thread_id
    order by t.id
    on conflict (thread_id) do update set
      email_count = s.email_count + excluded.email_count,
      unread_count = s.unread_count + excluded.unread_count,
      has_attachments = s.has_attachments or excluded.has_attachments,
      (last_activity_at, newest_email_id, newest_direction) = (
        select
          case when newer then excluded.last_activity_at else s.last_activity_at end,
          case when newer then excluded.newest_email_id else s.newest_email_id end,
          case when newer then excluded.newest_direction else s.newest_direction end
        from (select (excluded.last_activity_at, excluded.newest_email_id) > (s.last_activity_at, s.newest_email_id)
          as newer) c
      ),
      (person_at, person_email_id, person_direction) = (
        select
          case when newer then excluded.person_at else s.person_at end,
          case when newer then excluded.person_email_id else s.person_email_id end,
          case when newer then excluded.person_direction else s.person_direction end
        from (select excluded.person_at is not null and (s.person_at is null
          or (excluded.person_at, excluded.person_email_id) > (s.person_at, s.person_email_id)) as newer) c
      );
    return null;
  end $$`;
