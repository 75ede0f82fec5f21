/** The triggers that write events. Code that writes a table need not know about them. */
import { EVENT_COLUMNS } from './events.ts';

/** Most events in one row of the inbox: a row is held in memory. */
const MAX_EVENTS = 500;

/** Adds the events that a query returns, with EVENT_COLUMNS and `took_ms`, in the order of its columns `rank` and `key`. */
const add = (query: string) =>
  `
    insert into event_inbox (bodies)
    select array_agg(row(${EVENT_COLUMNS}, took_ms)::event_body order by rank, key)
    from (
      select e.*, (row_number() over (order by rank, key) - 1) / ${MAX_EVENTS} as part from (${query}) e
    ) e
    group by part order by part;`.trim();

/** The email `e` in `data`, without the fields that change with its state. */
const email = (e: string) => `case
    when length(${e}.json_before_text) < 16000
    -- They go on with the text of the email, and with its files.
    then left(${e}.json_before_text, ${-',"text_body":'.length}) || left(${e}.json_after_text, ${-',"has_attachments":'.length}) || '}'
    else event_email_json(${e}.json_before_text, ${e}.json_after_text)
  end`;

/** Adds the notes of the email `e`, if it has any: a sending program correlates its events by them. */
const noted = (e: string, data: string) => `case
    when ${e}.tags = '{}' and ${e}.metadata is null then ${data}
    else event_with_notes(${data}, ${e}.tags, ${e}.metadata)
  end`;

/** True for an email `e` that was imported, or found at the first reading of its mailbox. */
export const IS_HISTORICAL = `case e.received_by ->> 'way'
          when 'import' then true
          when 'imap' then exists (
            select from mailboxes b
            where b.account_id = e.account_id and b.path = e.received_by ->> 'place' and b.last_success_at is null
          )
          else false
        end`;

/** A trigger for each row of another table, with one event. `author`: the key that acted, if the transaction names none. */
function rowTrigger(
  name: string,
  on: string,
  when: string | null,
  event: string,
  author = 'null',
): readonly string[] {
  return [
    `create function ${name}() returns trigger language plpgsql as $$
  begin
    insert into event_inbox (bodies)
    select array[row(e.*, event_author(${author}), null)::event_body] from (${event}) e;
    return null;
  end $$`,
    `create trigger ${name} after ${on} for each row ${when === null ? '' : `when (${when})`} execute function ${name}()`,
  ];
}

/** A trigger on drafts; `row` is the row that the event is about. */
function draftTrigger(
  name: string,
  on: string,
  when: string | null,
  type: string,
  row: 'new' | 'old',
  author?: string,
): readonly string[] {
  return rowTrigger(
    `drafts_events_after_${name}`,
    on,
    when,
    `values (${type}, clock_timestamp(), ${row}.account_id, ${row}.sending_id, ${row}.thread_id, null, null, false,
      json_build_object('draft_id', ${row}.id, 'version', ${row}.version, 'author', ${row}.author,
        'created_by', ${row}.author_key))`,
    author,
  );
}

export const EVENT_TRIGGERS = [
  // The key or the rule that acts in this transaction, see db/name-author.ts; else the given key. A backup may be older than a key.
  `create function event_author(given text) returns text language plpgsql stable parallel restricted as $$
  declare
    key_id text = coalesce(nullif(current_setting('email_worker.author', true), ''), given);
  begin
    if key_id is null then
      return null;
    end if;
    return json_build_object('id', key_id, 'name', coalesce(
      (select k.name from api_keys k where k.id = key_id),
      (select r.name from mail_rules r where 'rule:' || r.id = key_id),
      case when key_id like 'blocked:%' then 'blocked sender' end,
      key_id
    ));
  end $$`,

  // For emails with several hundred recipients: leaves the recipients out and cuts the subject
  `create function event_email_json(json_before_text text, json_after_text text) returns text
  language plpgsql immutable parallel safe as $$
  declare
    whole json = (left(json_before_text, -length(',"text_body":')) || '}')::json;
  begin
    return json_build_object('id', whole -> 'id', 'message_id', whole -> 'message_id', 'direction', whole -> 'direction',
      'from_address', whole -> 'from_address', 'to_addresses', '[]'::json, 'subject', left(whole ->> 'subject', 200),
      'date', substr(json_after_text, 10, 24));
  end $$`,

  `create function event_with_notes(data text, tags text[], metadata json) returns text
  language plpgsql immutable parallel safe as $$
  begin
    return concat(left(data, -1), ',"tags":', array_to_json(tags), ',"metadata":', coalesce(metadata, '{}'), '}');
  end $$`,

  `create function emails_events_after_insert() returns trigger language plpgsql as $$
  begin
    ${add(`
      -- A thread that this transaction made, and all of whose emails come with this statement
      select 0 as rank, t.id as key, 'thread.created' as type, clock_timestamp() as occurred_at, t.account_id,
        null::uuid as email_id, t.id as thread_id, t.customer_id, t.company_id, n.is_historical, '{}' as data,
        event_author(n.author_key) as author, null::int as took_ms
      from (
        select thread_id, bool_and(${IS_HISTORICAL}) as is_historical,
          -- Of several, the first that came by a key
          min(author_key) as author_key
        from inserted e group by thread_id
      ) n cross join lateral (select * from email_threads where id = n.thread_id offset 0) t
      where t.created_at = now() and not exists (
        select from emails e where e.thread_id = t.id and e.id not in (select id from inserted)
      )
      union all
      select 1, id, 'email.' || state, clock_timestamp(), account_id, id, thread_id, customer_id, company_id,
        ${IS_HISTORICAL}, ${noted(
          'e',
          `concat('{"email":', ${email('e')}, ',"state":"', state, '"',
          -- Left out where nothing is known
          ',"authentication":{"verdict":"' || (e.authentication ->> 'verdict') || '"}',
          case when e.direction = 'inbound' then ',"written_by":"' || e.written_by || '"' end,
          ',"protection":"' || e.protection || '"',
          case when e.direction = 'inbound' and e.invitation is not null then
            ',"invitation":' || json_build_object('method', e.invitation -> 'method', 'uid', e.invitation -> 'uid',
              'sequence', e.invitation -> 'sequence') end, '}')`,
        )},
        event_author(e.author_key), took_ms
      from inserted e
      where state <> 'sending'`)}
    return null;
  end $$`,
  `create trigger emails_events_after_insert after insert on emails
    referencing new table as inserted for each statement execute function emails_events_after_insert()`,

  `create function emails_events_after_update() returns trigger language plpgsql as $$
  begin
    ${add(`
      select 0 as rank, t.id as key, 'thread.created' as type, clock_timestamp() as occurred_at, t.account_id,
        null::uuid as email_id, t.id as thread_id, t.customer_id, t.company_id, false as is_historical, '{}' as data,
        event_author(null) as author, null::int as took_ms
      from (
        select distinct n.thread_id from before o join after n on n.id = o.id where n.thread_id <> o.thread_id
      ) n cross join lateral (select * from email_threads where id = n.thread_id offset 0) t
      where t.created_at = now() and not exists (
        select from emails e where e.thread_id = t.id and e.id not in (select id from after)
      )
      union all
      select c.rank, n.id, c.type, clock_timestamp(), n.account_id, n.id, n.thread_id, n.customer_id, n.company_id, false,
        ${noted('n', 'c.data::text')}, event_author(c.author_key),
        case when c.rank = 1 and n.state = 'sent' then n.took_ms end
      from before o join after n on n.id = o.id, lateral (
        select 1 as rank, case
            when o.state = 'unknown' and n.state not in ('queued', 'cancelled') then 'email.settled'
            else 'email.' || n.state
          end as type,
          json_build_object('state', n.state, 'previous_state', o.state, 'detail', left(n.state_detail, 500)) as data,
          n.author_key
        -- What is given back by the process that took it was not sent.
        where n.state <> o.state and n.state <> 'sending' and (o.state, n.state) <> ('sending', 'queued')
        union all
        select 2, 'email.updated', json_build_object('changes', json_build_array('thread_id'), 'previous_thread_id', o.thread_id),
          null
        where n.thread_id <> o.thread_id
        union all
        select 3, 'customer.unlinked', json_build_object('previous_customer_id', o.customer_id), null
        where o.customer_id is not null and n.customer_id is null
        union all
        select 3, 'customer.linked', json_build_object('previous_customer_id', o.customer_id), null
        where n.customer_id is not null and n.customer_id is distinct from o.customer_id
      ) c`)}
    return null;
  end $$`,
  `create trigger emails_events_after_update after update on emails
    referencing old table as before new table as after for each statement execute function emails_events_after_update()`,

  // Looks at columns only: comparing the texts of all emails that change their state would cost too much.
  ...rowTrigger(
    'emails_events_after_content',
    `update of subject, text_body, html_body, date, from_address, to_addresses, cc_addresses on emails`,
    // Any change of a waiting send counts: its files, or the recipients of blind copies.
    `(old.state = 'queued' and new.state = 'queued') or (old.text_body, old.html_body, old.subject, old.date, old.from_address, old.to_addresses, old.cc_addresses)
      is distinct from
      (new.text_body, new.html_body, new.subject, new.date, new.from_address, new.to_addresses, new.cc_addresses)`,
    `values ('email.updated', clock_timestamp(), new.account_id, new.id, new.thread_id, new.customer_id, new.company_id, false,
      ${noted('new', `concat('{"changes":["content"],"email":', ${email('new')}, '}')`)})`,
  ),
  ...rowTrigger(
    'email_variants_events_after_insert',
    'insert on email_variants',
    null,
    `select 'email.updated', clock_timestamp(), e.account_id, e.id, e.thread_id, e.customer_id, e.company_id, false,
      ${noted('e', `json_build_object('changes', json_build_array('variants'), 'variant_id', new.id)::text`)}
    from emails e where e.id = new.email_id`,
  ),

  `create function unread_emails_events() returns trigger language plpgsql as $$
  begin
    -- Emails that are new, and those that change their direction, say so themselves.
    if pg_trigger_depth() > 1 then
      return null;
    end if;
    ${add(`
      select 0 as rank, e.id as key, 'email.updated' as type, clock_timestamp() as occurred_at, e.account_id,
        e.id as email_id, e.thread_id, e.customer_id, e.company_id, false as is_historical,
        json_build_object('changes', json_build_array('unread'), 'unread', tg_op = 'INSERT') as data,
        event_author(null) as author, null::int as took_ms
      from changed c join emails e on e.id = c.email_id`)}
    return null;
  end $$`,
  `create trigger unread_emails_events_after_insert after insert on unread_emails
    referencing new table as changed for each statement execute function unread_emails_events()`,
  `create trigger unread_emails_events_after_delete after delete on unread_emails
    referencing old table as changed for each statement execute function unread_emails_events()`,

  ...rowTrigger(
    'delivery_reports_events_after_insert',
    'insert on delivery_reports',
    `new.outcome <> 'delayed'`,
    `select case
        when new.outcome in ('bounced_hard', 'bounced_soft', 'blocked') then 'email.bounced'
        when new.outcome = 'complained' then 'email.complained'
        else 'email.delivered'
      end, clock_timestamp(), e.account_id, e.id, e.thread_id, e.customer_id, e.company_id, false,
      ${noted(
        'e',
        `json_build_object('address', new.address, 'outcome', new.outcome, 'status', new.status,
          'diagnostic', left(new.diagnostic, 500), 'report_id', new.report_id)::text`,
      )}
    from emails e where e.id = new.email_id`,
  ),

  ...rowTrigger(
    'thread_aliases_events_after_insert',
    'insert on thread_aliases',
    null,
    `select 'thread.merged', clock_timestamp(), t.account_id, null, t.id, t.customer_id, t.company_id, false,
      json_build_object('merged_thread_id', new.id)
    from email_threads t where t.id = new.thread_id`,
  ),
  ...rowTrigger(
    'thread_decisions_events_after_insert',
    'insert on thread_decisions',
    `new.kind in ('split', 'move')`,
    `values (case new.kind when 'split' then 'thread.split' else 'thread.updated' end, clock_timestamp(), new.account_id, null,
      new.thread_id, null, null, false, json_build_object('decision', new.kind, 'new_thread_id', new.other_thread_id,
        'email_ids', new.email_ids, 'reason', new.reason))`,
  ),
  ...rowTrigger(
    'email_threads_events_after_update',
    'update of customer_id, company_id, status, assignee, labels on email_threads',
    `(old.customer_id, old.company_id, old.status, old.assignee, old.labels)
      is distinct from (new.customer_id, new.company_id, new.status, new.assignee, new.labels)`,
    `values ('thread.updated', clock_timestamp(), new.account_id, null, new.id, new.customer_id, new.company_id, false,
      json_build_object(
        'changes', array_remove(array[
          case when old.customer_id is distinct from new.customer_id then 'customer_id' end,
          case when old.company_id is distinct from new.company_id then 'company_id' end,
          case when old.status <> new.status then 'status' end,
          case when old.assignee is distinct from new.assignee then 'assignee' end,
          case when old.labels <> new.labels then 'labels' end
        ], null),
        'previous_customer_id', old.customer_id, 'previous_company_id', old.company_id, 'status', new.status,
        'assignee', new.assignee, 'labels', new.labels))`,
  ),

  ...rowTrigger(
    'suppressions_events_after_insert',
    'insert on suppressions',
    'new.lifted_at is null',
    `values ('suppression.added', clock_timestamp(), null, new.email_id, null, null, null, false,
      json_build_object('address', new.address, 'reason', new.reason))`,
  ),
  ...rowTrigger(
    'suppressions_events_after_update',
    'update of lifted_at on suppressions',
    '(old.lifted_at is null) <> (new.lifted_at is null)',
    `values (case when new.lifted_at is null then 'suppression.added' else 'suppression.lifted' end, clock_timestamp(), null,
      new.email_id, null, null, null, false, json_build_object('address', new.address, 'reason', new.reason))`,
  ),

  ...rowTrigger(
    'unsubscribes_events_after_insert',
    'insert on unsubscribes',
    null,
    `values ('address.unsubscribed', clock_timestamp(), new.account_id, new.email_id, null, null, null, false,
      json_build_object('address', new.address, 'list', new.list, 'unsubscribe_id', new.id))`,
  ),

  ...rowTrigger(
    'mailbox_accounts_events_after_update',
    'update of failing_since, last_error_kind on mailbox_accounts',
    // Refused credentials need a person, also where another failure came first. What failed in other mailboxes does not recover in these.
    `((old.failing_since is null) <> (new.failing_since is null) and (new.failing_since is not null or new.connected_at is not null))
      or (new.failing_since is not null and new.last_error_kind = 'credentials' and old.last_error_kind is distinct from 'credentials')`,
    `values (case when new.failing_since is null then 'account.recovered' else 'account.failing' end, clock_timestamp(),
      new.account_id, null, null, null, null, false,
      json_build_object('kind', case when new.failing_since is not null then new.last_error_kind end,
        'error', case when new.failing_since is not null then left(new.last_error, 500) end))`,
  ),
  ...rowTrigger(
    'mailbox_accounts_events_after_connect',
    'update of connected_at on mailbox_accounts',
    'old.connected_at is null and new.connected_at is not null',
    `values ('account.connected', clock_timestamp(), new.account_id, null, null, null, null, false, '{}')`,
    '(select a.author_key from accounts a where a.id = new.account_id)',
  ),
  ...rowTrigger(
    'accounts_events_after_update',
    'update of paused_at on accounts',
    '(old.paused_at is null) <> (new.paused_at is null)',
    `values (case when new.paused_at is null then 'account.resumed' else 'account.paused' end, clock_timestamp(), new.id,
      null, null, null, null, false, '{}')`,
  ),
  ...rowTrigger(
    'capture_removals_events_after_end',
    'update of finished_at on capture_removals',
    'old.finished_at is null and new.finished_at is not null',
    `values ('removal.ended', clock_timestamp(), new.account_id, null, null, null, null, false,
      json_build_object('removal_id', new.id, 'state', new.state, 'confirmed', new.confirmed, 'found', new.found,
        'removed', (select coalesce(sum(n.value::bigint), 0) from jsonb_each_text(new.removed) n), 'kept', new.kept))`,
    'new.author_key',
  ),
  ...rowTrigger(
    'storage_faults_events_after_write',
    'insert or update of code on storage_faults',
    null,
    `values ('storage.failing', clock_timestamp(), null, null, null, null, null, false,
      json_build_object('code', new.code, 'detail', left(new.detail, 500), 'instance_id', new.instance_id))`,
  ),
  ...rowTrigger(
    'storage_faults_events_after_delete',
    'delete on storage_faults',
    null,
    `values ('storage.recovered', clock_timestamp(), null, null, null, null, null, false,
      json_build_object('code', old.code, 'instance_id', old.instance_id))`,
  ),
  ...rowTrigger(
    'mailbox_messages_events_after_update',
    'update of quarantined_at on mailbox_messages',
    'old.quarantined_at is null and new.quarantined_at is not null',
    `select 'quarantine.added', clock_timestamp(), b.account_id, null, null, null, null, false,
      json_build_object('quarantine_id', new.quarantine_id, 'mailbox', b.path, 'error', left(new.last_error, 500))
    from mailboxes b where b.id = new.mailbox_id`,
  ),
  ...rowTrigger(
    'refused_links_events_after_insert',
    'insert on refused_links',
    null,
    `select 'merge.refused', clock_timestamp(), e.account_id, e.id, e.thread_id, e.customer_id, e.company_id, false,
      json_build_object('refused_merge_id', new.id, 'message_id', '<' || new.message_id || '>')
    from emails e where e.id = new.email_id`,
  ),
  ...rowTrigger(
    'mail_rule_matches_events_after_insert',
    'insert on mail_rule_matches',
    null,
    `select 'rule.matched', clock_timestamp(), e.account_id, e.id, e.thread_id, e.customer_id, e.company_id, false,
      json_build_object('rule_id', new.rule_id, 'rule_name', new.rule_name, 'done', new.done, 'skipped', new.skipped)
    from emails e where e.id = new.email_id`,
  ),
  ...draftTrigger('insert', 'insert on drafts', null, `'draft.created'`, 'new', 'new.author_key'),
  ...draftTrigger(
    'update',
    'update of version on drafts',
    'old.version <> new.version',
    `'draft.changed'`,
    'new',
  ),
  ...draftTrigger(
    'delete',
    'delete on drafts',
    null,
    `case when old.sending_id is null then 'draft.deleted' else 'draft.sent' end`,
    'old',
    // The sender: the author of the email.
    '(select s.author_key from emails s where s.id = old.sending_id)',
  ),
  ...rowTrigger(
    'webhooks_events_after_update',
    'update of paused_at on webhooks',
    '(old.paused_at is null) <> (new.paused_at is null)',
    `values (case when new.paused_at is null then 'webhook.resumed' else 'webhook.paused' end, clock_timestamp(), new.account_id,
      null, null, new.customer_id, null, false,
      case when new.paused_at is null then json_build_object('webhook_id', new.id)
        else json_build_object('webhook_id', new.id, 'reason', new.pause_reason, 'detail', left(new.pause_detail, 500)) end)`,
  ),
];
