/** The owner of a mailbox consents at a real OpenID provider; Dovecot reads by the token, and mail is sent by it. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startDovecot, type DovecotServer } from '../helpers/dovecot-server.ts';
import { skipWithoutMailServers } from '../helpers/mail-servers.ts';
import { OPENID_CLIENT, startOpenidProvider, type OpenidProvider } from '../helpers/openid-provider.ts';
import { createTestDatabase, type TestDatabase } from '../helpers/postgres.ts';
import { query } from '../helpers/query.ts';
import { startRealSmtpServer, type RealSmtpServer } from '../helpers/real-smtp-server.ts';
import { getJson } from '../helpers/running-service.ts';
import { disposeService, startServiceProcess, type ServiceProcess } from '../helpers/service-process.ts';
import { waitUntil } from '../helpers/wait-until.ts';

/** The service stands behind a proxy under this name, which the tests play. */
const PUBLIC_URL = 'http://127.0.0.1:9/mail';
const CRM = 'https://crm.example.test';

interface ShownAccount {
  readonly state: string;
  readonly reconnect: boolean;
  readonly version: number;
  readonly warning: string | null;
}

describe.skipIf(skipWithoutMailServers())('a consent', { tags: ['long'] }, () => {
  let provider: OpenidProvider;
  let dovecot: DovecotServer;
  let smtp: RealSmtpServer;
  let database: TestDatabase;
  let service: ServiceProcess;
  const usedForSending: string[] = [];

  beforeAll(async () => {
    database = await createTestDatabase();
    provider = await startOpenidProvider(`${PUBLIC_URL}/oauth2/callback`);
    smtp = await startRealSmtpServer({
      authMethods: ['XOAUTH2'],
      disabledCommands: ['STARTTLS'],
      allowInsecureAuth: true,
      onAuth({ accessToken = '', username = '' }, _session, callback) {
        void (async () => {
          const response = await fetch(provider.introspectionUrl + accessToken);
          const found = (await response.json()) as { readonly active: boolean; readonly username: string };
          usedForSending.push(accessToken);
          if (found.active && found.username === username) callback(null, { user: username });
          else callback(new Error('Invalid token'));
        })();
      },
    });
    dovecot = await startDovecot({
      settings: `
auth_mechanisms = plain xoauth2
auth_cache_size = 0
passdb {
  driver = oauth2
  mechanisms = xoauth2
  args = {root}/oauth2.conf
}
`,
      files: {
        'oauth2.conf': `
introspection_url = ${provider.introspectionUrl}
introspection_mode = get
username_attribute = username
active_attribute = active
active_value = true
`,
      },
    });
    service = await startServiceProcess({
      env: {
        DATABASE_URL: database.connectionString,
        PUBLIC_URL,
        CONSENT_RETURN_ORIGINS: CRM,
      },
    });
  });
  afterAll(async () => {
    await disposeService(service);
    await dovecot.stop();
    await smtp.close();
    await provider.close();
    await database.drop();
  });

  const post = (path: string, json: object = {}) => service.request(path, { json });
  const account = (id: string) => getJson<ShownAccount>(service, `/api/accounts/${id}`);
  const create = async (id: string, user: string) => {
    const response = await post('/api/accounts', {
      id,
      from: `${user}@example.test`,
      imap_url: `imap://${user}@127.0.0.1:${dovecot.imapPort}?starttls=off`,
      smtp_url: `smtp://${user}@127.0.0.1:${smtp.port}?starttls=off`,
      oauth2: {
        issuer: provider.issuer,
        client_id: OPENID_CLIENT.id,
        client_secret: OPENID_CLIENT.secret,
      },
    });
    expect(response.status, await response.clone().text()).toBe(201);
  };
  const ask = async (id: string, json: object = {}): Promise<string> => {
    const response = await post(`/api/accounts/${id}/consent`, json);
    expect(response.status, await response.clone().text()).toBe(200);
    return ((await response.json()) as { url: string }).url;
  };
  /** As a browser comes back from the provider, without a secret. */
  const comeBack = (url: URL): Promise<Response> => {
    expect(url.href).toMatch(new RegExp(`^${PUBLIC_URL}/oauth2/callback\\?`));
    return fetch(`${service.url}/oauth2/callback${url.search}`, {
      redirect: 'manual',
      headers: { 'accept-language': 'en' },
    });
  };
  const send = (from: string) =>
    post('/api/send', { account_id: from, to: 'bob@example.org', subject: 'Out', text_body: 'Text' });

  it('is asked for: without it nothing is sent or read, and the service is ready', async () => {
    await create('alice', 'alice');
    expect(await account('alice')).toMatchObject({ state: 'unavailable', reconnect: true });
    expect((await send('alice')).status).toBe(503);
    expect((await service.request('/api/health/ready')).status).toBe(200);
  });

  it('of somebody else, or that is denied, changes nothing', async () => {
    const other = await comeBack(await provider.consent(await ask('alice'), 'bob'));
    expect([other.status, await other.text()]).toEqual([403, expect.stringContaining('Another mailbox')]);
    const denied = await comeBack(await provider.consent(await ask('alice'), 'alice', 'deny'));
    expect([denied.status, await denied.text()]).toEqual([200, expect.stringContaining('No access')]);
    expect(await account('alice')).toMatchObject({ state: 'unavailable', reconnect: true });
  });

  it('is good for one use and for the newest link, and only with the state that was given out', async () => {
    const older = await ask('alice');
    const newer = await ask('alice');
    expect((await comeBack(await provider.consent(older, 'alice'))).status).toBe(404);
    const url = await provider.consent(newer, 'alice');
    const forged = new URL(url);
    forged.searchParams.set('state', 'x'.repeat(43));
    expect((await comeBack(forged)).status).toBe(404);
    const done = await comeBack(url);
    expect([done.status, await done.text()]).toEqual([200, expect.stringContaining('Access granted')]);
    expect((await comeBack(url)).status).toBe(404);
  });

  it('lets mail be read and sent at once', async () => {
    await waitUntil('the account works', async () => (await account('alice')).state === 'active');
    expect(await account('alice')).toMatchObject({ reconnect: false });
    const sent = await send('alice');
    expect(sent.status, await sent.clone().text()).toBe(200);
    expect(usedForSending).not.toEqual([]);
    await dovecot.withClient('alice', (client) =>
      client.append(
        'INBOX',
        'Message-ID: <in@example.org>\r\nFrom: bob@example.org\r\nSubject: In\r\n\r\nHello\r\n',
      ),
    );
    await waitUntil('it is recorded', async () => {
      const rows = await query(database.connectionString, `select id from emails where subject = 'In'`);
      return rows.length === 1;
    });
  });

  it('that is withdrawn is reported at once, and can be given again', async () => {
    await provider.revokeAll();
    await dovecot.kill();
    await dovecot.start();
    await waitUntil('it has to be given again', async () => (await account('alice')).reconnect);
    // Events are numbered a moment after they are written.
    await waitUntil('the event is in the feed', async () => {
      const { events } = await getJson<{ events: { type: string; data: { kind?: string } }[] }>(
        service,
        '/api/events?limit=500',
      );
      return events.some(({ type, data }) => type === 'account.failing' && data.kind === 'credentials');
    });
    const answer = await comeBack(await provider.consent(await ask('alice'), 'alice'));
    expect(answer.status).toBe(200);
    await waitUntil('it works again', async () => !(await account('alice')).reconnect);
    expect((await send('alice')).status).toBe(200);
  });

  it('sends its owner back to an application that is known, and to no other', async () => {
    await create('bob', 'bob');
    for (const url of [
      'https://evil.example.test/',
      'https://crm.example.test:444/',
      'javascript:alert(1)',
      `${CRM}@evil.test`,
    ]) {
      const refused = await post('/api/accounts/bob/consent', { return_url: url });
      expect([url, refused.status]).toEqual([url, 400]);
    }
    const link = await ask('bob', { return_url: `${CRM}/mailbox?tab=1` });
    const answer = await comeBack(await provider.consent(link, 'bob'));
    expect([answer.status, answer.headers.get('location')]).toEqual([
      303,
      `${CRM}/mailbox?tab=1&account_id=bob&consent=given`,
    ]);
  });

  it('counts only for the servers and the client for which it was asked', async () => {
    await create('moved', 'alice');
    const url = await provider.consent(await ask('moved'), 'alice');
    const changed = await service.request('/api/accounts/moved', {
      method: 'PATCH',
      json: {
        smtp_url: 'smtp://alice@smtp.elsewhere.test',
        oauth2: {
          issuer: provider.issuer,
          client_id: OPENID_CLIENT.id,
          client_secret: OPENID_CLIENT.secret,
        },
      },
      headers: { 'if-match': `"${(await account('moved')).version}"` },
    });
    expect(changed.status, await changed.clone().text()).toBe(200);
    expect((await comeBack(url)).status).toBe(409);
    expect(await account('moved')).toMatchObject({ state: 'unavailable', reconnect: true });
  });

  it('is asked for by nobody for an account of the configuration, or without OAuth2', async () => {
    const codeOf = async (answer: Promise<Response>) =>
      ((await (await answer).json()) as { code: string }).code;
    expect(await codeOf(post('/api/accounts/default/consent'))).toBe('account_declared');
    expect(await codeOf(post('/api/accounts/nobody/consent'))).toBe('account_not_found');
    await post('/api/accounts', { id: 'plain', from: 'plain@example.test' });
    expect(await codeOf(post('/api/accounts/plain/consent'))).toBe('consent_unavailable');
  });

  it('is asked for later when the provider can not be reached, and takes settings as they are shown', async () => {
    const made = await post('/api/accounts', {
      id: 'away',
      from: 'away@example.test',
      imap_url: `imap://away@127.0.0.1:${dovecot.imapPort}?starttls=off`,
      oauth2: {
        issuer: 'http://127.0.0.1:9',
        client_id: 'c',
        client_secret: null,
        refresh_token: null,
        grant: null,
      },
    });
    expect(made.status, await made.clone().text()).toBe(201);
    const answer = await post('/api/accounts/away/consent');
    expect([answer.status, answer.headers.get('retry-after')]).toEqual([503, expect.any(String)]);
    expect(await answer.json()).toMatchObject({ code: 'provider_unavailable' });
  });

  it('leaves no token in the database or the log', async () => {
    const rows = await query(
      database.connectionString,
      `select coalesce(string_agg(t::text, ' '), '') as text from (select a::text from accounts a union all
        select c::text from account_consents c union all select o::text from oauth2_tokens o) t`,
    );
    const everything = `${String(rows[0]?.['text'])}${service.log.join('\n')}`;
    for (const secret of [...usedForSending, OPENID_CLIENT.secret]) expect(everything).not.toContain(secret);
  });
});
