/**
 * `email_json`: each email as the API shows it, so that reading a thread is reading its rows. Kept by triggers, so that no
 * writer of `emails` or `email_attachments` has to know of it. The table is apart from `emails` because its rows stay in
 * their pages up to 8 kB: the texts of `emails` are elsewhere, and fetching them took most of a read; and a change of an
 * email's state does not write its text again.
 *
 * Whatever changes what a thread's emails show gives the thread another `version`, in the same transaction.
 */

/**
 * Bytes of text, as stored, up to which the JSON of an email is. Longer texts are read in slices or pieces (email-json.ts), and
 * keeping them twice would gain little.
 */
const MAX_TEXT_BYTES = 128 * 1024;

/** Bytes of recipients and subject, as JSON: there may be thousands of them. */
const MAX_HEAD_BYTES = 64 * 1024;

/** The columns but the first of the row of an email `e`; without the last brace, because lists show more. */
const COLUMNS = `e.thread_id, e.date, email_is_listed(e.state), f.count, f.sent > 0, e.direction, e.account_id, case
      when octet_length(e.text_body) <= ${MAX_TEXT_BYTES} and octet_length(e.json_before_text) <= ${MAX_HEAD_BYTES}
      then concat(e.json_before_text, to_json(e.text_body), e.json_after_text,
        coalesce('true,"email_attachments":[' || f.json || ']', 'false,"email_attachments":[]'))
    end`;

const FILES = `cross join lateral (
      select count(*) as count, count(*) filter (where not a.inline) as sent,
        string_agg(a.json, ',' order by a.ordinal) as json
      from email_attachments a where a.email_id = e.id
    ) f`;

export const EMAIL_JSON = [
  // Without a foreign key: it would be checked for each email, and the triggers remove the row with the email.
  `create table email_json (
    email_id uuid primary key,
    thread_id uuid not null,
    date timestamptz not null,
    is_listed boolean not null,
    files int not null,
    -- Some were sent along, and are not what the HTML shows
    has_files boolean not null,
    -- Null for a long one
    json text,
    direction text not null,
    account_id account_id not null
  ) with (toast_tuple_target = 8160)`,
  // What does not fit into a page is not compressed: unpacking it would take longer than reading it.
  'alter table email_json alter column json set storage external',
  // GET /api/thread/{id}
  'create index email_json_thread on email_json (thread_id, date, email_id) where is_listed',
  // GET /api/emails?has_files=, both answers; the account is compared without reading the row.
  `create index email_json_files on email_json (has_files, direction, date desc, email_id desc) include (account_id)`,

  // What the emails say now, however many have been changed
  `create function refresh_email_json(ids uuid[]) returns void language plpgsql as $$
  begin
    perform change_thread_versions(array(select e.thread_id from emails e where e.id = any(ids)));
    -- What another transaction has written is seen by the next statement.
    perform from email_json where email_id = any(ids) order by email_id for update;
    insert into email_json as j (email_id, thread_id, date, is_listed, files, has_files, direction, account_id, json)
    select e.id, ${COLUMNS}
    from emails e ${FILES}
    where e.id = any(ids) order by e.id
    on conflict (email_id) do update set thread_id = excluded.thread_id, date = excluded.date, is_listed = excluded.is_listed,
      files = excluded.files, has_files = excluded.has_files, direction = excluded.direction, json = excluded.json;
  end $$`,

  // At random: the versions of a database that was restored from a backup are no longer those of before.
  `create function change_thread_versions(threads uuid[]) returns void language plpgsql as $$
  begin
    perform from thread_summaries where thread_id = any(threads) order by thread_id for update;
    update thread_summaries set version = default where thread_id = any(threads);
  end $$`,

  // The threads have another version by the trigger that counts their emails.
  `create function emails_json_after_insert() returns trigger language plpgsql as $$
  begin
    insert into email_json (email_id, thread_id, date, is_listed, files, has_files, direction, account_id, json)
    select e.id, ${COLUMNS} from inserted e ${FILES};
    return null;
  end $$`,
  `create trigger emails_json_after_insert after insert on emails
    referencing new table as inserted for each statement execute function emails_json_after_insert()`,

  `create function emails_json_after_delete() returns trigger language plpgsql as $$
  begin
    delete from email_json j using before b where j.email_id = b.id;
    perform change_thread_versions(array_agg(distinct thread_id)) from before having count(*) > 0;
    return null;
  end $$`,
  `create trigger emails_json_after_delete after delete on emails
    referencing old table as before for each statement execute function emails_json_after_delete()`,

  // Where the thread, the date or the state differ, see the trigger that counts the emails of threads. Here it is not asked
  // whether something differs: the texts may be long, and they are written when they do.
  `create function emails_json_after_content() returns trigger language plpgsql as $$
  begin
    perform refresh_email_json(array[new.id]);
    return null;
  end $$`,
  `create trigger emails_json_after_content after update of
      message_id, written_message_id, direction, from_address, to_addresses, subject, text_body on emails
    for each row execute function emails_json_after_content()`,

  // Files that came in one statement with their email are counted already.
  `create function email_attachments_json_after_insert() returns trigger language plpgsql as $$
  begin
    perform refresh_email_json(array[j.email_id]) from email_json j
    where j.email_id = new.email_id
      and j.files <> (select count(*) from email_attachments a where a.email_id = new.email_id);
    return null;
  end $$`,
  `create trigger email_attachments_json_after_insert after insert on email_attachments
    for each row execute function email_attachments_json_after_insert()`,

  `create function email_attachments_json_after_change() returns trigger language plpgsql as $$
  begin
    perform refresh_email_json(array[old.email_id, new.email_id]);
    if tg_op = 'DELETE' then
      -- Perhaps the last file of the thread
      perform refresh_thread_summaries(array[e.thread_id]) from emails e where e.id = old.email_id;
    end if;
    return null;
  end $$`,
  `create trigger email_attachments_json_after_update after update on email_attachments
    for each row execute function email_attachments_json_after_change()`,
  `create trigger email_attachments_json_after_delete after delete on email_attachments
    for each row execute function email_attachments_json_after_change()`,
];
