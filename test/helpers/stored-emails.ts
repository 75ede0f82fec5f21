/** Emails as rows, for tests of reading that need emails that sending or receiving would not create, or very many of them. */
import { randomUUID } from 'node:crypto';
import type pg from 'pg';

/** The most bytes of text that one statement writes. */
const MAX_STATEMENT_BYTES = 50_000_000;

export interface StoredEmail {
  readonly id: string;
  readonly messageId: string;
  readonly from: object;
  readonly to: readonly object[];
  readonly subject: string;
  readonly text: string;
  readonly date: Date;
  readonly state: string;
  readonly files: readonly {
    readonly filename: string;
    readonly contentType: string;
    readonly sizeBytes: number;
  }[];
}

/** Stores these sent emails in a new thread, and returns its id. */
export async function storeThread(pool: pg.Pool, emails: readonly Partial<StoredEmail>[]): Promise<string> {
  const threadId = await storeEmptyThread(pool);
  for (const given of emails) {
    const email: StoredEmail = {
      id: randomUUID(),
      messageId: `${randomUUID()}@example.com`,
      from: { name: '', address: 'sales@example.com' },
      to: [{ name: 'Ada', address: 'ada@example.org' }],
      subject: 'Betreff',
      text: 'Text',
      date: new Date('2026-01-01T00:00:00.000Z'),
      state: 'sent',
      files: [],
      ...given,
    };
    const { id, messageId, from, to, subject, text, date, state } = email;
    await pool.query(
      `insert into emails (id, account_id, thread_id, direction, message_id, in_reply_to, reference_ids, from_address,
        to_addresses, cc_addresses, bcc_addresses, subject, text_body, date, state, placement_rule, raw_size_bytes, raw)
      values ($1, 'default', $2, 'outbound', $3, '{}', '{}', $4, $5, '[]', '[]', $6, $7, $8, $9, 'new', 0, '')`,
      [id, threadId, messageId, JSON.stringify(from), JSON.stringify(to), subject, text, date, state],
    );
    for (const [ordinal, { filename, contentType, sizeBytes }] of email.files.entries()) {
      await pool.query(
        `insert into email_attachments (id, email_id, ordinal, filename, content_type, size_bytes, storage_path, sha256)
        values ($1, $2, $3, $4, $5, $6, $7, sha256(''))`,
        [randomUUID(), id, ordinal, filename, contentType, sizeBytes, `default/${id}/${ordinal}`],
      );
    }
  }
  return threadId;
}

/** A new thread of `count` emails, an hour apart, each with an incompressible text of `bytes`. */
export async function storeLargeThread(
  pool: pg.Pool,
  {
    count,
    bytes,
    from = new Date('2026-01-01T00:00:00.000Z'),
  }: { count: number; bytes: number; from?: Date },
): Promise<string> {
  const threadId = await storeEmptyThread(pool);
  // In parts: a statement may take only a minute, also on a busy machine.
  const atOnce = Math.max(1, Math.floor(MAX_STATEMENT_BYTES / bytes));
  for (let first = 1; first <= count; first += atOnce) {
    await pool.query(
      `insert into emails (id, account_id, thread_id, direction, message_id, in_reply_to, reference_ids, from_address,
      to_addresses, cc_addresses, bcc_addresses, subject, text_body, date, state, placement_rule, raw_size_bytes, raw)
    select gen_random_uuid(), 'default', $1::uuid, 'outbound', $1::uuid || '-' || i || '@example.com', '{}', '{}',
      '{"name":"","address":"sales@example.com"}', '[]', '[]', '[]', 'Betreff ' || i,
      -- A line, and noise that begins elsewhere in each
      left('Zeile ' || i || E'\\n' || substr(noise, i % 1000 + 1), $3::int), $4::timestamptz + i * interval '1 hour',
      'sent', 'new', 0, ''
    from generate_series($5::int, $2::int) i,
      (select string_agg(md5(n::text), '') as noise from generate_series(1, ($3::int + 1000) / 32 + 1) n) s`,
      [threadId, Math.min(first + atOnce - 1, count), bytes, from, first],
    );
  }
  // These tests are not about the search.
  await pool.query('delete from search_queue');
  return threadId;
}

async function storeEmptyThread(pool: pg.Pool): Promise<string> {
  const threadId = randomUUID();
  await pool.query(`insert into email_threads (id, account_id) values ($1, 'default')`, [threadId]);
  return threadId;
}
