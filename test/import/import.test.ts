/** `email-worker import` on a real database. */
import { execFileSync } from 'node:child_process';
import { appendFile, mkdir, readFile, rename, stat, symlink, truncate, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { runCommandInProcess } from '../helpers/command-in-process.ts';
import {
  mailOf,
  makeMaildir,
  recordedMails,
  requireRightThreads,
  writeMails,
} from '../helpers/mail-folders.ts';
import { joinMbox } from '../helpers/mbox.ts';
import { createTestDatabase, type TestDatabase } from '../helpers/postgres.ts';
import { createTestPool } from '../helpers/test-pool.ts';
import { createImportLog } from '../../src/areas/import/import-log.ts';
import { createDeletionStore } from '../../src/areas/erase/deletion-store.ts';
import { query } from '../helpers/query.ts';
import { makeTempFolder, type TempFolder } from '../helpers/temp-folder.ts';

let temp: TempFolder;
let database: TestDatabase;
beforeEach(async () => {
  [temp, database] = await Promise.all([makeTempFolder(), createTestDatabase()]);
});
afterEach(async () => {
  await database.drop();
  await temp.remove();
});

const place = (...names: readonly string[]) => path.join(temp.path, 'mails', ...names);
const runImport = async (args: readonly string[], env: Record<string, string> = {}) => {
  const dataDir = path.join(temp.path, 'data');
  await mkdir(dataDir, { recursive: true });
  return await runCommandInProcess(['import', ...args], {
    dataDir,
    env: { DATABASE_URL: database.connectionString, MAIL_FROM: 'Sales <sales@example.com>', ...env },
  });
};
const recorded = () => recordedMails(database.connectionString);
const subjects = async () => (await recorded()).map(({ subject }) => subject).sort();

describe('formats', () => {
  it('.eml, mbox and Maildir with its subfolders, each email once by whatever path', async () => {
    await writeMails(place('eml', 'deep'), [mailOf(1, 0), mailOf(2, 0).replaceAll('\n', '\r\n')]);
    await writeFile(place('eml', 'notes.txt'), 'From here on: not an email');
    await writeFile(place('Archive'), joinMbox([mailOf(2, 0), mailOf(3, 0, 'From x\n>From y')]));
    await writeFile(place('crlf.mbox'), joinMbox([mailOf(3, 1).replaceAll('\n', '\r\n')], '\r\n'));
    const maildir = await makeMaildir(place('Maildir'));
    await writeFile(path.join(maildir, 'dovecot-uidlist'), '3 V1 N1');
    await writeFile(path.join(maildir, 'new', '1.M1.host'), mailOf(1, 1));
    await writeFile(path.join(maildir, 'cur', '2.M2.host:2,RS'), mailOf(4, 0));
    await writeFile(path.join(maildir, 'tmp', '3.M3.host'), mailOf(5, 0));
    const sub = await makeMaildir(path.join(maildir, '.Archive.2025'));
    await writeFile(path.join(sub, 'cur', '4.M4.host:2,'), mailOf(4, 1));

    const first = await runImport([place()]);
    expect(first).toMatchObject({ exitCode: 0, stderr: '' });
    // The email of conversation 2 occurs with LF and with CRLF.
    expect(first.stdout).toContain('imported 7, known before 1, failed 0');
    const pool = createTestPool(database);
    const [noted] = await createImportLog(pool).list({ accountId: null }, 10);
    await pool.end();
    expect(noted).toMatchObject({ accountId: 'default', state: 'done', imported: 7, known: 1, failed: 0 });
    expect(noted?.bytesDone).toBe(noted?.bytesTotal);
    const mails = await recorded();
    expect(mails.map(({ message_id }) => message_id.replace('@mail.example.com', ''))).toEqual([
      'c1-0',
      'c1-1',
      'c2-0',
      'c3-0',
      'c3-1',
      'c4-0',
      'c4-1',
    ]);
    requireRightThreads(mails);
    expect(mails[3]?.text_body.trimEnd()).toBe('From x\n>From y');

    // Nothing is read again, although flags have changed and mail was appended.
    await rename(path.join(maildir, 'cur', '2.M2.host:2,RS'), path.join(maildir, 'cur', '2.M2.host:2,S'));
    const boxes = [place('Archive'), place('crlf.mbox'), place('eml', 'notes.txt')];
    const sizes = await Promise.all(boxes.map(async (file) => (await stat(file)).size));
    const bytesBefore = sizes.reduce((sum, size) => sum + size, 0);
    await appendFile(place('Archive'), joinMbox([mailOf(6, 0)]));
    const second = await runImport([place()]);
    expect(second.stdout).toContain(
      `imported 1, known before 0, failed 0, files done before 5, bytes of mbox files done before ${bytesBefore}`,
    );

    // A mail program compacted it: the bytes before the recorded place have changed.
    await writeFile(
      place('Archive'),
      joinMbox([mailOf(3, 0, 'From x\n>From y'), mailOf(6, 0), mailOf(7, 0)]),
    );
    const third = await runImport([place('Archive')]);
    expect(third.stdout).toContain('imported 1, known before 2, failed 0');
  });

  it(
    'an email without a Date was received when Received, its separator or its file says',
    { tags: ['long'] },
    async () => {
      const undated = (name: string) =>
        `Message-ID: <${name}@x.test>\nFrom: a@x.test\nSubject: ${name}\n\nx\n`;
      await mkdir(place(), { recursive: true });
      await writeFile(place('box'), joinMbox([undated('a')]));
      await writeFile(place('b.eml'), undated('b'));
      await writeFile(
        place('c.eml'),
        `Received: by mx.test; Sun, 1 Mar 2020 12:00:00 +0100\n${undated('c')}`,
      );
      for (const name of ['b.eml', 'c.eml'])
        execFileSync('touch', ['-d', '2020-02-03T04:05:06Z', place(name)]);
      await runImport([place()]);
      expect((await recorded()).map(({ date }) => date.toISOString()).toSorted()).toEqual([
        '2020-02-03T04:05:06.000Z',
        '2020-03-01T11:00:00.000Z',
        '2026-01-05T10:00:00.000Z',
      ]);
    },
  );
});

describe('folders', () => {
  const directions = async () =>
    Object.fromEntries(
      (await recorded()).map(({ message_id: id, direction }) => [id.slice(0, 2), direction]),
    );

  it(
    'with the name of a Sent folder hold sent mail; drafts, junk and trash are left out, and counted',
    { tags: ['long'] },
    async () => {
      const maildir = await makeMaildir(place('Maildir'));
      await writeFile(path.join(maildir, 'cur', '1.M1.host:2,S'), mailOf(1, 0));
      await writeFile(path.join(maildir, 'cur', '9.M9.host:2,DS'), mailOf(9, 0));
      const folders = ['.Gesendete Objekte', '.INBOX.Sent', '.Drafts', '.Spam', '.Trash.Sent', '.Kunden'];
      for (const [index, name] of folders.entries()) {
        const folder = await makeMaildir(path.join(maildir, name));
        await writeFile(path.join(folder, 'cur', '1.M1.host:2,S'), mailOf(index + 2, 0));
      }
      const { stdout, exitCode } = await runImport([place()]);
      expect(exitCode).toBe(0);
      expect(stdout).toContain(
        'imported 4, known before 0, failed 0, files of drafts left out 2, files of junk left out 1, files of trash left out 1',
      );
      expect(await directions()).toEqual({ c1: 'inbound', c2: 'outbound', c3: 'outbound', c7: 'inbound' });
      // A named trash folder is wanted.
      await runImport([path.join(maildir, '.Spam')]);
      expect(await directions()).toMatchObject({ c5: 'inbound' });
    },
  );

  it('with --received hold received mail, whatever their names', { tags: ['long'] }, async () => {
    const sent = await makeMaildir(place('Maildir', '.Sent'));
    await writeFile(path.join(sent, 'cur', '1.M1.host:2,DS'), mailOf(1, 0));
    await writeFile(place('Sent Items.mbox'), joinMbox([mailOf(2, 0)]));
    const { stdout } = await runImport([place(), '--received']);
    expect(stdout).toContain('imported 2, known before 0, failed 0');
    expect(await directions()).toEqual({ c1: 'inbound', c2: 'inbound' });
    // An email that was imported as received becomes a sent one.
    await runImport([place()]);
    expect(await directions()).toEqual({ c1: 'inbound', c2: 'outbound' });
    expect(await runImport([place(), '--received', '--sent'])).toMatchObject({ exitCode: 2 });
  });

  it('that are mbox files are told by their names, and so is a path', { tags: ['long'] }, async () => {
    await mkdir(place('Sent.sbd'), { recursive: true });
    await mkdir(place('Junk E-Mail'), { recursive: true });
    await writeFile(place('Sent.sbd', '2025'), joinMbox([mailOf(1, 0)]));
    // As saved by an editor.
    await writeFile(place('INBOX'), `\ufeff${joinMbox([mailOf(2, 0)])}`);
    await writeFile(place('Junk E-Mail', 'a.eml'), mailOf(3, 0));
    await writeFile(place('Sent-1'), joinMbox([mailOf(4, 0)]));
    await writeFile(place('Entwürfe.mbox'), joinMbox([mailOf(5, 0), mailOf(6, 0)]));
    const { stdout } = await runImport([place()]);
    expect(stdout).toContain(
      'imported 3, known before 0, failed 0, files of drafts left out 1, files of junk left out 1',
    );
    expect(await directions()).toEqual({ c1: 'outbound', c2: 'inbound', c4: 'outbound' });
    await writeFile(place('Verzonden items'), joinMbox([mailOf(7, 0)]));
    await runImport([place('Verzonden items')]);
    expect(await directions()).toMatchObject({ c7: 'outbound' });
  });
});

describe('options', () => {
  it('--sent records outbound emails, and turns those that were imported without it', async () => {
    await writeMails(place(), [mailOf(1, 0)]);
    await runImport([place()]);
    expect((await recorded()).map(({ direction }) => direction)).toEqual(['inbound']);
    const { stdout } = await runImport([place(), '--sent']);
    expect(stdout).toContain('imported 0, known before 1');
    expect((await recorded()).map(({ direction }) => direction)).toEqual(['outbound']);
  });

  it('marks as read what its file says, else all but with --unread', { tags: ['long'] }, async () => {
    const withStatus = (number: number, status: string) =>
      mailOf(number, 0).replace('\n\n', `\nStatus: ${status}\n\n`);
    await writeMails(place(), [mailOf(1, 0), withStatus(2, 'O')]);
    await writeFile(place('box'), joinMbox([mailOf(3, 0), withStatus(4, 'RO'), withStatus(5, 'O')]));
    const maildir = await makeMaildir(place('Maildir'));
    await writeFile(path.join(maildir, 'new', '1.M1.host,S=6:2,S'), mailOf(6, 0));
    await writeFile(path.join(maildir, 'cur', '2.M2.host,S=7:2,RSa'), mailOf(7, 0));
    await writeFile(path.join(maildir, 'cur', '3.M3.host,S=8:2,R'), mailOf(8, 0));
    await writeFile(path.join(maildir, 'cur', '4.M4.host,S=9'), mailOf(9, 0));
    const unread = async () => {
      const rows = await query(
        database.connectionString,
        'select message_id from unread_emails u join emails e on e.id = u.email_id order by message_id',
      );
      return rows.map((row) => String(row['message_id']).slice(0, 2));
    };
    await runImport([place()]);
    expect(await unread()).toEqual(['c5', 'c6', 'c8', 'c9']);
    // A known email keeps its mark.
    await writeMails(place('more'), [mailOf(1, 0), mailOf(1, 1)]);
    await runImport([place('more'), '--unread']);
    expect(await recorded()).toHaveLength(10);
    expect(await unread()).toEqual(['c1', 'c5', 'c6', 'c8', 'c9']);
  });

  it('--since leaves older ones out', { tags: ['long'] }, async () => {
    await writeMails(place(), [mailOf(1, 0), mailOf(1, 30)]);
    const { stdout } = await runImport([place(), '--since', '2026-01-05T10:15:00Z']);
    expect(stdout).toContain('imported 1, known before 0, failed 0, older than wanted 1');
    expect(await subjects()).toEqual(['Re: Conversation 1']);
    // An import without --since takes them.
    expect((await runImport([place()])).stdout).toContain('imported 1, known before 1');
  });

  it.each([
    [['--account', 'nobody'], 'there is no account nobody'],
    [['--since', 'yesterday'], '--since must be a date'],
    [['--since', '2026-13-45'], '--since must be a date'],
  ])('%j cannot be used', async (args, message) => {
    const result = await runImport([place(), ...args]);
    expect(result).toMatchObject({ exitCode: 2, stdout: '' });
    expect(result.stderr).toContain(message);
  });
});

describe('a file that cannot be imported', () => {
  it('is listed with its reason, and stops nothing', async () => {
    await writeMails(place(), [mailOf(1, 0), mailOf(2, 0, 'x'.repeat(200_000))]);
    await writeFile(place('box'), joinMbox([mailOf(3, 0), mailOf(4, 0, 'y\n'.repeat(60_000)), mailOf(5, 0)]));
    await writeFile(place('empty.eml'), '');
    await writeFile(place('garbage.eml'), Buffer.from([0, 255, 254, 10, 13, 128]));
    await writeFile(place('picture.png'), Buffer.from('89504e470d0a1a0a', 'hex'));
    await symlink(place(), place('loop'));
    await symlink('/etc/passwd', place('passwd.eml'));
    const maildir = await makeMaildir(place('Maildir'));
    execFileSync('mkfifo', [path.join(maildir, 'cur', 'pipe')]);
    const evil = 'evil \u001b[31m.eml';
    await mkdir(place(evil, 'cur'), { recursive: true });
    await symlink('/', place(evil, 'cur', 'root'));

    const report = path.join(temp.path, 'report.jsonl');
    const result = await runImport([place(), place('picture.png'), place('missing'), '--report', report], {
      MAX_INBOUND_BYTES: '100000',
    });
    expect(result.exitCode).toBe(1);
    expect(result.stdout).toContain('imported 4, known before 0, failed 8, empty 1');
    expect(result.stdout).toContain(report);
    expect(await subjects()).toEqual(['', 'Conversation 1', 'Conversation 3', 'Conversation 5']);
    const lines = (await readFile(report, 'utf8')).trimEnd().split('\n');
    const failures = lines.map(
      (line) => JSON.parse(line) as { path: string; offset: number; reason: string },
    );
    expect(
      Object.fromEntries(failures.map(({ path: file, reason }) => [path.relative(place(), file), reason])),
    ).toEqual({
      '1.eml': 'larger than MAX_INBOUND_BYTES, 100000 bytes',
      box: 'larger than MAX_INBOUND_BYTES, 100000 bytes',
      loop: 'is a symbolic link, which is not followed',
      'passwd.eml': 'is a symbolic link, which is not followed',
      'Maildir/cur/pipe': 'is not a plain file, and not followed',
      [`${evil}/cur/root`]: 'is not a plain file, and not followed',
      'picture.png': 'is neither an email nor an mbox file',
      missing: 'there is no such file or folder',
      'empty.eml': 'is empty: there is no email in it',
    });
    expect(failures.find(({ path: file }) => file.endsWith('box'))?.offset).toBeGreaterThan(0);
    // A file name cannot control the terminal.
    expect(result.stderr).not.toContain('\u001b');
    expect(result.stderr).toContain('\\u001b[31m');

    // It is tried again once it fits.
    const again = await runImport([place('box')]);
    expect(again.stdout).toContain('imported 1, known before 1, failed 0');
  });

  it('an empty file is named and is not a failure', { tags: ['long'] }, async () => {
    await mkdir(place(), { recursive: true });
    await writeFile(place('empty.eml'), '');
    await writeFile(place('box'), `From a@x.test Mon Jan  5 10:00:00 2026\n\n${joinMbox([mailOf(1, 0)])}`);
    const first = await runImport([place()]);
    expect(first).toMatchObject({
      exitCode: 0,
      stdout: expect.stringContaining('imported 1, known before 0, failed 0, empty 1'),
    });
    expect(first.stderr).toContain(`${place('empty.eml')}: is empty`);
    const second = await runImport([place()]);
    expect(second).toMatchObject({
      exitCode: 0,
      stdout: expect.stringContaining('imported 0, known before 0, failed 0, empty 1, bytes of mbox files'),
    });
    await writeFile(place('empty.eml'), mailOf(2, 0));
    expect((await runImport([place()])).stdout).toContain('imported 1, known before 0, failed 0');
  });

  it('an email that was deleted stays away, until it is to be restored', { tags: ['long'] }, async () => {
    await mkdir(place(), { recursive: true });
    await writeFile(place('box'), joinMbox([mailOf(1, 0), mailOf(2, 0)]));
    await runImport([place('box')]);
    const pool = createTestPool(database);
    try {
      const [first] = await query(database.connectionString, 'select id from emails order by message_id');
      expect(await createDeletionStore(pool).deleteEmail(String(first?.['id']))).toBe('deleted');
    } finally {
      await pool.end();
    }
    // A file with another name, so that it is read anew.
    await writeFile(place('copy'), joinMbox([mailOf(1, 0), mailOf(2, 0)]));
    await runImport([place('copy')]);
    expect(await subjects()).toEqual(['Conversation 2']);

    const restored = await runImport([place('copy'), '--restore']);
    expect(restored.stdout).toContain('imported 1, known before 1, failed 0');
    expect(await subjects()).toEqual(['Conversation 1', 'Conversation 2']);
    // It no longer counts as deleted, and is imported once.
    expect(await query(database.connectionString, 'select from deleted_identities')).toEqual([]);
    expect((await runImport([place('copy'), '--restore'])).stdout).toContain('imported 0, known before 2');
  });

  it('an mbox file that became shorter is read from its beginning', { tags: ['long'] }, async () => {
    await mkdir(place(), { recursive: true });
    await writeFile(place('box'), joinMbox([mailOf(1, 0), mailOf(2, 0)]));
    await runImport([place('box')]);
    await truncate(place('box'), 10);
    expect(await runImport([place('box')])).toMatchObject({ exitCode: 0 });
  });
});
