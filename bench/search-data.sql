-- A mailbox for bench/search.mjs: :emails emails in :emails / 3.3 threads of three accounts, over three years. Word number n
-- stands in about 8/n of the emails (Zipf); `w10x` is very common, `w100000x` rare. Fills the tables without triggers
-- and without the search index.
set session_replication_role = replica;
set synchronous_commit = off;

insert into email_threads (id, account_id, customer_id, company_id)
select md5('thread' || i)::uuid,
  (array['default', 'sales', 'support'])[case when i % 20 < 15 then 1 when i % 20 < 19 then 2 else 3 end],
  case when i % 10 < 3 then null
    -- A large customer who never writes
    when i % 10 = 3 then md5('silent')::uuid
    else md5('customer' || floor(20000 ^ random())::int)::uuid end,
  case when i % 10 between 4 and 7 then md5('company' || floor(5000 ^ random())::int)::uuid end
from generate_series(1, (:emails / 3.3)::int) i;

insert into emails (
  id, account_id, thread_id, direction, message_id, in_reply_to, reference_ids, from_address, to_addresses, cc_addresses,
  bcc_addresses, subject, text_body, date, created_at, customer_id, company_id, state, placement_rule, raw_size_bytes, raw,
  identity_key, reply_text, automatic
)
select md5('email' || e.i)::uuid, t.account_id, t.id, e.direction, e.i || '@example.com', '{}', '{}',
  case e.direction when 'inbound' then e.person else e.own end,
  jsonb_build_array(case e.direction when 'inbound' then e.own else e.person end), '[]', '[]',
  'Betreff ' || left(e.body, 30), e.body, e.date, e.date, t.customer_id, t.company_id,
  case when e.direction = 'inbound' then 'received' when e.i % 200 = 0 then 'failed' else 'sent' end, 'new', 2000, '',
  case e.direction when 'inbound' then sha256(e.i::text::bytea) end,
  case e.direction when 'inbound' then e.body end,
  case when e.direction = 'inbound' and e.i % 7 = 0 then '{"kind":"auto_reply","evidence":"","suppressReplies":true}'::jsonb end
from (
  select i, x.*,
    -- Most threads are short, some are long; a conversation goes on for days
    case when (x.thread % 10) = 3 or x.random < 0.4 then 'outbound' else 'inbound' end as direction,
    date_trunc('milliseconds', timestamptz '2023-11-01' + (x.thread::float / (:emails / 3.3)) * interval '1090 days'
      + x.random * interval '6 days') as date,
    jsonb_build_object('name', 'Person ' || x.thread % 50000, 'address',
      'person' || x.thread % 50000 || '@firma' || x.thread % 3000 || '.example') as person,
    '{"name": "Vertrieb", "address": "sales@example.com"}'::jsonb as own,
    (select string_agg('w' || floor(200000 ^ random())::int || 'x', ' ') from generate_series(1, 100 + i % 2)) as body
  from generate_series(1, :emails) i cross join lateral (
    select 1 + floor(random() * (:emails / 3.3 - 1))::int as thread, random() as random, i as o offset 0
  ) x
) e join email_threads t on t.id = md5('thread' || e.thread)::uuid;

set session_replication_role = origin;

analyze;

-- What the triggers would have done
insert into unread_emails (email_id)
select e.id from emails e where e.direction = 'inbound' and e.date > timestamptz '2026-08-01' and random() < 0.3;
select count(refresh_thread_summaries(ids)) from (
  select array_agg(id) as ids from (select id, row_number() over (order by id) / 1000 as part from email_threads) t group by part
) parts;
select count(refresh_email_json(ids)) from (
  select array_agg(id) as ids from (select id, row_number() over (order by date) / 1000 as part from emails) e group by part
) parts;
vacuum analyze;
