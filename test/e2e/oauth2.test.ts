/** The whole service with an account that has only OAuth2 tokens: it reads a Dovecot, sends, and goes on after a restart. */
import { writeFile } from 'node:fs/promises';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startDovecot, type DovecotServer } from '../helpers/dovecot-server.ts';
import { skipWithoutMailServers } from '../helpers/mail-servers.ts';
import { createTestDatabase, type TestDatabase } from '../helpers/postgres.ts';
import { query } from '../helpers/query.ts';
import { startRealSmtpServer, type RealSmtpServer } from '../helpers/real-smtp-server.ts';
import { disposeService, startServiceProcess, type ServiceProcess } from '../helpers/service-process.ts';
import { startTokenServer, type TokenServer } from '../helpers/token-server.ts';
import { waitUntil } from '../helpers/wait-until.ts';

describe.skipIf(skipWithoutMailServers())('an account with OAuth2', () => {
  let dovecot: DovecotServer;
  let smtp: RealSmtpServer;
  let authorization: TokenServer;
  let database: TestDatabase;
  let service: ServiceProcess;
  const usedForSending: (string | undefined)[] = [];

  beforeAll(async () => {
    database = await createTestDatabase();
    authorization = await startTokenServer({ strict: true });
    smtp = await startRealSmtpServer({
      authMethods: ['XOAUTH2'],
      disabledCommands: ['STARTTLS'],
      allowInsecureAuth: true,
      onAuth: ({ accessToken }, _, callback) => {
        usedForSending.push(accessToken);
        callback(null, { user: 'alice' });
      },
    });
    dovecot = await startDovecot({
      settings: `
auth_mechanisms = plain xoauth2
passdb {
  driver = oauth2
  mechanisms = xoauth2
  args = {root}/oauth2.conf
}
`,
      files: {
        'oauth2.conf': `
introspection_url = ${authorization.introspectionUrl}
introspection_mode = get
username_attribute = username
active_attribute = active
active_value = true
`,
      },
    });
    await writeFile(
      path.join(dovecot.root, 'accounts.json'),
      JSON.stringify([
        {
          id: 'sales',
          from: 'Alice <alice@example.test>',
          imap_url: `imap://alice@127.0.0.1:${dovecot.imapPort}?starttls=off`,
          smtp_url: `smtp://alice@127.0.0.1:${smtp.port}?starttls=off`,
          oauth2: {
            token_url: authorization.url,
            client_id: 'the-client',
            client_secret: '${CLIENT_SECRET}',
            refresh_token: '${REFRESH_TOKEN}',
          },
        },
      ]),
    );
    service = await start();
  });
  afterAll(async () => {
    await disposeService(service);
    await dovecot.stop();
    await smtp.close();
    await authorization.close();
    await database.drop();
  });

  const start = (dataDir?: string) =>
    startServiceProcess({
      ...(dataDir === undefined ? {} : { dataDir }),
      env: {
        DATABASE_URL: database.connectionString,
        ACCOUNTS_FILE: path.join(dovecot.root, 'accounts.json'),
        CLIENT_SECRET: 'the-client-secret',
        REFRESH_TOKEN: 'first-refresh-token',
      },
    });

  async function arrives(subject: string): Promise<void> {
    await dovecot.withClient('alice', (client) =>
      client.append(
        'INBOX',
        `Message-ID: <${subject}@example.org>\r\nFrom: bob@example.org\r\nSubject: ${subject}\r\n\r\nHello\r\n`,
      ),
    );
    await waitUntil(`${subject} is recorded`, async () => {
      const rows = await query(
        database.connectionString,
        `select id from emails where subject = '${subject}'`,
      );
      return rows.length === 1;
    });
  }

  it('is read and sent from with one token', { tags: ['long'] }, async () => {
    await arrives('first');
    const response = await service.request('/api/send', {
      json: { to: 'bob@example.org', subject: 'Out', text_body: 'Text' },
    });
    expect(response.status, await response.clone().text()).toBe(200);
    expect(smtp.taken).toHaveLength(1);
    // Readiness logs in as well.
    expect(new Set(usedForSending)).toEqual(new Set([authorization.given[0]]));
    expect(authorization.requests).toHaveLength(1);
  });

  it(
    'goes on after a restart with what was kept, as the configured token is used up',
    { tags: ['long'] },
    async () => {
      expect(await service.stop()).toBe(0);
      expect(authorization.good.has('first-refresh-token')).toBe(false);
      service = await start(service.dataDir);
      await arrives('second');
      expect(authorization.requests).toHaveLength(1);
      const everything = service.log.join('\n');
      for (const secret of [
        ...authorization.given,
        ...authorization.good,
        'first-refresh-token',
        'the-client-secret',
      ]) {
        expect(everything).not.toContain(secret);
      }
    },
  );
});
