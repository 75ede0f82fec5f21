/** Mail of the past is marked as such in the feed: imported mail, and mail that was in a mailbox when it was first read. */
import { writeFile } from 'node:fs/promises';
import path from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { runCommandInProcess } from '../helpers/command-in-process.ts';
import { startDovecot } from '../helpers/dovecot-server.ts';
import { mail } from '../helpers/inbound-mail.ts';
import { skipWithoutMailServers } from '../helpers/mail-servers.ts';
import { fillMaildir } from '../helpers/maildir.ts';
import { createTestDatabase, type TestDatabase } from '../helpers/postgres.ts';
import { query } from '../helpers/query.ts';
import { getJson } from '../helpers/running-service.ts';
import { disposeService, startServiceProcess, type ServiceProcess } from '../helpers/service-process.ts';
import { makeTempFolder, type TempFolder } from '../helpers/temp-folder.ts';
import { waitUntil } from '../helpers/wait-until.ts';

let temp: TempFolder;
let database: TestDatabase;
beforeEach(async () => {
  [temp, database] = await Promise.all([makeTempFolder(), createTestDatabase()]);
});
afterEach(async () => {
  await database.drop();
  await temp.remove();
});

interface EventJson {
  readonly type: string;
  readonly historical: boolean;
}

/** Waits for `count` received emails in the feed. Returns for each whether it is historical. */
async function readReceived(service: ServiceProcess, count: number): Promise<readonly boolean[]> {
  let events: readonly EventJson[] = [];
  await waitUntil('the feed has them', async () => {
    ({ events } = await getJson<{ events: EventJson[] }>(service, '/api/events?type=email.received'));
    return events.length >= count;
  });
  return events.map(({ historical }) => historical);
}

it('is marked when it is imported, by a process of its own', async () => {
  await writeFile(path.join(temp.path, 'old.eml'), mail());
  const imported = await runCommandInProcess(['import', path.join(temp.path, 'old.eml')], {
    dataDir: temp.path,
    env: { DATABASE_URL: database.connectionString, MAIL_FROM: 'Sales <sales@example.com>' },
  });
  expect(imported).toMatchObject({ exitCode: 0, stderr: '' });
  const service = await startServiceProcess({ env: { DATABASE_URL: database.connectionString } });
  try {
    expect(await readReceived(service, 1)).toEqual([true]);
  } finally {
    await disposeService(service);
  }
});

describe.skipIf(skipWithoutMailServers())('from a mailbox', () => {
  it('is marked until the mailbox has been read for the first time', async () => {
    const dovecot = await startDovecot();
    await fillMaildir(dovecot, 'alice', null, [mail(), mail(), mail()]);
    const service = await startServiceProcess({
      env: {
        DATABASE_URL: database.connectionString,
        IMAP_URL: dovecot.urlOf('alice'),
        IMAP_POLL_MS: '500',
      },
    });
    try {
      expect(await readReceived(service, 3)).toEqual([true, true, true]);
      await waitUntil('the first reading is over', async () => {
        const rows = await query(
          database.connectionString,
          `select from mailboxes where path = 'INBOX' and last_success_at is not null`,
        );
        return rows.length > 0;
      });
      await fillMaildir(dovecot, 'alice', null, [mail()]);
      expect(await readReceived(service, 4)).toEqual([true, true, true, false]);
      const [past, present] = await Promise.all(
        [true, false].map((historical) =>
          getJson<{ events: EventJson[] }>(
            service,
            `/api/events?type=email.received&historical=${historical}`,
          ),
        ),
      );
      expect(past!.events.map(({ historical }) => historical)).toEqual([true, true, true]);
      expect(present!.events.map(({ historical }) => historical)).toEqual([false]);
    } finally {
      await disposeService(service);
      await dovecot.stop();
    }
  });
});
