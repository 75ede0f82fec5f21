/**
 * The baseline of importing mail, as a developer would write it in an afternoon: mailparser, and a row for each mail in its own commit,
 * several at once; no threads, no customers, no search, and files stay in the raw message.
 */
import { readFileSync } from 'node:fs';
import { simpleParser } from 'mailparser';
import pg from 'pg';

const [, , file, connectionString, atOnce] = process.argv;
const pool = new pg.Pool({ connectionString, max: Number(atOnce) });
await pool.query('drop table if exists plain_emails');
await pool.query(`create table plain_emails (
  id bigserial primary key, message_id text unique, in_reply_to text, reference_ids text, sender text, recipients text,
  subject text, date timestamptz, text_body text, html_body text, raw text
)`);
const mails = readFileSync(file, 'utf8')
  .split(/^From .*\n/m)
  .slice(1);
const insert = `insert into plain_emails
    (message_id, in_reply_to, reference_ids, sender, recipients, subject, date, text_body, html_body, raw)
  values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10) on conflict do nothing`;
let next = 0;
async function work() {
  while (next < mails.length) {
    const raw = mails[next];
    next += 1;
    const mail = await simpleParser(raw);
    await pool.query({
      name: 'insert',
      text: insert,
      values: [
        mail.messageId,
        mail.inReplyTo,
        [mail.references ?? []].flat().join(' '),
        mail.from?.text,
        mail.to?.text,
        mail.subject,
        mail.date,
        mail.text,
        mail.html || null,
        raw,
      ],
    });
  }
}
await Promise.all(Array.from({ length: Number(atOnce) }, work));
await pool.end();
