/**
 * Emails that are being written. `message` is the caller's text, as JSON text: it may contain characters that jsonb refuses, such as NUL,
 * and is checked when it is sent.
 *
 * `sending_id` is the email that the draft becomes, from the moment that a request has claimed the key of its version: from then on nothing
 * changes the draft. The statement that completes or releases that key deletes the draft, or sets it free again.
 */
export const DRAFTS = [
  `create table drafts (
    id uuid primary key,
    version int not null default 1 check (version > 0),
    account_id account_id not null,
    -- Of the email that it answers, or as the caller named it: no reference, since threads are merged and erased
    thread_id uuid,
    author text,
    -- The key that made it; null for none. Without a reference: a draft outlives its key.
    author_key text collate "C",
    answers jsonb check (jsonb_typeof(answers) = 'object'),
    message text not null,
    -- For lists
    recipients text not null,
    subject text not null,
    sending_id uuid,
    created_at timestamptz(3) not null default clock_timestamp(),
    updated_at timestamptz(3) not null default clock_timestamp()
  )`,
  `create index drafts_updated_at on drafts (updated_at desc, id desc)`,
  // For counting the drafts of an account
  `create index drafts_account on drafts (account_id)`,
  `create index drafts_thread on drafts (thread_id) where thread_id is not null`,
  // For deleting the email that drafts answer
  `create index drafts_answered on drafts (((answers ->> 'emailId')::uuid)) where answers is not null`,
  // For completing or releasing the key of a draft's send
  `create unique index drafts_sending on drafts (sending_id) where sending_id is not null`,

  `create table draft_files (
    id uuid primary key,
    draft_id uuid not null references drafts on delete cascade,
    ordinal int not null,
    filename text not null,
    content_type text not null,
    size_bytes bigint not null check (size_bytes >= 0),
    storage_path text not null,
    sha256 text not null,
    content_id text,
    inline boolean not null
  )`,
  `create index draft_files_draft on draft_files (draft_id, ordinal)`,
  // For the file cleaner
  `create index draft_files_path on draft_files (storage_path)`,
];
