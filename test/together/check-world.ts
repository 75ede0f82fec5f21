/** Laws that must hold when everything has come to rest; violations are reported in plain words. */
import { compareCustomerLinks } from '../helpers/customer-links.ts';
import { compareEmailJson } from '../helpers/email-json-rows.ts';
import type { TestDatabase } from '../helpers/postgres.ts';
import { compareSummaries } from '../helpers/thread-summaries.ts';
import { waitUntil } from '../helpers/wait-until.ts';
import type { World } from './world.ts';

export async function checkWorld(world: World, database: TestDatabase): Promise<readonly string[]> {
  const { pool } = world;
  await world.settleMailboxes();
  await waitUntil('nothing is left to do', () => isIdle(world));
  const failures = [...world.failures];
  const none = async (what: string, sql: string) => {
    const { rows } = await pool.query(sql);
    if (rows.length > 0) failures.push(`${what}: ${JSON.stringify(rows)}`);
  };
  await none(
    'one identity, one record',
    `select account_id, message_id, count(*) from emails where identity_key is null group by 1, 2 having count(*) > 1`,
  );
  await none(
    'sent and its copy',
    `select a.id, b.id as copy, a.message_id, b.message_id as copy_id, a.direction, b.direction as copy_direction
    from emails a join emails b on a.account_id = b.account_id and a.subject = b.subject and a.id < b.id
    where a.subject like 'Nachricht %'`,
  );
  await none('alias and thread', 'select id from thread_aliases join email_threads using (id)');
  await none('alias and email', 'select id from email_aliases join emails using (id)');
  await none(
    'alias of nothing',
    `select a.id from thread_aliases a where not exists (select from email_threads t where t.id = a.thread_id)`,
  );
  await none(
    'Message-IDs that are elsewhere',
    `select e.id, e.message_id, e.thread_id, m.message_id as name, m.thread_id as owner from emails e
    cross join lateral (
      select array_agg(k.message_id) as names from thread_message_ids k
      where k.account_id = e.account_id and k.message_id in (e.message_id, e.relay_message_id) and k.thread_id is not null
    ) known
    -- One that is not known is where those meet who name it; see core/thread/meeting-points.ts.
    cross join lateral unnest(
      coalesce(known.names, array(select e.message_id || ' ' || key from unnest(e.meeting_keys) key))
    ) name
    left join thread_message_ids m on m.account_id = e.account_id and m.message_id = name
    where m.thread_id is distinct from e.thread_id
      -- Of a send that stayed beside the email of its caller's choice; see docs/decisions/0016-refused-merges.md.
      and not exists (select from refused_links r where r.email_id = e.id and r.message_id in (e.message_id, e.relay_message_id))
      and not exists (select from email_labels l where l.email_id = e.id)
      and not exists (select from message_id_labels l where l.account_id = e.account_id
        and split_part(l.message_id, ' ', 1) in (e.message_id, e.relay_message_id))`,
  );
  await none(
    'threads of one account',
    `select e.id from emails e join email_threads t on t.id = e.thread_id where t.account_id <> e.account_id`,
  );
  await none(
    'unread of what was not received',
    `select u.email_id from unread_emails u join emails e on e.id = u.email_id where e.direction <> 'inbound'`,
  );
  const changes: unknown[] = [];
  await world.data.rethread({
    dryRun: true,
    signal: new AbortController().signal,
    onChanges: (change) => changes.push(change),
    onProgress: () => undefined,
  });
  if (changes.length > 0) failures.push(`rethread: ${JSON.stringify(changes)}`);
  for (const [name, compare] of [
    ['summaries', compareSummaries],
    ['JSON of emails', compareEmailJson],
  ] as const) {
    const { expected, found } = await compare(pool);
    differences(name, expected.map(sortedJson), found.map(sortedJson), failures);
  }
  const links = await compareCustomerLinks(database.connectionString);
  differences('customers', links.expected, links.stored, failures);
  await checkIds(world, failures);
  await checkSearch(world, failures);
  await checkSuppressions(world, failures);
  return failures;
}

async function isIdle({ pool }: World): Promise<boolean> {
  const { rows } = await pool.query(
    `select from search_queue
    union all select from customer_relinks
    union all select from customer_addresses where not is_applied
    union all select from send_queue
    union all select from bounce_reports where email_id is null and next_match_at <= now()`,
  );
  return rows.length === 0;
}

const sortedJson = (row: object) =>
  JSON.stringify(Object.fromEntries(Object.entries(row).sort(([a], [b]) => (a < b ? -1 : 1))));

function differences(
  what: string,
  expected: readonly string[],
  found: readonly string[],
  failures: string[],
): void {
  const missing = expected.filter((line) => !found.includes(line));
  const surplus = found.filter((line) => !expected.includes(line));
  if (missing.length + surplus.length > 0)
    failures.push(`${what}: ${JSON.stringify({ missing, surplus }, null, 1)}`);
}

/** Every identifier that was ever given out still leads somewhere. */
async function checkIds(world: World, failures: string[]): Promise<void> {
  for (const id of world.threads) {
    const { status } = await world.request(0, `/api/thread/${id}`);
    if (status !== 200) failures.push(`thread ${id}: ${status}`);
  }
  for (const id of world.emails.keys()) {
    const { status } = await world.request(1, `/api/emails/${id}`);
    if (status !== 200) failures.push(`email ${id}: ${status}`);
  }
  for (const { id, messageId, account } of world.sends) {
    const { rows } = await world.pool.query<{ id: string }>(
      'select id from emails where account_id = $1 and message_id = $2',
      [account, messageId.slice(1, -1)],
    );
    if (rows.length !== 1 || rows[0]!.id !== id)
      failures.push(`send ${id} ${messageId}: ${JSON.stringify(rows)}`);
  }
}

async function checkSearch(world: World, failures: string[]): Promise<void> {
  const { rows } = await world.pool.query<{ id: string; subject: string; text_body: string; state: string }>(
    'select id, subject, text_body, state from emails',
  );
  for (const word of world.words) {
    const { body } = await world.request(0, `/api/emails?q=${word}`);
    const found = (body['emails'] as { id: string }[]).map(({ id }) => id).sort();
    const expected = rows
      .filter(({ subject, text_body }) => `${subject} ${text_body}`.includes(word))
      .map(({ id }) => id)
      .sort();
    if (found.join() !== expected.join()) failures.push(`search ${word}: ${found} instead of ${expected}`);
  }
}

async function checkSuppressions(world: World, failures: string[]): Promise<void> {
  const { body } = await world.request(0, '/api/suppressions');
  for (const { address } of body['suppressions'] as { address: string }[]) {
    for (const service of [0, 1]) {
      await waitUntil(
        `${address} is refused`,
        async () => {
          const { status } = await world.request(service, '/api/send', {
            json: { to: address, subject: 'x', text_body: 'x' },
          });
          return status === 422;
        },
        3000,
      ).catch((error: unknown) => failures.push(String(error)));
    }
  }
}
