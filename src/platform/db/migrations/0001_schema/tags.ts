/**
 * `email_tags`: the emails of a tag, newest first, an order that no index on a list of tags could give. Triggers maintain it, so that code
 * that writes `emails` need not know about it. An email without tags has no row, and costs a look at its tags.
 */
export const TAGS = [
  `create table email_tags (
    tag text not null check (tag <> ''),
    date timestamptz not null,
    email_id uuid not null references emails on delete cascade,
    primary key (tag, date, email_id)
  )`,
  `create index email_tags_email on email_tags (email_id)`,

  `create function emails_tags() returns trigger language plpgsql as $$
  begin
    if tg_op = 'UPDATE' then
      delete from email_tags where email_id = new.id;
    end if;
    insert into email_tags (tag, date, email_id) select distinct tag, new.date, new.id from unnest(new.tags) tag;
    return null;
  end $$`,
  `create trigger emails_tags_after_insert after insert on emails
    for each row when (new.tags <> '{}') execute function emails_tags()`,
  `create trigger emails_tags_after_update after update of tags, date on emails
    for each row when ((old.tags <> '{}' or new.tags <> '{}') and (old.tags, old.date) is distinct from (new.tags, new.date))
    execute function emails_tags()`,
];
