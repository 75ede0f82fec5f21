/** Accounts that are created, changed and deleted while services run: two processes on one database, with real mail servers. */
import { chown, readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { generateKeyPairSync } from 'node:crypto';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { startDnsServer, type DnsServer } from '../helpers/dns-server.ts';
import { startDovecot, type DovecotServer } from '../helpers/dovecot-server.ts';
import { findMailOwner } from '../helpers/dovecot-files.ts';
import { runCommand } from '../helpers/command-process.ts';
import { mail } from '../helpers/inbound-mail.ts';
import { skipWithoutMailServers } from '../helpers/mail-servers.ts';
import { fillMaildir } from '../helpers/maildir.ts';
import { createTestDatabase, type TestDatabase } from '../helpers/postgres.ts';
import { query } from '../helpers/query.ts';
import {
  disposeService,
  startServiceProcess,
  TEST_SECRET,
  type ServiceProcess,
} from '../helpers/service-process.ts';
import { startSmtpSink, type SmtpSink } from '../helpers/smtp-sink.ts';
import { waitUntil } from '../helpers/wait-until.ts';

interface Answer {
  readonly status: number;
  readonly etag: string | null;
  readonly json: Record<string, unknown>;
  readonly text: string;
}

const KEY = 'secrets-key-of-a-test-0123456789';
const PASSWORD = 'a-password-that-no-answer-has';
/** Every process follows within this time; the machine of a test may be busy. */
const FOLLOWS_MS = 2_000;
const BUSY_MS = 1_000;

let database: TestDatabase;
let dns: DnsServer;
let own: SmtpSink;
let first: SmtpSink;
let second: SmtpSink;
let one: ServiceProcess;
let two: ServiceProcess;
const answers: string[] = [];

const env = () => ({
  DATABASE_URL: database.connectionString,
  SMTP_URL: own.url,
  MAIL_FROM: 'info@example.com',
});

/** A sink that wants a log-in. */
const startSink = () =>
  startSmtpSink({
    authOptional: false,
    disabledCommands: ['STARTTLS'],
    allowInsecureAuth: true,
    onAuth: ({ password }, _session, callback) =>
      password === PASSWORD ? callback(null, { user: 'sales' }) : callback(new Error('no')),
  });
const urlOf = ({ url }: SmtpSink) => url.replace('//', `//sales:${PASSWORD}@`);

beforeAll(async () => {
  [database, dns, own, first, second] = await Promise.all([
    createTestDatabase(),
    startDnsServer(),
    startSmtpSink(),
    startSink(),
    startSink(),
  ]);
  [one, two] = await Promise.all([
    startServiceProcess({
      env: { ...env(), SECRETS_KEY: KEY, NOTIFY_ADDRESS: 'ops@example.org', DNS_SERVERS: dns.address },
    }),
    startServiceProcess({
      env: { ...env(), SECRETS_KEY: KEY, NOTIFY_ADDRESS: 'ops@example.org', DNS_SERVERS: dns.address },
    }),
  ]);
});
afterAll(async () => {
  await Promise.all([one, two].map((service) => disposeService(service)));
  await Promise.all([own, first, second].map((sink) => sink.stop()));
  await Promise.all([database.drop(), dns.stop()]);
});
afterEach(async () => {
  await query(database.connectionString, 'delete from send_queue');
});

async function ask(
  service: ServiceProcess,
  method: string,
  target: string,
  json?: unknown,
  headers: Record<string, string> = {},
): Promise<Answer> {
  const response = await service.request(target, {
    method,
    headers,
    ...(json === undefined ? {} : { json }),
  });
  const text = await response.text();
  answers.push(text);
  return {
    status: response.status,
    etag: response.headers.get('etag'),
    json: JSON.parse(text) as Record<string, unknown>,
    text,
  };
}

const create = (id: string, fields: object = {}, target = '/api/accounts') =>
  ask(one, 'POST', target, { id, from: `${id}@example.com`, smtp_url: urlOf(first), ...fields });
const read = (id: string, service = one) => ask(service, 'GET', `/api/accounts/${id}`);
const change = (id: string, version: number, fields: object, service = one) =>
  ask(service, 'PATCH', `/api/accounts/${id}`, fields, { 'If-Match': `"${version}"` });
const send = (service: ServiceProcess, accountId: string, subject: string, headers = {}) =>
  ask(
    service,
    'POST',
    '/api/send',
    { account_id: accountId, to: 'ann@customer.test', subject, text_body: 'Hello' },
    headers,
  );
const codeOf = ({ status, json }: Answer) => [status, json['code']];
const has = ({ messages }: SmtpSink, subject: string) =>
  messages.some(({ raw }) => raw.includes(`Subject: ${subject}\r\n`));
const ASYNC = { Prefer: 'respond-async' };

describe('an account that was created', () => {
  it('sends at once, by its own server, and is recorded under its id', async () => {
    const made = await create('sales', { from: 'Sales <sales@example.com>', rate_per_day: 1000 });
    expect([made.status, made.etag]).toEqual([201, '"1"']);
    expect(made.json).toMatchObject({
      id: 'sales',
      declared: false,
      state: 'active',
      version: 1,
      from_address: { name: 'Sales', address: 'sales@example.com' },
      settings: { smtp_server: `${first.url}`, rate_per_day: 1000, imap_server: null, dkim: null },
    });
    const sent = await send(one, 'sales', 'At once');
    expect(sent.status).toBe(200);
    expect(has(first, 'At once')).toBe(true);
    expect(first.messages.at(-1)?.mailFrom).toBe('sales@example.com');
    const email = await ask(one, 'GET', `/api/emails/${String(sent.json['id'])}`);
    expect(email.json).toMatchObject({ account_id: 'sales', state: 'sent' });
  });

  it('is used by another process within two seconds', async () => {
    expect((await create('two')).status).toBe(201);
    const started = performance.now();
    await waitUntil(
      'the other process sends',
      async () => (await send(two, 'two', 'Elsewhere')).status === 200,
    );
    expect(performance.now() - started).toBeLessThan(FOLLOWS_MS + BUSY_MS);
    expect(has(first, 'Elsewhere')).toBe(true);
  });

  it('takes what the file takes, and names what is wrong', async () => {
    const wrong = async (fields: object) => {
      const { status, json } = await create('wrong', fields);
      return [status, json['code'], json['field'], json['details']];
    };
    expect(await wrong({ smtp_url: 'http://x.test' })).toEqual([
      400,
      'invalid_account',
      '/smtp_url',
      'must be an address that starts with smtp:// or smtps://',
    ]);
    expect(await wrong({ smtp_url: 'smtps://x.test?tls_ca=/etc/passwd' })).toEqual([
      400,
      'invalid_account',
      '/smtp_url',
      'tls_ca names a file, which only the configuration may',
    ]);
    expect(await wrong({ imap_url: 'imaps://u@x.test' })).toEqual([
      400,
      'invalid_account',
      '/imap_url',
      'it has no password',
    ]);
    expect(await wrong({ imap_since: '2026-01-01' })).toEqual([
      400,
      'invalid_account',
      '/imap_since',
      'has no effect without imap_url',
    ]);
    // A path would be read by the service.
    expect(await wrong({ dkim: { keys: { mail: '/etc/passwd' } } })).toEqual([
      400,
      'invalid_account',
      '/dkim',
      'the key of mail must be a private key in PEM',
    ]);
    expect((await wrong({ from: 'no address' })).slice(0, 3)).toEqual([400, 'invalid_account', '/from']);
    expect((await wrong({ smtp_ulr: 'x' })).slice(0, 2)).toEqual([400, 'unknown_field']);
    // No variable of the service's environment is put in.
    expect((await create('braces', { from: '"${API_SECRET}" <x@example.com>' })).json).toMatchObject({
      from_address: { name: '${API_SECRET}' },
    });
    expect((await read('wrong')).status).toBe(404);
  });

  it('signs with a key of its own', async () => {
    const { privateKey } = generateKeyPairSync('ed25519');
    const pem = privateKey.export({ type: 'pkcs8', format: 'pem' }).toString();
    const { status, json } = await create('signs', { dkim: { keys: { mail2026: pem } } });
    expect(status).toBe(201);
    expect(json['settings']).toMatchObject({ dkim: { domain: null, selectors: ['mail2026'] } });
    await send(one, 'signs', 'Signed');
    const raw =
      first.messages.find((message) => message.raw.includes('Subject: Signed'))?.raw.toString() ?? '';
    expect(raw).toMatch(/^DKIM-Signature: .*s=mail2026/ms);
  });

  it('has an id of its own', async () => {
    expect((await create('taken')).status).toBe(201);
    expect(codeOf(await create('taken'))).toEqual([409, 'account_exists']);
    expect(codeOf(await create('default'))).toEqual([409, 'account_declared']);
  });
});

describe('the servers of a mailbox', () => {
  it('are found by its address, in the form in which accounts take them', async () => {
    const { status, json } = await ask(
      one,
      'GET',
      '/api/accounts/settings?address=Ann%20%3Cann%40gmail.com%3E',
    );
    const candidates = json['candidates'] as Record<string, unknown>[];
    expect([status, json['address'], candidates.length]).toEqual([200, 'ann@gmail.com', 1]);
    const { log_in: logIn, smtp_url, imap_url, oauth2 } = candidates[0] ?? {};
    expect(logIn).toBe('consent');
    const ofClient = { ...(oauth2 as object), client_id: 'crm', client_secret: 'of-the-client' };
    const made = await create('found', { smtp_url, imap_url, oauth2: ofClient });
    expect([made.status, made.json['reconnect']]).toEqual([201, true]);
    await ask(one, 'DELETE', '/api/accounts/found');
    // A name of this machine: nothing is asked.
    expect(await ask(one, 'GET', '/api/accounts/settings?address=ann@localhost')).toMatchObject({
      json: { candidates: [] },
    });
    expect(codeOf(await ask(one, 'GET', '/api/accounts/settings'))).toEqual([400, 'invalid_request']);
    expect(codeOf(await ask(one, 'GET', '/api/accounts/settings?address=ann'))).toEqual([
      400,
      'invalid_address',
    ]);
    expect(codeOf(await create('settings'))).toEqual([400, 'invalid_account']);
  });

  it('are printed by a command', async () => {
    const { stdout, exitCode } = await runCommand(['accounts', 'find', 'ann@gmail.com'], {
      dataDir: one.dataDir,
      env: { EMAIL_WORKER_URL: one.url, EMAIL_WORKER_KEY: TEST_SECRET },
    });
    expect([exitCode, stdout]).toEqual([
      0,
      expect.stringContaining('imaps://ann%40gmail.com@imap.gmail.com:993'),
    ]);
  });
});

describe('a check of an account', () => {
  const check = (fields: object) =>
    ask(one, 'POST', '/api/accounts/check', { id: 'tried', from: 'a@example.com', ...fields });
  const findingsOf = ({ json }: Answer) =>
    json['findings'] as { step: string; grade: string; text: string; advice: string | null }[];
  const gradesOf = (answer: Answer) => [
    answer.json['ok'],
    findingsOf(answer).flatMap(({ step, grade }) => (step === 'dns' ? [] : [grade])),
  ];
  beforeAll(() => {
    dns.others.set('MX example.com', ['10 mx.example.com']);
    dns.records.set('example.com', [['v=spf1 mx -all']]);
    dns.records.set('_dmarc.example.com', [['v=DMARC1; p=reject']]);
  });

  it('examines the DNS of the address as the doctor does', async () => {
    const { privateKey } = generateKeyPairSync('ed25519');
    const pem = privateKey.export({ type: 'pkcs8', format: 'pem' }).toString();
    const ofDns = async (from: string) => {
      const answer = await check({ from, smtp_url: urlOf(first), dkim: { keys: { mail2026: pem } } });
      const texts = findingsOf(answer).filter(({ step }) => step === 'dns');
      return { ok: answer.json['ok'], texts };
    };
    const lacking = await ofDns('a@example.com');
    // Its servers work.
    expect(lacking.ok).toBe(true);
    expect(lacking.texts.map(({ grade, text }) => `${grade} ${text}`)).toEqual([
      'ok example.com takes mail at mx.example.com',
      expect.stringMatching(
        /^problem mail2026\._domainkey\.example\.com: there is no TXT record; publish "v=DKIM1; k=ed25519; p=/,
      ),
      'ok example.com: SPF: v=spf1 mx -all',
      'ok _dmarc.example.com: DMARC: v=DMARC1; p=reject',
    ]);
    expect(lacking.texts[1]?.advice).toBe('Change the DNS record of the domain.');
    const published = /publish "([^"]+)"/.exec(lacking.texts[1]?.text ?? '')?.[1] ?? '';
    dns.records.set('mail2026._domainkey.example.com', [[published]]);
    expect((await ofDns('a@example.com')).texts.map(({ grade }) => grade)).toEqual(['ok', 'ok', 'ok', 'ok']);
    expect((await ofDns('a@nothing.test')).texts.map(({ grade }) => grade)).toEqual([
      'problem',
      'problem',
      'problem',
      'problem',
    ]);
  });

  it('says what works and what does not, and keeps nothing', async () => {
    expect(gradesOf(await check({ smtp_url: urlOf(first) }))).toEqual([true, ['ok']]);
    const wrong = await check({ smtp_url: first.url.replace('//', '//sales:wrong@') });
    expect(gradesOf(wrong)).toEqual([false, ['problem']]);
    expect(wrong.text).toContain('Correct user and password in smtp_url');
    const quoting = await startSmtpSink({
      authOptional: false,
      disabledCommands: ['STARTTLS'],
      allowInsecureAuth: true,
      onAuth: ({ password }, _session, callback) => callback(new Error(`${password} is wrong`)),
    });
    const quoted = await check({ smtp_url: quoting.url.replace('//', `//sales:${PASSWORD}@`) });
    await quoting.stop();
    expect(quoted.text).toContain('is wrong');
    const away = await check({ smtp_url: 'smtp://127.0.0.1:1', imap_url: 'imap://u:p@127.0.0.1:1' });
    expect(gradesOf(away)).toEqual([false, ['problem', 'problem']]);
    expect(gradesOf(await check({}))).toEqual([true, ['warning']]);
    expect(codeOf(await check({ imap_url: 'imap://x.test' }))).toEqual([400, 'invalid_account']);
    expect((await read('tried')).status).toBe(404);
  });
});

describe('a change of an account', () => {
  it('moves the next send, here and elsewhere, and keeps what is absent', async () => {
    await create('moves', { rate_per_day: 50 });
    expect((await send(one, 'moves', 'Before')).status).toBe(200);
    const { status, json, etag } = await change('moves', 1, { smtp_url: urlOf(second) });
    expect([status, etag]).toEqual([200, '"2"']);
    expect(json['settings']).toMatchObject({ smtp_server: second.url, rate_per_day: 50 });
    expect((await send(one, 'moves', 'After')).status).toBe(200);
    expect([has(first, 'Before'), has(first, 'After'), has(second, 'After')]).toEqual([true, false, true]);
    await waitUntil(
      'the other process follows',
      async () => (await read('moves', two)).json['version'] === 2,
      FOLLOWS_MS + BUSY_MS,
    );
    await send(two, 'moves', 'After, elsewhere');
    expect(has(second, 'After, elsewhere')).toBe(true);
    expect((await change('moves', 2, { rate_per_day: null })).json['settings']).toMatchObject({
      rate_per_day: null,
      smtp_server: second.url,
    });
    expect((await send(one, 'moves', 'With the same password')).status).toBe(200);
  });

  it('ends nothing that is under way', async () => {
    let release: () => void = () => {};
    const gate = new Promise<void>((resolve) => {
      release = resolve;
    });
    let begun = false;
    const slow = await startSmtpSink({
      onData(stream, _session, callback) {
        stream.resume();
        stream.on('end', () => {
          begun = true;
          void gate.then(() => callback(null));
        });
      },
    });
    await create('slow', { smtp_url: slow.url });
    const sending = send(one, 'slow', 'Under way');
    await waitUntil('the message is at the server', () => begun);
    expect((await change('slow', 1, { smtp_url: urlOf(second) })).status).toBe(200);
    expect((await send(one, 'slow', 'Next')).status).toBe(200);
    release();
    expect((await sending).status).toBe(200);
    expect([has(second, 'Under way'), has(second, 'Next')]).toEqual([false, true]);
    await slow.stop();
  });

  it('needs the version that was read', async () => {
    await create('versions');
    expect(codeOf(await ask(one, 'PATCH', '/api/accounts/versions', { rate_per_day: 1 }))).toEqual([
      428,
      'version_required',
    ]);
    expect((await change('versions', 1, { rate_per_day: 1 })).status).toBe(200);
    const late = await change('versions', 1, { rate_per_day: 2 });
    expect([...codeOf(late), late.json['details']]).toEqual([412, 'account_changed', '2']);
    expect((await read('versions')).etag).toBe('"2"');
    expect((await change('versions', 2, { imap_url: 'imap://x.test' })).status).toBe(400);
    expect((await read('versions')).etag).toBe('"2"');
  });

  it('is refused for an account of the configuration, which is listed', async () => {
    const { json } = await ask(one, 'GET', '/api/accounts');
    const [declared] = json['accounts'] as Record<string, unknown>[];
    expect(declared).toMatchObject({
      id: 'default',
      declared: true,
      state: 'active',
      version: 1,
      settings: { from: 'info@example.com', smtp_server: own.url },
    });
    const refused = [409, 'account_declared'];
    expect(codeOf(await change('default', 1, { rate_per_day: 1 }))).toEqual(refused);
    expect(codeOf(await ask(one, 'DELETE', '/api/accounts/default'))).toEqual(refused);
    expect(codeOf(await ask(one, 'POST', '/api/accounts/default/pause'))).toEqual(refused);
    expect(codeOf(await ask(one, 'POST', '/api/accounts/default/resume'))).toEqual(refused);
  });
});

describe('a paused account', () => {
  it('sends nothing until it is resumed: its queue waits, and no caller does', async () => {
    await create('rests');
    expect((await ask(two, 'GET', '/api/accounts')).status).toBe(200);
    const paused = await ask(one, 'POST', '/api/accounts/rests/pause');
    expect([paused.status, paused.json['state'], paused.json['version']]).toEqual([200, 'paused', 2]);
    expect((await ask(one, 'POST', '/api/accounts/rests/pause')).json['version']).toBe(2);
    expect(codeOf(await send(one, 'rests', 'Refused'))).toEqual([409, 'account_paused']);
    await waitUntil(
      'the other process follows',
      async () => (await read('rests', two)).json['state'] === 'paused',
    );
    const queued = await send(one, 'rests', 'Waits', ASYNC);
    expect(queued.status).toBe(202);
    // Another account's send passes it.
    await ask(
      one,
      'POST',
      '/api/send',
      { to: 'ann@customer.test', subject: 'Passes', text_body: 'x' },
      ASYNC,
    );
    await waitUntil('the other one is sent', () => has(own, 'Passes'));
    expect(has(first, 'Waits')).toBe(false);
    const refused = await ask(one, 'DELETE', '/api/accounts/rests');
    expect(codeOf(refused)).toEqual([409, 'account_has_sends']);
    expect(refused.json['message']).toBe('Emails of the account rests still wait to be sent: 1.');
    expect((await ask(two, 'POST', '/api/accounts/rests/resume')).json['state']).toBe('active');
    await waitUntil('it is sent', () => has(first, 'Waits'));
  });
});

describe('a deleted account', () => {
  it('is used no more, and its mail stays; its id can be used again only by a request that adopts that mail', async () => {
    await create('leaves');
    const { json } = await send(one, 'leaves', 'Stays');
    await query(
      database.connectionString,
      `insert into oauth2_tokens (account_id, key_id, sealed) values ('leaves', decode(repeat('00', 16), 'hex'), 'x')`,
    );
    expect(
      codeOf(await ask(one, 'DELETE', '/api/accounts/leaves', undefined, { 'If-Match': '"9"' })),
    ).toEqual([412, 'account_changed']);
    const gone = await ask(one, 'DELETE', '/api/accounts/leaves', undefined, { 'If-Match': '"1"' });
    expect([gone.status, gone.json['id']]).toEqual([200, 'leaves']);
    expect(
      await query(database.connectionString, `select from oauth2_tokens where account_id = 'leaves'`),
    ).toEqual([]);
    expect(codeOf(await read('leaves'))).toEqual([404, 'account_not_found']);
    expect(codeOf(await send(one, 'leaves', 'Refused'))).toEqual([400, 'unknown_account']);
    await waitUntil(
      'the other process follows',
      async () => (await send(two, 'leaves', 'Refused')).status === 400,
      FOLLOWS_MS + BUSY_MS,
    );
    expect((await ask(one, 'GET', `/api/emails/${String(json['id'])}`)).json).toMatchObject({
      subject: 'Stays',
    });
    expect(codeOf(await create('leaves'))).toEqual([409, 'account_has_mail']);
    expect((await create('leaves', {}, '/api/accounts?adopt_mail=true')).status).toBe(201);
    expect(
      await query(database.connectionString, "select count(*)::int from accounts where id = 'leaves'"),
    ).toEqual([{ count: 1 }]);
  });
});

describe('a key that is limited to accounts', () => {
  it('sees and changes only these, and creates none', async () => {
    await create('mine');
    await create('theirs');
    const { json } = await ask(one, 'POST', '/api/keys', {
      name: 'Limited',
      rights: ['admin'],
      account_ids: ['mine'],
    });
    const headers = { authorization: `Bearer ${String(json['secret'])}` };
    const by = (method: string, target: string, body?: object) => ask(one, method, target, body, headers);
    const { json: listed } = await by('GET', '/api/accounts');
    expect((listed['accounts'] as { id: string }[]).map(({ id }) => id)).toEqual(['mine']);
    expect((await by('GET', '/api/accounts/mine')).status).toBe(200);
    for (const [method, target] of [
      ['GET', ''],
      ['DELETE', ''],
      ['POST', '/pause'],
      ['POST', '/resume'],
      ['POST', '/resync'],
    ] as const)
      expect(codeOf(await by(method, `/api/accounts/theirs${target}`))).toEqual([404, 'account_not_found']);
    expect(codeOf(await by('POST', '/api/accounts', { id: 'new', from: 'new@example.com' }))).toEqual([
      403,
      'forbidden_account',
    ]);
    expect((await by('POST', '/api/accounts/mine/pause')).json['state']).toBe('paused');
  });
});

describe('the secrets of an account', () => {
  it('are in no answer, no line of a log, no row and no entry of the audit log', async () => {
    const { privateKey } = generateKeyPairSync('ed25519');
    const pem = privateKey.export({ type: 'pkcs8', format: 'pem' }).toString();
    const oauth2 = {
      token_url: 'https://login.example.test/token',
      client_id: 'client',
      client_secret: 'a-client-secret-that-no-answer-has',
      refresh_token: 'a-refresh-token-that-no-answer-has',
    };
    await create('keeps', {
      smtp_url: `smtp://user-that-no-answer-has:${PASSWORD}@127.0.0.1:1`,
      imap_url: 'imaps://user@127.0.0.1:1',
      oauth2,
      dkim: { keys: { mail: pem } },
    });
    expect((await send(one, 'keeps', 'Fails')).status).toBe(500);
    await change('keeps', 1, { rate_per_day: 5 });
    await ask(one, 'GET', '/api/accounts');
    await ask(one, 'GET', '/api/audit?limit=200');
    const rows = await query(
      database.connectionString,
      `select (select string_agg(a::text, '') from accounts a) || (select string_agg(l::text, '') from audit_log l) as text`,
    );
    const all = [...answers, ...one.log, ...two.log, String(rows[0]?.['text'])].join('\n');
    for (const secret of [
      PASSWORD,
      oauth2.client_secret,
      oauth2.refresh_token,
      'user-that-no-answer-has',
      pem.split('\n')[1] ?? '',
      KEY,
    ])
      expect(all.includes(secret)).toBe(false);
    for (const act of ['account.created', 'account.changed', 'account.paused', 'account.deleted'])
      expect(all).toContain(act);
  });

  it('are opened only by the right key: without it a process refuses the account, and goes on', async () => {
    await create('sealed');
    const stranger = await startServiceProcess({ env: { ...env(), SECRETS_KEY: 'another-key-0123456789' } });
    try {
      const { json } = await read('sealed', stranger);
      expect(json).toMatchObject({
        state: 'unavailable',
        from_address: { address: 'sealed@example.com' },
        warning: 'its secrets are sealed with a key that this process does not have: see SECRETS_KEY',
      });
      expect(codeOf(await send(stranger, 'sealed', 'Refused'))).toEqual([503, 'account_unavailable']);
      expect(codeOf(await send(stranger, 'sealed', 'Refused', ASYNC))).toEqual([503, 'account_unavailable']);
      const missing = [503, 'secrets_key_missing'];
      expect(codeOf(await change('sealed', 1, { rate_per_day: 1 }, stranger))).toEqual(missing);
      const other = { id: 'other', from: 'other@example.com' };
      expect(codeOf(await ask(stranger, 'POST', '/api/accounts', other))).toEqual(missing);
      const ready = await ask(stranger, 'GET', '/api/health/ready');
      expect(ready.status).toBe(200);
      expect(ready.json['checks']).toMatchObject({ accounts: 'away', smtp: 'ok' });
      expect(stranger.log.join('\n')).toContain('an account can not be used');
      expect(
        (await ask(stranger, 'POST', '/api/send', { to: 'a@b.test', subject: 's', text_body: 'x' })).status,
      ).toBe(200);
      expect((await send(one, 'sealed', 'Still works')).status).toBe(200);
    } finally {
      await disposeService(stranger);
    }
  });
});

describe('an account that is deleted with its mail', () => {
  it('leaves none of its emails and drafts, and all of the others', async () => {
    await create('erased');
    for (let count = 0; count < 3; count += 1) await send(one, 'erased', `Erased ${count}`);
    await create('stays');
    await send(one, 'stays', 'Kept');
    await ask(one, 'POST', '/api/drafts', { message: { account_id: 'erased', subject: 'Draft' } });
    const counts = async () => {
      const [row] = await query(
        database.connectionString,
        `select (select count(*) from emails where account_id = 'erased')::int as emails,
          (select count(*) from drafts where account_id = 'erased')::int as drafts,
          (select count(*) from emails where account_id = 'stays')::int as kept`,
      );
      return row;
    };
    const dry = await ask(one, 'DELETE', '/api/accounts/erased?erase=true&dry_run=true');
    expect([dry.status, dry.json]).toEqual([
      200,
      { id: 'erased', deleted_at: null, emails: 3, erasure_id: null },
    ]);
    expect((await read('erased')).status).toBe(200);
    expect(await counts()).toEqual({ emails: 3, drafts: 1, kept: 1 });
    const deleted = await ask(one, 'DELETE', '/api/accounts/erased?erase=true');
    expect(deleted).toMatchObject({ status: 200, json: { emails: 3 } });
    // Its mail would be erased with that of the old one.
    const tooEarly = await create('erased', {}, '/api/accounts?adopt_mail=true');
    expect(codeOf(tooEarly)).toEqual([409, 'account_has_mail']);
    expect(tooEarly.json['details']).toContain('being erased');
    const target = `/api/erasures/${String(deleted.json['erasure_id'])}`;
    await waitUntil('it is erased', async () => (await ask(two, 'GET', target)).json['state'] === 'done');
    expect((await ask(two, 'GET', target)).json).toMatchObject({
      account_id: 'erased',
      customer_id: null,
      requested_by: 'secret 1',
      erased: { emails: 3, drafts: 1 },
    });
    expect(await counts()).toEqual({ emails: 0, drafts: 0, kept: 1 });
    const { events } = (await ask(one, 'GET', '/api/events?type=email.sent&limit=1000')).json;
    expect(JSON.stringify(events)).not.toContain('Erased');
    const { entries } = (await ask(one, 'GET', '/api/audit?act=account.deleted')).json;
    expect(JSON.stringify((entries as object[])[0])).toContain(String(deleted.json['erasure_id']));
    // Nothing is recorded under the id any more.
    expect((await create('erased')).status).toBe(201);
    const { stdout, exitCode } = await runCommand(['accounts', 'remove', 'erased', '--erase'], {
      dataDir: one.dataDir,
      env: { EMAIL_WORKER_URL: one.url, EMAIL_WORKER_KEY: TEST_SECRET },
    });
    expect([exitCode, stdout]).toEqual([0, 'erased is deleted; its mail is being erased\n']);
  });
});

describe.skipIf(skipWithoutMailServers())('the mailbox of an account', () => {
  let dovecot: DovecotServer;
  beforeAll(async () => {
    dovecot = await startDovecot();
  });
  afterAll(() => dovecot.stop());

  const subjects = async () =>
    (
      await query(
        database.connectionString,
        "select subject from emails where account_id = 'reads' order by subject",
      )
    ).map(({ subject }) => subject);
  const arrive = (user: 'alice' | 'bob', subject: string) =>
    dovecot.withClient(user, (client) =>
      client.append(
        'INBOX',
        mail({ subject, to: 'reads@example.com', messageId: `<${subject}@customer.test>` }),
      ),
    );

  it('is read without a restart, left alone during a pause, and read from another server after a change', async () => {
    await fillMaildir(dovecot, 'alice', null, [mail({ subject: 'Was there' })]);
    expect((await create('reads', { imap_url: dovecot.urlOf('alice') })).status).toBe(201);
    await waitUntil('the mailbox is read', async () => (await subjects()).includes('Was there'));
    await arrive('alice', 'Arrived');
    await waitUntil('mail is read as it arrives', async () => (await subjects()).includes('Arrived'));

    await ask(one, 'POST', '/api/accounts/reads/pause');
    await waitUntil('no process reads it', async () => (await read('reads')).json['owner'] === null);
    await arrive('alice', 'Meanwhile');
    await ask(one, 'POST', '/api/accounts/reads/resync');
    expect(await subjects()).not.toContain('Meanwhile');
    expect((await read('reads')).json['owner']).toBeNull();
    await ask(one, 'POST', '/api/accounts/reads/resume');
    await waitUntil('it is read again', async () => (await subjects()).includes('Meanwhile'));

    await arrive('bob', 'Of another server');
    await change('reads', 3, { imap_url: dovecot.urlOf('bob') });
    await waitUntil('the other one is read', async () => (await subjects()).includes('Of another server'));
  });

  it('is read anew where it is another one, although its UIDs and UIDVALIDITY are the same', async () => {
    // Many servers begin with 1.
    const twins = await startDovecot();
    const list = async () =>
      (
        await query(
          database.connectionString,
          "select subject from emails where account_id = 'twins' order by subject",
        )
      ).map(({ subject }) => subject);
    try {
      const owner = await findMailOwner();
      for (const [user, guid] of [
        ['alice', 'a1'],
        ['bob', 'b2'],
      ] as const) {
        const mails = [1, 2, 3].map((n) =>
          mail({ subject: `${user} ${n}`, to: 'twins@example.com', messageId: `<${user}-${n}@twin.test>` }),
        );
        await fillMaildir(twins, user, null, mails);
        const file = path.join(twins.root, 'mail', user, 'dovecot-uidlist');
        await writeFile(file, `3 V1 N1 G4c5d${guid}33aabbccdd1122334455667788\n`);
        await chown(file, owner.uid, owner.gid);
      }
      const ofAlice = ['alice 1', 'alice 2', 'alice 3'];
      const ofBob = ['bob 1', 'bob 2', 'bob 3'];
      await create('twins', { imap_url: twins.urlOf('alice') });
      await waitUntil('the first one is read', async () => (await list()).length === 3);
      expect(await list()).toEqual(ofAlice);

      await change('twins', 1, { imap_url: twins.urlOf('bob') });
      await waitUntil('the other one is read', async () => (await list()).length === 6);
      expect(await list()).toEqual([...ofAlice, ...ofBob]);

      // There and back, at once: nothing is lost, and nothing is recorded twice.
      await change('twins', 2, { imap_url: twins.urlOf('alice') });
      await change('twins', 3, { imap_url: twins.urlOf('bob') });
      await waitUntil('it is read again', async () => {
        const [box] = await query(
          database.connectionString,
          "select uid_validity = 1 and not has_older as is_read from mailboxes where account_id = 'twins' and path = 'INBOX'",
        );
        return box?.['is_read'] === true;
      });
      await twins.withClient('bob', (client) =>
        client.append(
          'INBOX',
          mail({ subject: 'new', to: 'twins@example.com', messageId: '<new@twin.test>' }),
        ),
      );
      await waitUntil('it goes on', async () => (await list()).includes('new'));
      expect(await list()).toEqual([...ofAlice, ...ofBob, 'new']);
    } finally {
      await twins.stop();
    }
  });

  it('causes an event when it is first read, when it fails and when it works again, and one mail for each failure', async () => {
    const asked = await ask(one, 'POST', '/api/keys', { name: 'CRM', rights: ['admin'], account_ids: '*' });
    const headers = { authorization: `Bearer ${String(asked.json['secret'])}` };
    const { id: after } = (await ask(one, 'GET', '/api/events/latest')).json;
    const [right, wrong] = [dovecot.urlOf('bob'), dovecot.urlOf('bob').replace(/:[^:@/]+@/, ':wrong@')];
    const fields = { id: 'fails', from: 'fails@example.com', smtp_url: urlOf(first) };
    const happened = async () => {
      const { json } = await ask(one, 'GET', `/api/events?after=${String(after)}&account_id=fails`);
      const events = json['events'] as { type: string; author: { name: string } | null }[];
      return events.flatMap(({ type, author }) =>
        type.startsWith('account.') ? [[type, author?.name ?? null]] : [],
      );
    };
    const mails = () => own.messages.filter(({ raw }) => raw.includes('Account fails: its mailbox'));
    const mailed = (count: number) =>
      waitUntil('the operators get a mail', async () => {
        const [row] = await query(
          database.connectionString,
          "select notified_at is not null as is_noted from mailbox_accounts where account_id = 'fails'",
        );
        return row?.['is_noted'] === true && mails().length === count;
      });
    await ask(one, 'POST', '/api/accounts', { ...fields, imap_url: right }, headers);
    const events: [string, string | null][] = [['account.connected', 'CRM']];
    await waitUntil('it is read', async () => (await happened()).length === events.length);
    await change('fails', 1, { imap_url: wrong });
    await mailed(1);
    await change('fails', 2, { imap_url: right });
    events.push(['account.failing', null], ['account.recovered', null]);
    await waitUntil('it recovers', async () => (await happened()).length === events.length);
    await change('fails', 3, { imap_url: wrong });
    await mailed(2);
    events.push(['account.failing', null]);
    expect(await happened()).toEqual(events);
    const [notice] = mails();
    expect(notice?.rcptTo).toEqual(['ops@example.org']);
    expect(notice?.raw.toString()).toMatch(/^Auto-Submitted: auto-generated\r$/m);
    const [email] = await query(
      database.connectionString,
      "select t.status, e.account_id from emails e join email_threads t on t.id = e.thread_id where e.subject like 'Account fails:%'",
    );
    expect(email).toEqual({ status: 'done', account_id: 'default' });
    await ask(one, 'DELETE', '/api/accounts/fails');
  });

  it('is found by a check, with its Sent mailbox', async () => {
    await dovecot.withClient('alice', (client) => client.mailboxCreate('Sent'));
    const { json } = await ask(one, 'POST', '/api/accounts/check', {
      id: 'reads',
      from: 'reads@example.com',
      smtp_url: urlOf(first),
      imap_url: dovecot.urlOf('alice'),
    });
    expect(json['ok']).toBe(true);
    expect(JSON.stringify(json['findings'])).toContain('the Sent mailbox of account reads is Sent');
    expect(json['folders']).toEqual(
      expect.arrayContaining([
        { path: 'INBOX', special_use: '\\Inbox' },
        { path: 'Sent', special_use: '\\Sent' },
      ]),
    );
  });

  it('gets a message from itself when a check is asked for it, and a check says when it does not', async () => {
    const delivering = await startSmtpSink({}, async ({ raw }) => {
      if (!raw.includes('Subject: Check of the account tried')) return;
      await dovecot.withClient('bob', (client) => client.append('INBOX', raw));
    });
    const fields = {
      id: 'tried',
      from: 'bob@example.com',
      smtp_url: delivering.url,
      imap_url: dovecot.urlOf('bob'),
    };
    const ofMessage = ({ json }: Answer) =>
      (json['findings'] as { step: string; grade: string; text: string }[]).filter(
        ({ step }) => step === 'message',
      );
    try {
      const without = await ask(one, 'POST', '/api/accounts/check', fields);
      expect([ofMessage(without), delivering.messages]).toEqual([[], []]);
      const seen = await ask(one, 'POST', '/api/accounts/check?send_message=true', fields);
      expect(ofMessage(seen)).toMatchObject([
        { grade: 'ok', text: expect.stringContaining('was in INBOX after') },
      ]);
      const [message] = delivering.messages;
      expect([message?.mailFrom, message?.rcptTo]).toEqual(['bob@example.com', ['bob@example.com']]);
      expect(message?.raw.toString()).toMatch(/^Auto-Submitted: auto-generated\r$/m);
      const nowhere = await ask(one, 'POST', '/api/accounts/check?send_message=true', {
        id: 'tried',
        from: 'bob@example.com',
        smtp_url: delivering.url,
      });
      expect(ofMessage(nowhere)).toMatchObject([{ grade: 'warning', text: 'no message was sent' }]);
    } finally {
      await delivering.stop();
    }
  });

  it('is compared again when asked for', async () => {
    const [before] = await query(
      database.connectionString,
      "select max(last_success_at) as at from mailboxes where account_id = 'reads'",
    );
    const { status } = await ask(two, 'POST', '/api/accounts/reads/resync');
    expect(status).toBe(200);
    await waitUntil('it was compared', async () => {
      const [now] = await query(
        database.connectionString,
        `select max(b.last_success_at) > $1 and bool_and(b.uid_next is not null) and count(m.owner) > 0 as is_read
        from mailboxes b join mailbox_accounts m using (account_id) where account_id = 'reads' and left_at is null`,
        [before?.['at']],
      );
      return now?.['is_read'] === true;
    });
  });
});

describe('the key', () => {
  it('is rotated by a command while services run', async () => {
    const old = await startServiceProcess({ env: { ...env() } });
    try {
      // It has no key, and makes none: the accounts are sealed with that of others.
      expect(
        codeOf(await ask(old, 'POST', '/api/accounts', { id: 'late', from: 'late@example.com' })),
      ).toEqual([503, 'secrets_key_missing']);
      await expect(readFile(path.join(old.dataDir, 'secrets-key'), 'utf8')).rejects.toThrow('ENOENT');
    } finally {
      await disposeService(old);
    }
    const NEW = 'new-secrets-key-0123456789';
    const rotated = await runCommand(['accounts', 'rotate-secrets'], {
      dataDir: one.dataDir,
      env: { ...env(), SECRETS_KEY: `${NEW},${KEY}` },
    });
    expect(rotated.stdout).toMatch(/^\d+ accounts are sealed with the new key/);
    const next = await startServiceProcess({ env: { ...env(), SECRETS_KEY: NEW } });
    try {
      expect((await send(next, 'sales', 'With the new key')).status).toBe(200);
      expect((await read('sales', next)).json['version']).toBe(1);
    } finally {
      await disposeService(next);
    }
  });
});

describe('without SECRETS_KEY', () => {
  it('one key is made, however many accounts are the first ones, and a rotation without accounts is followed', async () => {
    const alone = await createTestDatabase();
    const options = { env: { DATABASE_URL: alone.connectionString, SMTP_URL: own.url } };
    let service = await startServiceProcess(options);
    const restart = async () => {
      await service.stop();
      service = await startServiceProcess({ ...options, dataDir: service.dataDir });
    };
    const rotate = () =>
      runCommand(['accounts', 'rotate-secrets'], {
        dataDir: service.dataDir,
        env: { DATABASE_URL: alone.connectionString },
      });
    const add = (id: string) =>
      ask(service, 'POST', '/api/accounts', { id, from: 'a@example.com', smtp_url: urlOf(first) });
    try {
      const ids = ['a1', 'a2', 'a3', 'a4', 'a5', 'a6'];
      const made = await Promise.all(ids.map((id) => add(id)));
      expect(made.map(({ status }) => status)).toEqual(ids.map(() => 201));
      await restart();
      for (const id of ids) expect((await read(id, service)).json['state']).toBe('active');

      for (const id of ids) await ask(service, 'DELETE', `/api/accounts/${id}`);
      expect((await rotate()).stdout).toBe('0 accounts are sealed with the new key\n');
      expect((await add('b1')).status).toBe(201);
      // Before the service looks for changes.
      expect((await rotate()).stdout).toBe('1 account is sealed with the new key\n');
      expect((await change('b1', 1, { rate_per_day: 5 }, service)).status).toBe(200);
      await restart();
      expect((await read('b1', service)).json['state']).toBe('active');
    } finally {
      await disposeService(service);
      await alone.drop();
    }
  });

  it('the key is a file that only its owner can read, and is rotated there', async () => {
    const alone = await createTestDatabase();
    const options = { env: { DATABASE_URL: alone.connectionString, SMTP_URL: own.url } };
    let service = await startServiceProcess(options);
    try {
      const made = await ask(service, 'POST', '/api/accounts', {
        id: 'solo',
        from: 'solo@example.com',
        smtp_url: urlOf(first),
      });
      expect(made.status).toBe(201);
      const file = path.join(service.dataDir, 'secrets-key');
      const key = await readFile(file, 'utf8');
      const rotated = await runCommand(['accounts', 'rotate-secrets'], {
        dataDir: service.dataDir,
        env: { DATABASE_URL: alone.connectionString },
      });
      expect(rotated.stdout).toBe('1 account is sealed with the new key\n');
      expect(await readFile(file, 'utf8')).not.toBe(key);
      expect((await send(service, 'solo', 'After the rotation')).status).toBe(200);
      await service.stop();
      service = await startServiceProcess({ ...options, dataDir: service.dataDir });
      expect((await send(service, 'solo', 'After a restart')).status).toBe(200);
      await service.stop();
      await writeFile(file, 'not-the-key-0123456789\n');
      service = await startServiceProcess({ ...options, dataDir: service.dataDir });
      expect((await read('solo', service)).json['state']).toBe('unavailable');
    } finally {
      await disposeService(service);
      await alone.drop();
    }
  });
});
