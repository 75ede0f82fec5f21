/**
 * Emails that are read when they are received need not be marked as unread first. Whoever inserts them names them in the
 * setting `email_worker.read_emails` of the transaction, as a uuid array; otherwise the trigger is that of migration 0009.
 */
import { sql, type Kysely } from 'kysely';

export async function up(db: Kysely<never>): Promise<void> {
  await sql.raw(EMAILS_AFTER_INSERT).execute(db);
}

const EMAILS_AFTER_INSERT = `
  create or replace function emails_after_insert() returns trigger language plpgsql as $$
  declare
    has_inbound boolean;
    repeated_threads uuid[];
    read_emails uuid[] = coalesce(nullif(current_setting('email_worker.read_emails', true), ''), '{}')::uuid[];
  begin
    select bool_or(e.direction = 'inbound'),
      case when count(*) > count(distinct e.thread_id) then array_agg(distinct e.thread_id) end
    into has_inbound, repeated_threads
    from inserted e;
    if has_inbound then
      insert into unread_emails (email_id)
      select e.id from inserted e
      where e.direction = 'inbound' and email_is_listed(e.state) and e.id <> all (read_emails);
    end if;
    if repeated_threads is not null then
      perform refresh_thread_summaries(repeated_threads);
      return null;
    end if;

    -- Adding to the row costs less than counting, and does not grow with the thread.
    insert into thread_summaries as s
      (thread_id, account_id, customer_id, company_id, email_count, unread_count, has_attachments, last_activity_at,
        newest_email_id, newest_direction, person_at, person_email_id, person_direction)
    select t.id, t.account_id, t.customer_id, t.company_id, 1,
      (e.direction = 'inbound' and e.id <> all (read_emails))::int,
      exists (select from email_attachments a where a.email_id = e.id),
      email_activity_at(e.date, e.created_at), e.id, e.direction,
      case when e.automatic is null then email_activity_at(e.date, e.created_at) end,
      case when e.automatic is null then e.id end,
      case when e.automatic is null then e.direction end
    from inserted e join email_threads t on t.id = e.thread_id
    where email_is_listed(e.state)
    order by t.id
    on conflict (thread_id) do update set
      email_count = s.email_count + 1,
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
