/**
 * Keeps a copy of all emails in a table of another system, by the feed of events. It can be stopped and started again at any moment:
 * its results and its position in the feed are stored in one transaction, so nothing is missed and nothing is done twice.
 *
 *   npm run build -w clients/typescript
 *   BASE_URL=http://127.0.0.1:3000 API_SECRET=$(cat data/api-secret) CRM_DATABASE_URL=postgres://… node examples/mirror-emails.mjs
 */
import { createClient, EmailWorkerError } from 'email-worker-client';
import pg from 'pg';

const { BASE_URL = 'http://127.0.0.1:3000', API_SECRET = '', CRM_DATABASE_URL } = process.env;
const client = createClient({ url: BASE_URL, secret: API_SECRET });
const pool = new pg.Pool({ connectionString: CRM_DATABASE_URL });

await pool.query(`
  create table if not exists crm_emails (
    id uuid primary key, thread_id uuid not null, customer_id uuid, direction text not null, state text not null,
    subject text not null, body text, date timestamptz not null, copied_at text
  );
  create table if not exists crm_log (id bigserial primary key, event_id text not null unique, type text not null, email_id uuid);
  create table if not exists crm_feed (is_only boolean primary key default true check (is_only), position text not null)`);

const {
  rows: [stored],
} = await pool.query('select position from crm_feed');
let position = stored?.position ?? (await copyAll());
console.log(`following the feed from ${position}`);
for (;;) {
  try {
    position = await follow(position);
  } catch (error) {
    if (!(error instanceof EmailWorkerError && error.code === 'events_expired')) throw error;
    // The program was away for longer than events are kept.
    position = await copyAll();
  }
}

/**
 * Copies everything as it is now, and removes what is no longer there. The position is read first: changes made meanwhile also arrive by the
 * feed.
 */
async function copyAll() {
  const latest = await client.events.latest();
  let count = 0;
  for await (const { items } of client.emails.list({ limit: 50 }).pages()) {
    const emails = await readEmails(items.map(({ id }) => id));
    await inTransaction((transaction) => storeEmails(transaction, emails, latest));
    count += emails.size;
  }
  await inTransaction(async (transaction) => {
    await transaction.query('delete from crm_emails where copied_at is distinct from $1', [latest]);
    await storePosition(transaction, latest);
  });
  console.log(`copied ${count} emails`);
  return latest;
}

/** The next events, or none after half a minute. Types that this program does not know are logged like all others. */
async function follow(after) {
  const { events, next } = await client.events.list({ after, wait: 30, limit: 50 });
  if (next === after) return after;
  // An email that several events are about is read once, in its present state.
  const emails = await readEmails(events.map(({ email_id: id }) => id).filter((id) => id !== null));
  await inTransaction(async (transaction) => {
    for (const { id, type, email_id: emailId } of events) {
      await transaction.query(
        'insert into crm_log (event_id, type, email_id) values ($1, $2, $3) on conflict do nothing',
        [id, type, emailId],
      );
    }
    await storeEmails(transaction, emails, null);
    // Another copy of this program may be running.
    const { rowCount } = await transaction.query('update crm_feed set position = $2 where position = $1', [
      after,
      next,
    ]);
    if (rowCount !== 1) throw new Error('another program reads this feed');
  });
  for (const { type, email_id: id } of events) console.log(`${type} ${id ?? ''}`);
  return next;
}

/** By identifier; null for an email that is gone. It may have been deleted behind the event that is being read. */
async function readEmails(ids) {
  const read = async (id) => [id, await client.emails.get(id).catch(nullIfGone)];
  return new Map(await Promise.all([...new Set(ids)].map(read)));
}

function nullIfGone(error) {
  if (error instanceof EmailWorkerError && error.code === 'email_not_found') return null;
  throw error;
}

/** `copiedAt`: the position of the copy that this is part of; null: the feed changes emails one by one. */
async function storeEmails(transaction, emails, copiedAt) {
  for (const [id, email] of emails) {
    if (email === null) await transaction.query('delete from crm_emails where id = $1', [id]);
    else await storeEmail(transaction, email, copiedAt);
  }
}

function storeEmail(transaction, email, copiedAt) {
  return transaction.query(
    `insert into crm_emails (id, thread_id, customer_id, direction, state, subject, body, date, copied_at)
     values ($1, $2, $3, $4, $5, $6, $7, $8, $9)
     on conflict (id) do update set (thread_id, customer_id, direction, state, subject, body, date, copied_at)
       = (excluded.thread_id, excluded.customer_id, excluded.direction, excluded.state, excluded.subject, excluded.body, excluded.date,
          coalesce(excluded.copied_at, crm_emails.copied_at))`,
    [
      email.id,
      email.thread_id,
      email.customer_id,
      email.direction,
      email.state,
      email.subject,
      email.text_body,
      email.date,
      copiedAt,
    ],
  );
}

function storePosition(transaction, next) {
  return transaction.query(
    'insert into crm_feed (position) values ($1) on conflict (is_only) do update set position = excluded.position',
    [next],
  );
}

async function inTransaction(work) {
  const transaction = await pool.connect();
  try {
    await transaction.query('begin');
    await work(transaction);
    await transaction.query('commit');
    transaction.release();
  } catch (error) {
    transaction.release(error);
    throw error;
  }
}
