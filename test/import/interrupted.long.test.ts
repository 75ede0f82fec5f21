/** Imports that are interrupted, in various ways, and continue. */
import { mkdir, readdir, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { runCommand, startCommand } from '../helpers/command-process.ts';
import {
  mailOf,
  makeMaildir,
  recordedMails,
  requireRightThreads,
  writeMails,
} from '../helpers/mail-folders.ts';
import { joinMbox } from '../helpers/mbox.ts';
import { createTestDatabase, type TestDatabase } from '../helpers/postgres.ts';
import { query } from '../helpers/query.ts';
import { startServiceProcess } from '../helpers/service-process.ts';
import { makeTempFolder, type TempFolder } from '../helpers/temp-folder.ts';
import { waitUntil } from '../helpers/wait-until.ts';

let temp: TempFolder;
let database: TestDatabase;
beforeEach(async () => {
  [temp, database] = await Promise.all([makeTempFolder(), createTestDatabase()]);
});
// Each import is killed, or restarted, several times.
vi.setConfig({ testTimeout: 240_000 });

afterEach(async () => {
  await database.drop();
  await temp.remove();
});

const CONVERSATIONS = 200;
const LENGTH = 5;
/** Some emails of each conversation in an mbox file, in a Maildir and in .eml files, a few of them in two. */
async function makeMails(folder: string, conversations = CONVERSATIONS): Promise<string> {
  const mails = Array.from({ length: conversations * LENGTH }, (_, index) => {
    const [conversation, position] = [index % conversations, Math.floor(index / conversations)];
    // Each with a file, which may be stored before the record exists.
    return {
      position,
      text: position === 2 ? withAttachment(conversation, position) : mailOf(conversation, position),
    };
  });
  const textsOf = (...positions: readonly number[]) =>
    mails.filter(({ position }) => positions.includes(position)).map(({ text }) => text);
  await mkdir(folder, { recursive: true });
  await writeFile(path.join(folder, 'box'), joinMbox(textsOf(4, 2, 0)));
  const maildir = await makeMaildir(path.join(folder, 'Maildir'));
  for (const [index, mail] of textsOf(1, 2).entries()) {
    await writeFile(path.join(maildir, 'cur', `${index}.host:2,S`), mail);
  }
  await writeMails(path.join(folder, 'eml'), textsOf(3, 0));
  return folder;
}

function withAttachment(conversation: number, position: number): string {
  const [header = ''] = mailOf(conversation, position).split('\n\n');
  return [
    header,
    'MIME-Version: 1.0',
    'Content-Type: application/pdf; name=a.pdf',
    'Content-Transfer-Encoding: base64',
    '',
    Buffer.alloc(3000, conversation).toString('base64'),
    '',
  ].join('\n');
}

async function countMails(): Promise<number> {
  const [row] = await query(database.connectionString, 'select count(*)::int as count from emails');
  return Number(row?.['count']);
}

async function requireWhole(): Promise<void> {
  const mails = await recordedMails(database.connectionString);
  expect(new Set(mails.map(({ message_id }) => message_id)).size).toBe(CONVERSATIONS * LENGTH);
  expect(mails).toHaveLength(CONVERSATIONS * LENGTH);
  requireRightThreads(mails);
}

it('killed at any moment: every email once, in its thread, and nothing left behind in the spool', async () => {
  const mails = await makeMails(path.join(temp.path, 'mails'));
  const options = { dataDir: temp.path, env: { DATABASE_URL: database.connectionString } };
  for (const kills of [100, 300, 550, 800]) {
    const command = startCommand(['import', mails], options);
    await waitUntil(`${kills} emails are recorded`, async () => (await countMails()) >= kills);
    command.process.kill('SIGKILL');
    await command.ended();
  }
  const last = await runCommand(['import', mails], options);
  expect(last).toMatchObject({ exitCode: 0, stderr: '' });
  await requireWhole();
  expect(Number(/imported (\d+)/.exec(last.stdout)?.[1])).toBeLessThanOrEqual(CONVERSATIONS * LENGTH - 800);
  expect(await readdir(path.join(temp.path, 'spool'))).toEqual([]);

  const again = await runCommand(['import', mails], options);
  expect(again.stdout).toContain('imported 0, known before 0, failed 0, files done before 800');
});

it('Ctrl-C ends it in order, and it goes on', async () => {
  const mails = await makeMails(path.join(temp.path, 'mails'));
  const options = { dataDir: temp.path, env: { DATABASE_URL: database.connectionString } };
  const command = startCommand(['import', mails], options);
  await waitUntil('some emails are recorded', async () => (await countMails()) >= 50);
  command.process.kill('SIGINT');
  expect(await command.ended()).toBe(130);
  expect(command.stderr()).toContain('run the same command again to continue');
  // No control characters outside a terminal
  expect(command.stderr()).not.toMatch(/[\r\u001b]/);
  const recorded = await countMails();
  const imported = Number(/imported (\d+)/.exec(command.stdout())?.[1]);
  expect(imported).toBe(recorded);

  const rest = await runCommand(['import', mails], options);
  expect(rest.exitCode).toBe(0);
  await requireWhole();
});

// Four thousand emails are a third of a minute of work.
it('beside a service that is restarted with its embedded database: it waits, and misses nothing', async () => {
  // Enough that it is still running when the service has stopped.
  const conversations = 800;
  const mails = await makeMails(path.join(temp.path, 'mails'), conversations);
  const dataDir = path.join(temp.path, 'data');
  await mkdir(dataDir);
  const before = await startServiceProcess({ dataDir });
  const command = startCommand(['import', mails], { dataDir });
  const countOf = async (service: typeof before) => {
    const { emails } = (await (await service.request('/api/emails?limit=200')).json()) as {
      emails: object[];
    };
    return emails.length;
  };
  await waitUntil('some emails are recorded', async () => (await countOf(before)) >= 30);
  await before.stop();
  await waitUntil('the command waits', () => command.stderr().includes('waiting until it is back'));
  const after = await startServiceProcess({ dataDir });
  expect(await command.ended()).toBe(0);
  expect(command.stdout()).toContain('failed 0');
  const seen = new Set<string>();
  for (let cursor = ''; ;) {
    const page = (await (await after.request(`/api/emails?limit=200${cursor}`)).json()) as {
      emails: { message_id: string }[];
      next_cursor: string | null;
    };
    for (const { message_id } of page.emails) {
      expect(seen.has(message_id)).toBe(false);
      seen.add(message_id);
    }
    if (page.next_cursor === null) break;
    cursor = `&cursor=${encodeURIComponent(page.next_cursor)}`;
  }
  expect(seen.size).toBe(conversations * LENGTH);
  await after.stop();
});
