/**
 * Planner statistics for tables that grow. Plans are kept for as long as a connection lives, and PostgreSQL renews them when a table is
 * analyzed; autovacuum looks once a minute. A plan that was made for an empty table reads the whole table for each row that it looks up,
 * which is many thousand rows a minute later.
 */
/** Columns that no condition uses. They are most of a row, and took four tenths of the time of analyzing `emails`. */
const NEVER_COMPARED = {
  emails: [
    'in_reply_to',
    'reference_ids',
    'from_address',
    'to_addresses',
    'cc_addresses',
    'bcc_addresses',
    'reply_to_addresses',
    'sender_address',
    'suggested_counterparty',
    'text_body',
    'html_body',
    'reply_text',
    'raw',
    'headers',
    'metadata',
    'received_by',
    'ignored_ids',
    'meeting_keys',
    'thread_index',
    'aggregate_report',
    'shared_key',
    'content_digest',
    'answers_digest',
    'json_before_text',
    'json_after_text',
  ],
  email_json: ['json'],
  email_variants: ['text_body', 'raw', 'received_by'],
  event_inbox: ['bodies'],
  events: ['data', 'author'],
} as const;

export const STATISTICS = [
  ...Object.entries(NEVER_COMPARED).map(
    ([table, columns]) =>
      `alter table ${table} ${columns.map((column) => `alter column ${column} set statistics 0`).join(', ')}`,
  ),

  // Analyzes tables that have doubled in size since they were last analyzed: some fifteen times in a table's life. Returns how many.
  `create function analyze_grown() returns int language plpgsql as $$
  declare
    grown regclass;
    analyzed int = 0;
  begin
    for grown in
      select c.oid::regclass from pg_class c
      where c.relkind = 'r'
        and c.relnamespace = (select relnamespace from pg_class where oid = 'emails'::regclass)
        -- What is emptied all the time says so itself.
        and not coalesce(c.reloptions::text like '%autovacuum_analyze_threshold%', false)
        and pg_relation_size(c.oid) > greatest(4, 2 * c.relpages) * current_setting('block_size')::bigint
      order by c.oid
    loop
      execute format('analyze (skip_locked) %s', grown);
      analyzed = analyzed + 1;
    end loop;
    return analyzed;
  end $$`,
];
