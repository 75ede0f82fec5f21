/**
 * What sends say about threads, stored and not inferred; see docs/decisions/0016-refused-merges.md.
 *
 * `anchor_id`: the email beside which the sender of an email put it. `ignored_ids`: Message-IDs that it names and that
 * were in another thread when its sender put it into this one. `party_id`: of an email that names a customer, the first
 * customer that a send named for its thread; mail never brings different ones together. `refused_links`: what mail
 * would have joined, but for that.
 *
 * `own_customer`: it is in its thread only because others named its Message-ID before it came; like a new participant, it
 * has the customer that the rules give to its own address.
 *
 * `message_id` holds the normalised form of a Message-ID, `written_message_id` the one that its header has, where it differs.
 */
import { sql, type Kysely } from 'kysely';

export async function up(db: Kysely<never>): Promise<void> {
  for (const statement of STATEMENTS) await sql.raw(statement).execute(db);
}

const STATEMENTS = [
  `alter table emails
    add anchor_id uuid references emails on delete set null,
    add ignored_ids text[] not null default '{}',
    add party_id uuid,
    add written_message_id message_id,
    add own_customer boolean not null default false`,
  `create index emails_anchor on emails (anchor_id) where anchor_id is not null`,
  // The first of a thread that names a customer
  `create index emails_party on emails (thread_id, created_at, id) where party_id is not null`,

  `update emails e set anchor_id = f.id
    from (select distinct on (thread_id) thread_id, id from emails order by thread_id, id) f
    where e.placement_rule = 'thread_id' and f.thread_id = e.thread_id and f.id <> e.id`,
  `update emails e set ignored_ids = array(
      select m.message_id from thread_message_ids m
      where m.account_id = e.account_id and m.message_id = any (e.in_reply_to || e.reference_ids)
        and m.thread_id <> e.thread_id
    )
    where e.placement_rule = 'thread_id'`,
  `update emails e set party_id = f.customer_id
    from (
      select distinct on (thread_id) thread_id, customer_id from emails
      where customer_source = 'explicit' order by thread_id, created_at, id
    ) f
    where e.customer_source = 'explicit' and f.thread_id = e.thread_id`,

  `create table refused_links (
    email_id uuid not null references emails on delete cascade deferrable initially deferred,
    message_id message_id not null,
    id uuid not null unique default gen_random_uuid(),
    -- Cursors have milliseconds.
    refused_at timestamptz not null default date_trunc('milliseconds', now()),
    primary key (email_id, message_id)
  )`,
  // Newest first
  `create index refused_links_list on refused_links (refused_at desc, id desc)`,
];
