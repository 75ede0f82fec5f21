/**
 * `email_json`: each email as the API shows it, so that reading a thread means reading its rows. Triggers maintain it, so that code that
 * writes `emails` or `email_attachments` need not know about it. It is a separate table because its rows stay in their pages up to 8 kB:
 * the texts of `emails` are stored out of line, and fetching them took most of a read. Also, a change of an email's state does not write
 * its text again.
 *
 * Every change of what a thread's emails show gives the thread another `version`, in the same transaction.
 */

/**
 * Up to this many bytes of text, as stored, an email has stored JSON. Longer texts are read in slices or pieces (email-json.ts), and
 * keeping them twice would gain little.
 */
const MAX_TEXT_BYTES = 128 * 1024;

/** The bound for recipients and subject, in bytes of JSON: there may be thousands of recipients. */
const MAX_HEAD_BYTES = 64 * 1024;

/** All columns but the first of the row of an email `e`; the JSON lacks its last brace, because lists show more. */
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
  // A value that does not fit into a page is not compressed: decompressing it would take longer than reading it.
  'alter table email_json alter column json set storage external',
  // GET /api/thread/{id}
  'create index email_json_thread on email_json (thread_id, date, email_id) where is_listed',
  // GET /api/emails?has_files=, for both answers; the account is compared without reading the row.
  `create index email_json_files on email_json (has_files, direction, date desc, email_id desc) include (account_id)`,

  // Renews the rows to the emails' present content, however many emails have changed
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

  // At random: a database that was restored from a backup must not give out the versions of before again.
  `create function change_thread_versions(threads uuid[]) returns void language plpgsql as $$
  begin
    perform from thread_summaries where thread_id = any(threads) order by thread_id for update;
    update thread_summaries set version = default where thread_id = any(threads);
  end $$`,

  // The trigger that counts a thread's emails gives the thread another version.
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

  // The trigger that counts the emails of threads handles changes of the thread, the date or the state. This trigger does not check whether
  // anything differs: the texts may be long, and they are only written when they do differ.
  `create function emails_json_after_content() returns trigger language plpgsql as $$
  begin
    perform refresh_email_json(array[new.id]);
    return null;
  end $$`,
  `create trigger emails_json_after_content after update of
      message_id, written_message_id, direction, from_address, to_addresses, subject, text_body on emails
    for each row execute function emails_json_after_content()`,

  // Files that were inserted in one statement with their email are counted already.
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
