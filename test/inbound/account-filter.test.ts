/** The lists of one account: of a configured one, a formerly configured one, and one that never existed. */
import { writeFile } from 'node:fs/promises';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { mail, receive } from '../helpers/inbound-mail.ts';
import { createTestDatabase, type TestDatabase } from '../helpers/postgres.ts';
import { query } from '../helpers/query.ts';
import { disposeService, startServiceProcess, type ServiceProcess } from '../helpers/service-process.ts';
import { makeTempFolder } from '../helpers/temp-folder.ts';

const LISTS = [
  ['/api/threads', 'threads'],
  ['/api/emails', 'emails'],
  ['/api/quarantine', 'messages'],
] as const;

describe('the filter account_id', () => {
  let database: TestDatabase;
  let folder: Awaited<ReturnType<typeof makeTempFolder>>;
  let service: ServiceProcess;

  beforeAll(async () => {
    [database, folder] = await Promise.all([createTestDatabase(), makeTempFolder()]);
    const env = { DATABASE_URL: database.connectionString };
    const before = await startServiceProcess({ env });
    await receive(before, mail());
    await disposeService(before);
    const file = path.join(folder.path, 'accounts.json');
    await writeFile(file, JSON.stringify([{ id: 'sales', from: 'sales@example.com' }]));
    service = await startServiceProcess({ env: { ...env, ACCOUNTS_FILE: file } });
    // An account whose mailboxes another process reads.
    await query(database.connectionString, `insert into mailbox_accounts (account_id) values ('support')`);
  });
  afterAll(async () => {
    await disposeService(service);
    await folder.remove();
    await database.drop();
  });

  it.each(LISTS)('of %s is refused with an account that is none', async (target) => {
    const response = await service.request(`${target}?account_id=sale`);
    expect(response.status).toBe(400);
    expect(await response.json()).toMatchObject({
      code: 'unknown_account',
      error: expect.stringContaining('sale'),
    });
  });

  it.each(LISTS)('of %s knows what is configured, what was, and what others read', async (target, name) => {
    for (const id of ['sales', 'default', 'support']) {
      const response = await service.request(`${target}?account_id=${id}`);
      expect(response.status).toBe(200);
      const { [name]: found } = (await response.json()) as Record<string, readonly unknown[]>;
      expect(found).toHaveLength(id === 'default' && name !== 'messages' ? 1 : 0);
    }
  });
});
