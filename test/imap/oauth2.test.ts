/** Logging in to a real Dovecot with OAuth2: it asks the same authorization server if a token is valid. */
import type { Pool } from 'pg';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest';
import { parseImapUrl } from '../../src/connectors/imap/imap-url.ts';
import { createImapSource } from '../../src/connectors/imap/mailbox-source.ts';
import { createAccessTokens, type OAuth2Tokens } from '../../src/connectors/oauth2/access-tokens.ts';
import { createTokenStore } from '../../src/areas/accounts/oauth2-tokens.ts';
import type { MailboxSource } from '../../src/areas/mailboxes/mailbox-ports.ts';
import { startDovecot, type DovecotServer } from '../helpers/dovecot-server.ts';
import { failureOf, NEVER } from '../helpers/imap-sessions.ts';
import { skipWithoutMailServers } from '../helpers/mail-servers.ts';
import { createTestDatabase, type TestDatabase } from '../helpers/postgres.ts';
import { silentLogger } from '../helpers/silent-logger.ts';
import { createTestPool } from '../helpers/test-pool.ts';
import { startTokenServer, type TokenServer } from '../helpers/token-server.ts';

describe.skipIf(skipWithoutMailServers()).each(['xoauth2', 'oauthbearer'])('IMAP with %s', (mechanism) => {
  let dovecot: DovecotServer;
  let authorization: TokenServer;
  let database: TestDatabase;
  let pool: Pool;
  let tokens: OAuth2Tokens;
  let source: MailboxSource;
  let next = 0;

  beforeAll(async () => {
    database = await createTestDatabase();
    pool = createTestPool(database, 5);
    authorization = await startTokenServer();
    dovecot = await startDovecot({
      settings: `
auth_mechanisms = plain ${mechanism}
passdb {
  driver = oauth2
  mechanisms = ${mechanism}
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
  });
  beforeEach(() => {
    next += 1;
    const id = `account-${next}`;
    tokens = createAccessTokens(
      [
        {
          id,
          tokenUrl: authorization.url,
          clientId: 'the-client',
          clientSecret: 'the-client-secret',
          refreshToken: 'first-refresh-token',
          scope: null,
          ownGrant: null,
        },
      ],
      silentLogger,
    );
    tokens.keepIn(createTokenStore(pool));
    const url = `imap://alice@127.0.0.1:${dovecot.imapPort}?starttls=off`;
    source = createImapSource([{ ...parseImapUrl(url, true), id, sentPath: null }], tokens);
  });
  afterEach(async () => {
    vi.restoreAllMocks();
    authorization.misbehave = null;
    await tokens.close();
  });
  afterAll(async () => {
    await dovecot.stop();
    await authorization.close();
    await pool.end();
    await database.drop();
  });

  const connect = () => source.connect(`account-${next}`, NEVER);
  const failure = () => failureOf(connect());

  it('logs in with a token', async () => {
    const session = await connect();
    expect((await session.open('INBOX', null)).exists).toBe(0);
    await session.close();
  });

  it('gets another token when the server does not take the one it has', async () => {
    await (await connect()).close();
    // The age of a token is measured by the steady clock.
    const now = performance.now.bind(performance);
    vi.spyOn(performance, 'now').mockImplementation(() => now() + 60_000);
    authorization.revoke(authorization.given.at(-1)!);
    const count = authorization.given.length;
    await (await connect()).close();
    expect(authorization.given.length).toBe(count + 1);
  });

  it('says that an operator must act when the server takes no token', async () => {
    await tokens.get(`account-${next}`);
    authorization.revoke(authorization.given.at(-1)!);
    const error = await failure();
    expect(error.kind).toBe('credentials');
    expect(error.message).not.toContain(authorization.given.at(-1));
  });

  it('is away for now while the authorization server is', async () => {
    authorization.misbehave = (response) => response.writeHead(503).end();
    expect(await failure()).toMatchObject({ kind: 'connection' });
    expect(source.warningOf(`account-${next}`)).toContain('HTTP 503');
  });

  it('says that an operator must act when the consent is gone', async () => {
    authorization.misbehave = (response) =>
      response.writeHead(400, { 'content-type': 'application/json' }).end('{"error": "invalid_grant"}');
    expect(await failure()).toMatchObject({ kind: 'credentials' });
    expect(source.warningOf(`account-${next}`)).toContain('invalid_grant');
  });
});
