/** Postfix delivers by LMTP to the service, which is killed in between: every message is recorded once. */
import { createTransport } from 'nodemailer';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { mail, newId } from '../helpers/inbound-mail.ts';
import { skipWithoutMailServers, startMailServers, type MailServers } from '../helpers/mail-servers.ts';
import { createTestDatabase, type TestDatabase } from '../helpers/postgres.ts';
import { query } from '../helpers/query.ts';
import { disposeService, startServiceProcess, type ServiceProcess } from '../helpers/service-process.ts';

const MAILS = 200;

describe.skipIf(skipWithoutMailServers())('Postfix in front of the LMTP listener', () => {
  let database: TestDatabase;
  let servers: MailServers;
  let service: ServiceProcess;
  let port: string;

  const start = (listen: string, dataDir?: string) =>
    startServiceProcess({
      env: {
        DATABASE_URL: database.connectionString,
        MAIL_FROM: 'Bob <bob@example.test>',
        LMTP_LISTEN: `127.0.0.1:${listen}`,
      },
      ...(dataDir === undefined ? {} : { dataDir }),
    });

  beforeAll(async () => {
    database = await createTestDatabase();
    service = await start('0');
    const line = service.log.find((one) => one.includes('"protocol":"lmtp"')) ?? '';
    port = /"address":"127\.0\.0\.1:(\d+)"/.exec(line)?.[1] ?? '';
    servers = await startMailServers(`lmtp:inet:127.0.0.1:${port}`);
  });
  afterAll(async () => {
    await disposeService(service);
    await servers.stop();
    await database.drop();
  });

  const countRecorded = async () => {
    const [row] = await query(database.connectionString, 'select count(*)::int as count from emails', []);
    return Number(row?.count);
  };

  it('loses and doubles nothing when the service is killed in mid-delivery', async () => {
    const transport = createTransport({
      host: servers.host,
      port: servers.smtpPort,
      ignoreTLS: true,
      pool: true,
    });
    const ids = Array.from({ length: MAILS }, newId);
    await Promise.all(
      ids.map((messageId, index) =>
        transport.sendMail({
          envelope: { from: 'ada@customer.test', to: ['bob@example.test'] },
          // Some are too large for memory.
          raw: mail({
            messageId,
            to: 'bob@example.test',
            body: 'x'.repeat(index % 20 === 0 ? 400_000 : 100),
          }),
        }),
      ),
    );
    transport.close();
    for (const share of [0.2, 0.5]) {
      await expect.poll(countRecorded).toBeGreaterThan(MAILS * share);
      await service.kill();
      service = await start(port, service.dataDir);
    }
    await expect.poll(countRecorded, { interval: 500 }).toBe(MAILS);
    const rows = await query(
      database.connectionString,
      'select message_id, automatic is null as is_personal from emails',
      [],
    );
    expect(new Set(rows.map((row) => row.message_id))).toEqual(new Set(ids.map((id) => id.slice(1, -1))));
    expect(rows.every((row) => row.is_personal === true)).toBe(true);
  }, 240_000);
});
