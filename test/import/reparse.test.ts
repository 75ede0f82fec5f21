/** `email-worker reparse` as a process, on records that an older parser could have written. */
import { randomUUID } from 'node:crypto';
import { mkdir, readdir, readFile } from 'node:fs/promises';
import path from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { runCommandInProcess } from '../helpers/command-in-process.ts';
import { mailOf, writeMails } from '../helpers/mail-folders.ts';
import { createTestDatabase, type TestDatabase } from '../helpers/postgres.ts';
import { query } from '../helpers/query.ts';
import { startServiceProcess } from '../helpers/service-process.ts';
import { makeTempFolder, type TempFolder } from '../helpers/temp-folder.ts';
import { waitUntil } from '../helpers/wait-until.ts';

let temp: TempFolder;
let database: TestDatabase;
beforeEach(async () => {
  [temp, database] = await Promise.all([makeTempFolder(), createTestDatabase()]);
  await mkdir(dataDir());
});
afterEach(async () => {
  await database.drop();
  await temp.remove();
});

const dataDir = () => path.join(temp.path, 'data');
const run = (...args: readonly string[]) =>
  runCommandInProcess(args, { dataDir: dataDir(), env: { DATABASE_URL: database.connectionString } });
const importMails = async (mails: readonly string[]) => {
  const result = await run('import', await writeMails(path.join(temp.path, randomUUID()), mails));
  expect(result).toMatchObject({ exitCode: 0 });
};
const sql = (text: string, values: readonly unknown[] = []) => query(database.connectionString, text, values);
/** All parsed values, except those that depend on the time or the order. */
const records = () =>
  sql(`select to_jsonb(e) - 'created_at' as email, (select jsonb_agg(to_jsonb(a) order by a.ordinal)
    from email_attachments a where a.email_id = e.id) as attachments from emails e order by id`);
const idOf = async (messageId: string) => {
  const [row] = await sql('select id from emails where message_id = $1', [messageId]);
  return String(row?.['id']);
};

const withFiles = (names: readonly string[]) =>
  [
    'Message-ID: <files@mail.example.com>',
    'From: Ada <ada@customer.example>',
    'To: sales@example.com',
    'Subject: Files',
    'Date: Mon, 5 Jan 2026 10:00:00 +0000',
    'MIME-Version: 1.0',
    'Content-Type: multipart/mixed; boundary=b',
    '',
    '--b',
    'Content-Type: text/plain',
    '',
    'See below',
    ...names.flatMap((name) => [
      '--b',
      `Content-Type: application/pdf; name=${name}`,
      `Content-Disposition: attachment; filename=${name}`,
      '',
      `content of ${name}`,
    ]),
    '--b--',
    '',
  ].join('\n');

it('finds nothing to change after an import, with defects and automatic mail among it', async () => {
  await importMails([
    mailOf(1, 0),
    mailOf(1, 1),
    withFiles(['a.pdf', 'b.pdf']),
    'Subject: =?utf-8?q?no_from=00?=\n\n\n',
    `Auto-Submitted: auto-replied\n${mailOf(2, 0)}`,
    mailOf(3, 0, 'x'.repeat(100_000)),
  ]);
  const before = await records();
  const result = await run('reparse');
  expect(result).toMatchObject({ exitCode: 0, stderr: '' });
  expect(result.stdout).toBe(
    "6 emails read: 0 changed, 6 as before, 0 recorded twice, 0 that can't be parsed, 0 failed\n",
  );
  expect(await records()).toEqual(before);
});

it('brings back an email of which only the bytes were kept, into its thread', async () => {
  await importMails([mailOf(1, 0), mailOf(1, 1), mailOf(1, 2), mailOf(2, 0)]);
  const before = await records();
  const id = await idOf('c1-1@mail.example.com');
  const thread = randomUUID();
  await sql(`insert into email_threads (id, account_id) values ($1, 'default')`, [thread]);
  await sql(
    `insert into thread_message_ids (account_id, message_id, thread_id) values ('default', 'made@up', $1)`,
    [thread],
  );
  await sql(
    `update emails set thread_id = $2, message_id = 'made@up', in_reply_to = '{}', reference_ids = '{}',
      subject = '', text_body = '', reply_text = '', from_address = '{"name": "", "address": ""}', to_addresses = '[]',
      defects = '{not_parsed}', placement_rule = 'new', placement_message_id = null,
      identity_key = sha256('made up') where id = $1`,
    [id, thread],
  );
  const spoiled = await records();

  const dry = await run('reparse', '--defect', 'not_parsed', '--dry-run');
  expect(dry).toMatchObject({ exitCode: 0, stderr: '' });
  expect(dry.stdout).toContain(
    `${id}: message_id, in_reply_to, reference_ids, from_address, to_addresses, subject`,
  );
  expect(dry.stdout).toContain('1 email read: 1 would change');
  expect(await records()).toEqual(spoiled);

  const result = await run('reparse', '--defect', 'not_parsed');
  expect(result.stdout).toContain('1 email read: 1 changed');
  expect(await records()).toEqual(before);
  // The id of its former thread leads to the right one.
  const [alias] = await sql('select thread_id from thread_aliases where id = $1', [thread]);
  const [own] = await sql('select thread_id from emails where id = $1', [id]);
  expect(alias).toEqual(own);
  expect((await run('rethread', '--dry-run')).stdout).toContain('0 would move');
});

it('attachments keep their ids when name and bytes are the same; files come and go with them', async () => {
  await importMails([withFiles(['a.pdf', 'b.pdf', 'c.pdf'])]);
  const id = await idOf('files@mail.example.com');
  const folder = path.join(dataDir(), 'files', 'default', id);
  const list = () =>
    sql('select id, ordinal, filename, storage_path from email_attachments order by ordinal');
  const before = await list();
  // State left by an older parser: no a.pdf, another order, and other bytes under the name of c.pdf.
  await sql(`delete from email_attachments where filename = 'a.pdf'`);
  await sql(`update email_attachments set ordinal = 9 where filename = 'b.pdf'`);
  await sql(`update email_attachments set sha256 = sha256('else') where filename = 'c.pdf'`);
  await sql('delete from search_queue');

  expect((await run('reparse', '--email', id)).stdout).toContain(`${id}: attachments`);
  const now = await list();
  expect(now.map(({ filename }) => filename)).toEqual(['a.pdf', 'b.pdf', 'c.pdf']);
  expect(now[1]?.['id']).toBe(before[1]?.['id']);
  expect(now[0]?.['id']).not.toBe(before[0]?.['id']);
  for (const { filename, storage_path } of now) {
    const bytes = await readFile(path.join(dataDir(), 'files', String(storage_path)), 'utf8');
    expect(bytes.trim()).toBe(`content of ${String(filename)}`);
  }
  // The file of the old c.pdf is gone; no record referred to the missing a.pdf, and it is written again.
  expect((await readdir(folder)).sort()).toEqual(
    now.map(({ storage_path }) => path.basename(String(storage_path))).sort(),
  );
  // The search indexes their names.
  expect(await sql('select email_ids from search_queue')).toEqual([{ email_ids: [id] }]);
  expect((await run('reparse')).stdout).toContain('1 as before');
});

it('an email that turns out to be another record is left alone', async () => {
  await importMails([mailOf(1, 0)]);
  const first = await idOf('c1-0@mail.example.com');
  await sql(`update emails set identity_key = sha256('old'), subject = 'old'`);
  await importMails([mailOf(1, 0)]);
  const [second] = await sql('select id from emails where id <> $1', [first]);
  const { stdout } = await run('reparse');
  expect(stdout).toContain(`${first}: is the same email as ${String(second?.['id'])}; nothing was changed`);
  expect(stdout).toContain('0 changed, 1 as before, 1 recorded twice');
});

it('emails that could not be parsed are listed, also among those that a search finds', async () => {
  await importMails([mailOf(1, 0), mailOf(1, 1), mailOf(2, 0)]);
  await sql(`update emails set defects = '{not_parsed}' where message_id in ($1, $2)`, [
    'c1-1@mail.example.com',
    'c2-0@mail.example.com',
  ]);
  const service = await startServiceProcess({
    dataDir: dataDir(),
    env: { DATABASE_URL: database.connectionString },
  });
  const list = async (parameters: string) => {
    const response = await service.request(`/api/emails?${parameters}`);
    expect(response.status).toBe(200);
    const { emails, next_cursor } = (await response.json()) as {
      emails: { message_id: string }[];
      next_cursor: string | null;
    };
    return { ids: emails.map(({ message_id }) => message_id.slice(1, 5)), next_cursor };
  };
  const first = await list('defect=not_parsed&limit=1');
  expect(first.ids).toEqual(['c1-1']);
  expect((await list(`defect=not_parsed&limit=1&cursor=${first.next_cursor}`)).ids).toEqual(['c2-0']);
  expect((await list('defect=not_parsed&account_id=default')).ids).toEqual(['c1-1', 'c2-0']);
  expect((await list('defect=not_parsed&state=received')).ids).toEqual(['c1-1', 'c2-0']);
  expect((await list('defect=not_parsed&state=sent')).ids).toEqual([]);
  await waitUntil('the search has its words', async () => (await list('q=conversation')).ids.length === 3);
  expect((await list('defect=not_parsed&q=conversation')).ids).toEqual(['c1-1', 'c2-0']);
  expect((await service.request('/api/emails?defect=no_date')).status).toBe(400);
  await service.stop();
});

it('filters, and goes on behind an email; a file that is missing fails alone', async () => {
  await importMails([mailOf(1, 0), mailOf(2, 0), mailOf(3, 0, 'x'.repeat(100_000))]);
  const ids = (await sql('select id from emails order by id')).map(({ id }) => String(id));
  expect((await run('reparse', '--after', ids[0] ?? '')).stdout).toContain('2 emails read');
  expect((await run('reparse', '--account', 'other')).stdout).toContain('0 emails read');
  expect((await run('reparse', '--since', '2100-01-01')).stdout).toContain('0 emails read');
  expect(await run('reparse', '--email', 'x')).toMatchObject({ exitCode: 2 });

  await sql(`update emails set raw_path = raw_path || '.lost' where raw_path is not null`);
  const result = await run('reparse');
  expect(result.exitCode).toBe(1);
  expect(result.stdout).toContain('failed: content_missing');
  expect(result.stdout).toContain('3 emails read: 0 changed, 2 as before');
});

it('links an email to the customer of the sender that is read now', async () => {
  await importMails([withFiles([])]);
  const customer = randomUUID();
  await sql(`insert into customer_domains (domain, customer_id) values ('customer.example', $1)`, [customer]);
  await sql(`update emails set from_address = '{"name":"","address":"Ada customer.example"}'`);
  expect(await run('reparse')).toMatchObject({ exitCode: 0 });
  expect(
    await sql(
      'select e.customer_id, e.customer_source, t.customer_id as thread from emails e join email_threads t on t.id = e.thread_id',
    ),
  ).toEqual([{ customer_id: customer, customer_source: 'domain', thread: customer }]);
});

it('says that there is no such received email, or no such defect', async () => {
  const id = randomUUID();
  expect(await run('reparse', '--email', id)).toMatchObject({
    exitCode: 1,
    stderr: expect.stringContaining(`no received email ${id} was found`),
  });
  expect(await run('reparse', '--defect', 'foo')).toMatchObject({
    exitCode: 2,
    stderr: expect.stringContaining('--defect must be one of missing_from'),
  });
});
