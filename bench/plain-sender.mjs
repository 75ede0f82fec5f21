/**
 * The program that a user would write to send and record: bare Fastify, nodemailer, pooled, and one `insert` by `pg` that is awaited
 * before the answer. No journal, threads, customers, list, search, events or files; a process that dies in between forgets the mail
 * that it sent.
 *
 * node bench/plain-sender.mjs <data folder> <port of the mail server> [what it does]
 */
import { randomUUID } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import Fastify from 'fastify';
import { open } from 'lmdb';
import nodemailer from 'nodemailer';
import pg from 'pg';
import { connectionOf } from './connection.mjs';

const [dataDir, port, does = 'record'] = process.argv.slice(2);
const pool = new pg.Pool({ ...connectionOf(dataDir), max: 10 });
pool.on('error', () => {}); // the database may stop first
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
const folder = mkdtempSync(path.join(tmpdir(), 'email-worker-bench-'));
/** Each write is on the disk before it is answered, as in the service's journal. */
const journal = open({ path: path.join(folder, 'journal'), overlappingSync: false });

const from = 'Bench <bench@example.com>';
const insert = {
  name: 'insert',
  text: 'insert into plain_sends (id, message_id, to_address, subject, text_body) values ($1, $2, $3, $4, $5)',
};
const store = (id, messageId, { to, subject, text_body: text }) =>
  pool.query({ ...insert, values: [id, messageId, to, subject, text] });

const WAYS = {
  async record({ to, subject, text_body: text }) {
    const { messageId } = await transport.sendMail({ from, to, subject, text });
    const id = randomUUID();
    await store(id, messageId, { to, subject, text_body: text });
    return { status: 'sent', id, messageId };
  },
  /** Keeps no record of the mail that it sends. */
  async forward({ to, subject, text_body: text }) {
    const { messageId } = await transport.sendMail({ from, to, subject, text });
    return { status: 'sent', id: randomUUID(), messageId };
  },
  /** After a crash, the journal shows which mail may have been sent. */
  async journal(body) {
    const { to, subject, text_body: text } = body;
    const id = randomUUID();
    const messageId = `<${id}@example.com>`;
    await journal.put(id, body);
    await transport.sendMail({ from, to, subject, text, messageId });
    await store(id, messageId, body);
    // Written together with the next entry.
    void journal.remove(id);
    return { status: 'sent', id, messageId };
  },
  /** Leaves sending to another program. */
  async accept(body) {
    const id = randomUUID();
    const messageId = `<${id}@example.com>`;
    await store(id, messageId, body);
    return { status: 'queued', id, messageId };
  },
};

const app = Fastify();
app.post('/api/send', ({ body }) => WAYS[does](body));
console.log(`url ${await app.listen({ port: 0, host: '127.0.0.1' })}`);
process.on('SIGTERM', () => {
  rmSync(folder, { recursive: true, force: true });
  process.exit(0);
});
