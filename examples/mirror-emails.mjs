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
    subject text not null, body text, date timestamptz not null
  );
  create table if not exists crm_log (id bigserial primary key, event_id text not null, type text not null, email_id uuid);
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

/** Copies everything as it is now. The position is read first: changes made meanwhile also arrive by the feed. */
async function copyAll() {
  const latest = await client.events.latest();
  let count = 0;
  for await (const { items } of client.emails.list({ limit: 50 }).pages()) {
    const emails = await Promise.all(items.map(({ id }) => client.emails.get(id)));
    await inTransaction(async (transaction) => {
      for (const email of emails) await storeEmail(transaction, email);
    });
    count += emails.length;
  }
  await inTransaction((transaction) => storePosition(transaction, latest));
  console.log(`copied ${count} emails`);
  return latest;
}

/** The next events, or none after half a minute. */
async function follow(after) {
  const { events, next } = await client.events.list({ after, wait: 30, limit: 50 });
  if (next === after) return after;
  // An email that several events are about is read once, in its present state.
  const ids = [...new Set(events.map(({ email_id: id }) => id).filter((id) => id !== null))];
  const emails = await Promise.all(ids.map((id) => client.emails.get(id)));
  await inTransaction(async (transaction) => {
    for (const { id, type, email_id: emailId } of events) {
      await transaction.query('insert into crm_log (event_id, type, email_id) values ($1, $2, $3)', [
        id,
        type,
        emailId,
      ]);
    }
    for (const email of emails) await storeEmail(transaction, email);
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

function storeEmail(transaction, email) {
  return transaction.query(
    `insert into crm_emails (id, thread_id, customer_id, direction, state, subject, body, date)
     values ($1, $2, $3, $4, $5, $6, $7, $8)
     on conflict (id) do update set (thread_id, customer_id, state, subject, body)
       = (excluded.thread_id, excluded.customer_id, excluded.state, excluded.subject, excluded.body)`,
    [
      email.id,
      email.thread_id,
      email.customer_id,
      email.direction,
      email.state,
      email.subject,
      email.text_body,
      email.date,
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
