/**
 * Labels of threads, as rows in the order of the list: GET /api/threads?label= and the counts of labels walk an index. Triggers alone
 * maintain them, from `thread_summaries`; a thread without labels costs the condition of a trigger.
 */
export const THREAD_LABELS = [
  `create table thread_labels (
    label text,
    thread_id uuid,
    account_id account_id not null,
    facets smallint not null,
    last_activity_at timestamptz not null,
    has_attachments boolean not null,
    primary key (thread_id, label)
  )`,
  // The account and the files are compared without reading the row.
  `create index thread_labels_list on thread_labels (label, facets, last_activity_at desc, thread_id desc)
    include (account_id, has_attachments)`,
  // The labels of an account, and the number of open threads of each
  `create index thread_labels_account on thread_labels (account_id, label, facets)`,

  `create function thread_summaries_labels_after_write() returns trigger language plpgsql as $$
  begin
    if tg_op <> 'INSERT' then
      delete from thread_labels where thread_id = old.thread_id and (tg_op = 'DELETE' or label <> all (new.labels));
    end if;
    if tg_op <> 'DELETE' then
      insert into thread_labels (label, thread_id, account_id, facets, last_activity_at, has_attachments)
      select label, new.thread_id, new.account_id, new.facets, new.last_activity_at, new.has_attachments
      from unnest(new.labels) label
      on conflict (thread_id, label) do update set facets = excluded.facets,
        last_activity_at = excluded.last_activity_at, has_attachments = excluded.has_attachments;
    end if;
    return null;
  end $$`,
  `create trigger thread_summaries_labels_after_insert after insert on thread_summaries
    for each row when (new.labels <> '{}') execute function thread_summaries_labels_after_write()`,
  `create trigger thread_summaries_labels_after_update after update on thread_summaries
    for each row when (
      (old.labels <> '{}' or new.labels <> '{}')
      and (old.labels, old.facets, old.last_activity_at, old.has_attachments)
        is distinct from (new.labels, new.facets, new.last_activity_at, new.has_attachments)
    ) execute function thread_summaries_labels_after_write()`,
  `create trigger thread_summaries_labels_after_delete after delete on thread_summaries
    for each row when (old.labels <> '{}') execute function thread_summaries_labels_after_write()`,
];
