/**
 * What operators see of mailboxes without counting a million rows: counts, kept by triggers, so that code that writes
 * messages of mailboxes need not know of them; and an identifier for what is set aside.
 */
import { sql, type Kysely } from 'kysely';

export async function up(db: Kysely<never>): Promise<void> {
  for (const statement of STATEMENTS) await sql.raw(statement).execute(db);
}

/** Column of `mailboxes` → which messages it counts. */
const COUNTS = {
  messages: 'true',
  recorded: 'email_id is not null',
  expunged: 'expunged_at is not null',
  quarantined: 'quarantined_at is not null and expunged_at is null',
  waiting: 'email_id is null and quarantined_at is null and expunged_at is null',
} as const;

const sums = Object.entries(COUNTS)
  .map(([name, condition]) => `coalesce(sum(sign) filter (where ${condition}), 0) as ${name}`)
  .join(', ');
const additions = Object.keys(COUNTS)
  .map((name) => `${name} = b.${name} + d.${name}`)
  .join(', ');
const COLUMNS = 'mailbox_id, email_id, expunged_at, quarantined_at';

/** `changes`: rows with `sign` 1 for what is there now, -1 for what was. */
const addUp = (changes: string) => `
  update mailboxes b set ${additions}
  from (select mailbox_id, ${sums} from (${changes}) c group by mailbox_id) d
  where b.id = d.mailbox_id
    and (${Object.keys(COUNTS)
      .map((name) => `d.${name} <> 0`)
      .join(' or ')})`;

const trigger = (event: 'insert' | 'update' | 'delete', tables: string, changes: string) => [
  `create function mailbox_messages_after_${event}() returns trigger language plpgsql as $$
  begin
    ${addUp(changes)};
    return null;
  end $$`,
  `create trigger mailbox_messages_count_${event} after ${event} on mailbox_messages
    referencing ${tables} for each statement execute function mailbox_messages_after_${event}()`,
];

const IS = `select ${COLUMNS}, 1 as sign from is_now`;
const WAS = `select ${COLUMNS}, -1 as sign from was`;

const STATEMENTS = [
  `alter table mailboxes
    ${Object.keys(COUNTS)
      .map((name) => `add column ${name} bigint not null default 0`)
      .join(', ')}`,
  addUp(`select ${COLUMNS}, 1 as sign from mailbox_messages`),
  ...trigger('insert', 'new table as is_now', IS),
  ...trigger('update', 'old table as was new table as is_now', `${IS} union all ${WAS}`),
  ...trigger('delete', 'old table as was', WAS),

  // Milliseconds, as cursors have them
  `alter table mailbox_messages add column quarantine_id uuid`,
  `update mailbox_messages
    set quarantine_id = gen_random_uuid(), quarantined_at = date_trunc('milliseconds', quarantined_at)
    where quarantined_at is not null`,
  `alter table mailbox_messages
    add constraint mailbox_messages_quarantine check ((quarantined_at is null) = (quarantine_id is null))`,
  `create unique index mailbox_messages_quarantine_id on mailbox_messages (quarantine_id)
    where quarantine_id is not null`,
  `drop index mailbox_messages_quarantined`,
  `create index mailbox_messages_quarantined on mailbox_messages (quarantined_at desc, quarantine_id desc)
    where quarantined_at is not null and expunged_at is null`,
];
