/**
 * Threads, emails, their deliveries, attachments and variants.
 *
 * Accounts live in the configuration, customers and companies in the caller's system, so none of them is a table. `thread_message_ids`
 * assigns every Message-ID that an email had to exactly one thread of its account. One that emails only name has no thread: they meet at
 * points (core/thread/meeting-points.ts), each of which has one. `thread_aliases` keeps the identifier of a merged
 * thread valid for ever, and `email_aliases` that of a record that turned out to be a copy of a sent email.
 *
 * Statements of sends about threads are stored, not inferred; see docs/decisions/0016-refused-merges.md. `anchor_id`: the email beside which
 * the sender of an email put it. `ignored_ids`: Message-IDs that the email names and that were in another thread when its sender put it
 * into this one. `party_id`: on an email that names a customer, the first customer that a send named for its thread; mail never joins two
 * different parties. `own_customer`: the email failed authentication, or is in its thread only because others named its Message-ID before
 * it came; like a new participant, it has the customer that the rules give to its own address.
 *
 * The JSON of an email and of a file beside the text is made when they are written: PostgreSQL keeps these columns in step with the others,
 * and reading a thread concatenates them. Making them at each read took more time than all the rest of the read. The functions are
 * immutable in fact: no setting changes their results. They call no function of ours, so that they work with the empty search path of a
 * restore.
 */
/** Arguments of `concat`: `{"name":…,"address":…}`; a stored address may have more keys, or lack one. */
const address = (value: string) =>
  `'{"name":', coalesce(${value} -> 'name', 'null'), ',"address":', coalesce(${value} -> 'address', 'null'), '}'`;

export const EMAILS = [
  `create domain account_id as text check (value ~ '^[a-z0-9][a-z0-9_-]{0,62}$')`,
  // Without angle brackets. The bound is RFC 5322 §2.1.1's longest line and keeps index entries below their limit.
  `create domain message_id as text check (length(value) between 1 and 998 and value !~ '[[:space:]<>[:cntrl:]]')`,

  `create table email_threads (
    id uuid primary key,
    account_id account_id not null,
    customer_id uuid,
    company_id uuid,
    created_at timestamptz not null default now(),
    -- Threads whose mail may lead to one another, but for a separation, have the same cluster
    cluster_id uuid,
    customer_source text check (customer_source in ('explicit', 'address', 'domain')),
    company_source text check (company_source in ('explicit', 'registration')),
    -- What people say of the thread, see threads/thread-work.ts
    status text not null default 'open' check (status in ('open', 'done', 'spam')),
    assignee text collate "C" check (length(assignee) between 1 and 100),
    labels text[] not null default '{}',
    chosen_customer_id uuid,
    chosen_company_id uuid,
    -- Another one whenever one of these, or the customer or company, is another one
    version int not null default 1,
    unique (account_id, id)
  )`,
  `create function email_threads_before_update() returns trigger language plpgsql as $$
  begin
    new.version = old.version + 1;
    return new;
  end $$`,
  `create trigger email_threads_before_update
    before update of customer_id, company_id, status, assignee, labels, chosen_customer_id, chosen_company_id on email_threads
    for each row when (
      (old.customer_id, old.company_id, old.status, old.assignee, old.labels, old.chosen_customer_id, old.chosen_company_id)
      is distinct from
      (new.customer_id, new.company_id, new.status, new.assignee, new.labels, new.chosen_customer_id, new.chosen_company_id)
    ) execute function email_threads_before_update()`,
  `create index email_threads_cluster on email_threads (cluster_id) where cluster_id is not null`,

  `create table thread_aliases (
    id uuid primary key,
    thread_id uuid not null references email_threads,
    merged_at timestamptz not null default now(),
    check (id <> thread_id)
  )`,
  `create index thread_aliases_thread on thread_aliases (thread_id)`,

  // A Message-ID, or the name of a meeting point: a Message-ID, a space and a key
  `create domain link_name as text check (length(value) between 1 and 1015 and value !~ '[<>[:cntrl:]]')`,

  `create table thread_message_ids (
    account_id account_id,
    message_id link_name,
    -- null: no email had the Message-ID
    thread_id uuid,
    -- Of a meeting point: its Message-ID
    waits_for text,
    primary key (account_id, message_id),
    foreign key (account_id, thread_id) references email_threads (account_id, id),
    check (thread_id is not null or waits_for is null)
  )`,
  `create index thread_message_ids_thread on thread_message_ids (thread_id)`,
  // The emails that name the Message-ID of a new one
  `create index thread_message_ids_waiting on thread_message_ids (account_id, waits_for) where waits_for is not null`,

  // One `concat` instead of many `||`: each operator has to be prepared for each statement.
  `create function email_json_before_text(
    id uuid, message_id text, direction text, from_address jsonb, to_addresses jsonb, subject text
  ) returns text language plpgsql immutable parallel safe as $$
  declare
    recipients text;
  begin
    -- Most emails have one.
    if jsonb_array_length(to_addresses) = 1 then
      recipients = concat(${address('to_addresses -> 0')});
    else
      recipients = (
        select string_agg(concat(${address('r.value')}), ',' order by r.ordinality)
        from jsonb_array_elements(to_addresses) with ordinality r
      );
    end if;
    return concat('{"id":"', id, '","message_id":', to_json('<' || message_id || '>'), ',"direction":"', direction,
      '","from_address":', ${address('from_address')}, ',"to_addresses":[', recipients,
      '],"subject":', to_json(subject), ',"text_body":');
  end $$`,

  // With milliseconds, as `Date.toISOString`. Years have four digits: see parseMessageDate.
  `create function email_json_after_text(date timestamptz) returns text language plpgsql immutable parallel safe as $$
  begin
    return ',"date":"' || to_char(date at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"') || '","has_attachments":';
  end $$`,

  `create function attachment_json(id uuid, filename text, content_type text, size_bytes bigint, storage_path text)
  returns text language plpgsql immutable parallel safe as $$
  begin
    return concat('{"id":"', id, '","filename":', to_json(filename), ',"content_type":', to_json(content_type),
      ',"size_bytes":', size_bytes, ',"storage_path":', to_json(storage_path), '}');
  end $$`,

  `create table emails (
    id uuid primary key,
    account_id account_id not null,
    thread_id uuid not null,
    direction text not null check (direction in ('inbound', 'outbound')),
    -- Normalised; written_message_id holds the one that its header has, where it differs
    message_id message_id not null,
    -- Another one that it is known by: the relay's, or of a second field Message-ID
    relay_message_id message_id,
    in_reply_to text[] not null,
    reference_ids text[] not null,
    from_address jsonb not null check (jsonb_typeof(from_address) = 'object'),
    to_addresses jsonb not null check (jsonb_typeof(to_addresses) = 'array'),
    cc_addresses jsonb not null check (jsonb_typeof(cc_addresses) = 'array'),
    bcc_addresses jsonb not null check (jsonb_typeof(bcc_addresses) = 'array'),
    subject text not null,
    text_body text not null,
    html_body text,
    date timestamptz not null,
    customer_id uuid,
    company_id uuid,
    state text not null,
    state_detail text,
    placement_rule text not null check (
      placement_rule in (
        'thread_id', 'in_reply_to', 'references', 'message_id', 'bounce', 'subject', 'decision', 'new'
      )
    ),
    placement_message_id message_id,
    raw_size_bytes bigint not null check (raw_size_bytes >= 0),
    raw bytea,
    raw_path text,
    -- Not the beginning of the transaction: of two emails of a thread, the one that got its lock first is the first.
    created_at timestamptz not null default clock_timestamp(),
    -- See core/message/identity.ts
    identity_key bytea check (length(identity_key) = 32),
    -- The key of its identity, when another email had it; null: identity_key is it
    shared_key bytea check (length(shared_key) = 32),
    reply_text text,
    sender_address jsonb check (jsonb_typeof(sender_address) = 'object'),
    -- See core/message/suggested-counterparty.ts
    suggested_counterparty jsonb check (jsonb_typeof(suggested_counterparty) = 'object'),
    reply_to_addresses jsonb not null default '[]' check (jsonb_typeof(reply_to_addresses) = 'array'),
    defects text[] not null default '{}',
    -- Of a received email that is signed or encrypted; signatures are not verified
    protection text check (protection in ('smime_signed', 'smime_encrypted', 'pgp_signed', 'pgp_encrypted')),
    -- See core/calendar/invitation.ts; of a sent email: the answer to one
    invitation jsonb check (jsonb_typeof(invitation) = 'object'),
    -- Counts of other servers about mail of our domains; see core/delivery/aggregate-report.ts
    aggregate_report jsonb check (jsonb_typeof(aggregate_report) = 'object'),
    automatic jsonb check (jsonb_typeof(automatic) = 'object'),
    -- See core/delivery/writer.ts; of a sent email: machine for an automatic one
    written_by text not null default 'person' check (written_by in ('person', 'machine', 'unsure')),
    new_participant boolean not null default false,
    -- Of the sent email that a report returns
    bounced_message_id message_id,
    customer_source text check (customer_source in ('explicit', 'thread', 'address', 'domain', 'ambiguous')),
    company_source text check (company_source in ('explicit', 'thread', 'registration')),
    -- Of a sent email that is part of an automatic exchange: with which address, in lower case
    exchange_with text,
    -- The list that it was sent to, which its recipient can leave
    unsubscribe_list text collate "C",
    -- It is put into the Sent mailbox of its account once it is sent; see sent-copies.ts
    keeps_copy boolean not null default false,
    -- Its sender wrote the message itself, by SMTP: it can't be composed again, so a waiting send can't be changed
    is_as_written boolean not null default false,
    -- The footer of its account is in it
    has_footer boolean not null default false,
    -- RFC 5256 §2.1; null in accounts that do not join by subject
    subject_key text check (length(subject_key) between 1 and 200),
    anchor_id uuid references emails on delete set null,
    ignored_ids text[] not null default '{}',
    -- Of an email that names others; see core/thread/meeting-points.ts
    meeting_keys text[] not null default '{}',
    party_id uuid,
    written_message_id message_id,
    own_customer boolean not null default false,
    -- [MS-OXOMSG] §2.2.1.3; continued by answers
    thread_index bytea check (octet_length(thread_index) between 22 and 522),
    -- What is known of its sender; null: nothing
    authentication jsonb check (jsonb_typeof(authentication) = 'object'),
    -- What its send added to the message, and noted on the email
    headers jsonb not null default '{}' check (jsonb_typeof(headers) = 'object'),
    tags text[] not null default '{}' check (cardinality(tags) <= 20),
    metadata json check (json_typeof(metadata) = 'object'),
    content_digest bytea check (octet_length(content_digest) = 32),
    -- Of Reply-To and In-Reply-To; null when it came by a list
    answers_digest bytea check (octet_length(answers_digest) = 32),
    -- RFC 2919, lower-case; null when it came by no list
    list_id text collate "C" check (length(list_id) between 1 and 255),
    received_by jsonb,
    -- The key that sent it; null for any other. Without a reference: a journal may outlive a database that knew the key.
    author_key text collate "C",
    -- Of a send: from when it was accepted, or was to go out, until its mail server had it for all; of a received email: from when it
    -- came until it was recorded. null: not known
    took_ms int check (took_ms >= 0),
    json_before_text text not null generated always as (email_json_before_text(
      id, coalesce(written_message_id, message_id), direction, from_address, to_addresses, subject
    )) stored,
    json_after_text text not null generated always as (email_json_after_text(date)) stored,
    foreign key (account_id, thread_id) references email_threads (account_id, id),
    constraint emails_raw_in_one_place check ((raw is null) <> (raw_path is null)),
    constraint emails_state_fits_direction check (
      case direction
        when 'inbound' then state = 'received'
        else state in ('queued', 'sending', 'sent', 'deferred', 'failed', 'unknown', 'cancelled')
      end
    ),
    -- A received email has an identity and a new text, and so has one known from its copy in the Sent mailbox.
    constraint emails_read_is_identified check (
      (identity_key is null) = (reply_text is null) and (direction = 'outbound' or identity_key is not null)
    )
  )`,
  // One email, one record
  `create unique index emails_identity on emails (account_id, identity_key) where identity_key is not null`,
  // GET /api/thread/{id}, and the newest email of a thread
  `create index emails_thread on emails (thread_id, date, id)`,
  // The email that a reply answers
  `create index emails_message_id on emails (account_id, message_id)`,
  `create index emails_relay_message_id on emails (account_id, relay_message_id) where relay_message_id is not null`,
  `create index emails_subject_key on emails (account_id, subject_key, date) where subject_key is not null`,
  // Emails about one event
  `create index emails_invitation on emails (account_id, (invitation ->> 'uid')) where invitation is not null`,
  `create index emails_anchor on emails (anchor_id) where anchor_id is not null`,
  // The first email of a thread that names a customer
  `create index emails_party on emails (thread_id, created_at, id) where party_id is not null`,
  // Emails sent by other programs: every send can look for one of the same second
  `create index emails_sent_elsewhere on emails (account_id, date)
    where direction = 'outbound' and identity_key is not null`,
  // Finds mail loops
  `create index emails_exchange on emails (account_id, exchange_with, created_at) where exchange_with is not null`,
  // Files of emails and variants are looked up by their paths
  `create index emails_raw_path on emails (raw_path) where raw_path is not null`,

  // GET /api/emails, for one account or for all; with the state before the date, each filter reads some ranges, each in order.
  `create index emails_state_date on emails (state, date desc, id desc)`,
  `create index emails_account_date on emails (account_id, state, date desc, id desc)`,
  // GET /api/emails?defect=not_parsed among millions, and reparsing
  `create index emails_not_parsed on emails (date desc, id desc) where defects @> '{not_parsed}'`,
  // GET /api/customer/{id}/emails, even for a direction in which a large customer has no email
  `create index emails_customer on emails (customer_id, direction, date desc, id desc) include (account_id, state)
    where customer_id is not null`,
  `create index emails_company on emails (company_id, direction, date desc, id desc) include (account_id)
    where company_id is not null`,
  // The reports of GET /api/statistics
  `create index emails_aggregate_reports on emails (date) where aggregate_report is not null`,
  // GET /api/emails?list_id=
  `create index emails_list on emails (list_id, date desc, id desc) where list_id is not null`,
  // GET /api/emails?recorded_since=, which mail with an old date may match; new rows go to the end of the index.
  `create index emails_created_at on emails (created_at, date, id)`,

  `create table email_aliases (
    id uuid primary key,
    email_id uuid not null references emails on delete cascade,
    check (id <> email_id)
  )`,
  `create index email_aliases_email on email_aliases (email_id)`,

  `create table email_deliveries (
    email_id uuid references emails on delete cascade,
    ordinal int check (ordinal >= 0),
    address text not null,
    state text not null check (state in ('pending', 'accepted', 'deferred', 'rejected', 'unknown')),
    reply_code int check (reply_code between 200 and 599),
    reply_status text check (reply_status ~ '^[245]\\.[0-9]{1,3}\\.[0-9]{1,3}$'),
    reply_text text,
    primary key (email_id, ordinal),
    check ((reply_code is null) = (reply_text is null))
  )`,

  `create table email_attachments (
    id uuid primary key,
    email_id uuid not null references emails on delete cascade,
    ordinal int not null check (ordinal >= 0),
    filename text not null check (filename <> ''),
    content_type text not null check (content_type like '%/%'),
    size_bytes bigint not null check (size_bytes >= 0),
    storage_path text not null unique check (storage_path ~ '^[^/]+/[^/]+/[^/]+$' and storage_path not like '%/..'),
    sha256 bytea not null check (length(sha256) = 32),
    -- Without angle brackets; not unique within an email that a stranger wrote
    content_id text,
    -- Part of what the email shows, and not a file that was sent along
    inline boolean not null default false,
    json text not null generated always as (attachment_json(id, filename, content_type, size_bytes, storage_path)) stored,
    unique (email_id, ordinal)
  )`,

  // Variants: messages that are a recorded email in other bytes, each kept whole. The record has the content of an email,
  // and the way it came; for a send of ours, the raw message has the content.
  `create table email_variants (
    id uuid primary key,
    email_id uuid not null references emails on delete cascade,
    content_digest bytea not null check (octet_length(content_digest) = 32),
    -- As that of its email
    answers_digest bytea check (octet_length(answers_digest) = 32),
    -- SHA-256 of its bytes; of a merged record in a file, of its id
    raw_digest bytea not null check (octet_length(raw_digest) = 32),
    received_at timestamptz not null,
    received_by jsonb,
    is_sent_copy boolean not null,
    text_body text not null,
    raw_size_bytes bigint not null check (raw_size_bytes >= 0),
    raw bytea,
    raw_path text,
    -- False: it was recorded before the email of ours that it claims to be, and may be the same
    is_compared boolean not null default true,
    unique (email_id, raw_digest),
    check ((raw is null) <> (raw_path is null))
  )`,
  `create index email_variants_raw_path on email_variants (raw_path) where raw_path is not null`,
  `create index email_variants_to_compare on email_variants (email_id) where not is_compared`,

  `create table email_variants_refused (
    email_id uuid primary key references emails on delete cascade,
    messages bigint not null,
    last_at timestamptz not null
  )`,

  // Long texts on their way into an email, within one transaction: no row is ever visible, and none has to be restored
  `create unlogged table text_pieces (
    owner_id uuid not null,
    name text not null,
    ordinal integer not null,
    piece text not null,
    primary key (owner_id, name, ordinal)
  )`,
  // They are gone before compressing them would have paid off
  'alter table text_pieces alter column piece set storage external',
];
