/**
 * What a user would write to send and record: bare Fastify, nodemailer, pooled, and one `insert` by `pg` that is awaited before the
 * answer. No journal, threads, customers, list, search, events or files; a process that dies in between forgets what it sent.
 */
import { randomUUID } from 'node:crypto';
import Fastify from 'fastify';
import nodemailer from 'nodemailer';
import pg from 'pg';
import { connectionOf } from './connection.mjs';

const [dataDir, port] = process.argv.slice(2);
const pool = new pg.Pool({ ...connectionOf(dataDir), max: 10 });
pool.on('error', () => {}); // the database may go first
await pool.query(`create table if not exists plain_sends (
  id uuid primary key, message_id text not null unique, to_address text not null, subject text not null, text_body text not null,
  sent_at timestamptz not null default now()
)`);
const transport = nodemailer.createTransport({
  pool: true,
  host: '127.0.0.1',
  port: Number(port),
  ignoreTLS: true,
  maxConnections: 10,
  maxMessages: Infinity,
});
const insert = {
  name: 'insert',
  text: 'insert into plain_sends (id, message_id, to_address, subject, text_body) values ($1, $2, $3, $4, $5)',
};
const app = Fastify();
app.post('/api/send', async ({ body }) => {
  const { to, subject, text_body: text } = body;
  const { messageId } = await transport.sendMail({ from: 'Bench <bench@example.com>', to, subject, text });
  const id = randomUUID();
  await pool.query({ ...insert, values: [id, messageId, to, subject, text] });
  return { status: 'sent', id, messageId };
});
console.log(`url ${await app.listen({ port: 0, host: '127.0.0.1' })}`);
process.on('SIGTERM', () => process.exit(0));
