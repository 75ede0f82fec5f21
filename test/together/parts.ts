/** The running parts: two services and two mailbox readers on one database, a mail server, and a command beside them. */
import { mkdir, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type pg from 'pg';
import type { Logger } from '../../src/platform/base/basics.ts';
import { loadConfig } from '../../src/config/config.ts';
import { openData, type OpenData } from '../../src/service/open-data.ts';
import { startService, type Service } from '../../src/service/service.ts';
import { startMailboxNode, type MailboxNode } from '../helpers/mailbox-node.ts';
import { MemoryMailServer, type MemoryMailbox } from '../helpers/memory-mail-server.ts';
import type { TestDatabase } from '../helpers/postgres.ts';
import { TEST_SECRET } from '../helpers/service-process.ts';
import { silentLogger } from '../helpers/silent-logger.ts';
import { startSmtpSink, type SmtpSink } from '../helpers/smtp-sink.ts';
import { makeTempFolder, type TempFolder } from '../helpers/temp-folder.ts';
import { createTestPool } from '../helpers/test-pool.ts';

export const ACCOUNTS = ['default', 'other'] as const;
export type Account = (typeof ACCOUNTS)[number];

export interface Parts {
  /** Receives the errors from the logs. */
  readonly failures: string[];
  readonly folder: TempFolder;
  readonly pool: pg.Pool;
  readonly sink: SmtpSink;
  readonly services: readonly Service[];
  readonly data: OpenData;
  readonly boxes: ReadonlyMap<Account, { inbox: MemoryMailbox; sent: MemoryMailbox }>;
  readonly nodes: readonly MailboxNode[];
  /** Called for each message that the mail server takes, before it answers. */
  readonly taken: { tell: (raw: string) => void };
}

export async function startParts(database: TestDatabase): Promise<Parts> {
  const failures: string[] = [];
  const folder = await makeTempFolder();
  const pool = createTestPool(database, 4);
  const taken: Parts['taken'] = { tell: () => undefined };
  const sink = await startSmtpSink({}, ({ raw }) => taken.tell(raw.toString()));
  const log = (level: string) => (fields: object, message: string) => {
    const { err } = fields as { err?: unknown };
    failures.push(`${level}: ${message} ${JSON.stringify(fields)} ${err instanceof Error ? err.stack : ''}`);
  };
  const logger: Logger = { ...silentLogger, error: log('error') };
  const accountsFile = join(folder.path, 'accounts.json');
  await writeFile(
    accountsFile,
    JSON.stringify([
      { id: 'default', from: 'sales@example.com', smtp_url: sink.url },
      { id: 'other', from: 'help@example.com', smtp_url: sink.url, join_by_subject: { window_days: 30 } },
    ]),
  );
  const configOf = (name: string) =>
    loadConfig(
      {
        PORT: '0',
        API_SECRET: TEST_SECRET,
        DATA_DIR: join(folder.path, name),
        DATABASE_URL: database.connectionString,
        ACCOUNTS_FILE: accountsFile,
        DATABASE_POOL_SIZE: '6',
        WORK_POLL_MS: '50',
        LOOP_MAX_EMAILS: '0',
      },
      folder.path,
    );
  // Services on one database have the same files.
  await mkdir(join(folder.path, 'a', 'files'), { recursive: true });
  await mkdir(join(folder.path, 'b'));
  await symlink(join(folder.path, 'a', 'files'), join(folder.path, 'b', 'files'));
  const services = [await startService(configOf('a'), logger), await startService(configOf('b'), logger)];
  const data = await openData(configOf('a'), logger, new AbortController().signal);
  const mailServer = new MemoryMailServer();
  const boxes = new Map(ACCOUNTS.map((account) => [account, mailServer.addAccount(account)]));
  const nodes: MailboxNode[] = [];
  for (let index = 0; index < 2; index += 1) {
    nodes.push(
      await startMailboxNode({
        database: database.connectionString,
        source: mailServer,
        pollMs: 100,
        localParts: { default: 'sales', other: 'help' },
      }),
    );
  }
  return { failures, folder, pool, sink, services, data, boxes, nodes, taken };
}
