/**
 * Templates of emails, with every version of them. A version never changes; `templates.version` is the newest. They contain what the
 * company tells all its customers, and nothing about a person: the filled-in text is in the email alone.
 */
export const TEMPLATES = [
  `create table templates (
    id uuid primary key,
    -- null: any account may use it
    account_id account_id,
    version int not null default 1 check (version > 0),
    created_at timestamptz(3) not null default clock_timestamp(),
    updated_at timestamptz(3) not null default clock_timestamp()
  )`,
  `create index templates_updated_at on templates (updated_at desc, id desc)`,

  `create table template_versions (
    template_id uuid not null references templates on delete cascade,
    version int not null check (version > 0),
    name text not null check (length(name) between 1 and 200),
    subject text not null check (subject <> ''),
    text_body text,
    html_body text,
    variables text[] not null,
    primary key (template_id, version),
    check (text_body is not null or html_body is not null)
  )`,
];
