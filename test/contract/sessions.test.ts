/** Sessions of browsers: how they are opened, what they may do, where their requests may come from, and how they end. */
import { randomBytes } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { runCommandInProcess } from '../helpers/command-in-process.ts';
import { createTestDatabase, type TestDatabase } from '../helpers/postgres.ts';
import { query } from '../helpers/query.ts';
import {
  disposeService,
  startServiceProcess,
  TEST_SECRET,
  type ServiceProcess,
} from '../helpers/service-process.ts';
import { writeAccounts } from '../helpers/thread-decisions.ts';
import { waitUntil } from '../helpers/wait-until.ts';

type Json = Record<string, unknown>;
type Headers = Readonly<Record<string, string>>;

const PAGE: Headers = { 'x-requested-with': 'email-worker', 'sec-fetch-site': 'same-origin' };

let database: TestDatabase;
let service: ServiceProcess;
let other: ServiceProcess;
let env: Readonly<Record<string, string>>;

beforeAll(async () => {
  database = await createTestDatabase();
  env = {
    DATABASE_URL: database.connectionString,
    ACCOUNTS_FILE: await writeAccounts('sales', 'support'),
    // Lets requests claim that they came over https, and from where.
    TRUSTED_PROXIES: '127.0.0.1',
  };
  service = await startServiceProcess({ env });
  other = await startServiceProcess({ env });
});
afterAll(async () => {
  await disposeService(service);
  await disposeService(other);
  await database.drop();
});

interface Answer {
  readonly status: number;
  readonly json: Json;
  readonly setCookie: string | null;
}

async function ask(
  target: string,
  { at = service, headers = {}, ...init }: { at?: ServiceProcess; headers?: Headers } & RequestInit = {},
): Promise<Answer> {
  const response = await fetch(at.url + target, { ...init, headers });
  const text = await response.text();
  return {
    status: response.status,
    json: text.startsWith('{') ? (JSON.parse(text) as Json) : {},
    setCookie: response.headers.get('set-cookie'),
  };
}

const logIn = (body: Json, headers: Headers = {}, at = service): Promise<Answer> =>
  ask('/api/session', {
    at,
    method: 'POST',
    body: JSON.stringify(body),
    headers: { 'content-type': 'application/json', ...headers },
  });

const cookieOf = ({ setCookie }: Answer): string => /^[^;]*/.exec(setCookie ?? '')?.[0] ?? '';

async function cookieFor(secret: string, at = service): Promise<string> {
  const opened = await logIn({ secret }, {}, at);
  expect(opened.status).toBe(200);
  return cookieOf(opened);
}

const codeOf = async (answer: Promise<Answer>) => {
  const { status, json } = await answer;
  return [status, json['code'] ?? null];
};

async function makeKey(fields: Json = {}): Promise<{ id: string; secret: string }> {
  const response = await service.request('/api/keys', {
    json: { name: 'Ada', rights: ['read', 'send'], account_ids: ['sales'], ...fields },
  });
  const { key, secret } = (await response.json()) as { key: { id: string }; secret: string };
  return { id: key.id, secret };
}

async function makeLink(...args: string[]): Promise<string> {
  const { stdout, stderr, exitCode } = await runCommandInProcess(['login-link', ...args], {
    dataDir: service.dataDir,
    env: { ...env, API_SECRET: TEST_SECRET, PORT: '3123' },
  });
  expect([stderr, exitCode]).toEqual(['', 0]);
  return stdout.trim();
}
const tokenOf = (link: string): string => /#token=([\w-]{43})$/.exec(link)?.[1] ?? '';

const sessions = () =>
  query(database.connectionString, 'select encode(token_hash, $$hex$$) as hash, key_id from sessions');

describe('logging in', () => {
  it('with the secret gives a cookie that no script reads, and says who it is', async () => {
    const opened = await logIn({ secret: TEST_SECRET });
    expect(opened.json).toEqual({
      session: {
        name: 'API_SECRET 1',
        rights: ['admin'],
        accounts: null,
        key_id: null,
        expires_at: expect.any(String),
        limits: { attachment_bytes: 25 * 1024 * 1024, attachments: 200 },
      },
    });
    expect(opened.setCookie).toMatch(
      /^email_worker_session=[\w-]{43}; Max-Age=2592000; Path=\/; HttpOnly; SameSite=Strict$/,
    );
    expect((await ask('/api/session', { headers: { cookie: cookieOf(opened) } })).json).toEqual(opened.json);
  });

  it('over https gives a cookie that only this host can set', async () => {
    const https = { 'x-forwarded-proto': 'https' };
    const opened = await logIn({ secret: TEST_SECRET }, https);
    expect(opened.setCookie).toMatch(
      /^__Host-email_worker_session=[\w-]{43}; Max-Age=2592000; Path=\/; HttpOnly; Secure; SameSite=Strict$/,
    );
    const cookie = cookieOf(opened);
    expect((await ask('/api/session', { headers: { cookie, ...https } })).status).toBe(200);
    // A cookie name without the prefix counts for nothing there, wherever it came from.
    const plain = cookie.replace('__Host-', '');
    expect((await ask('/api/session', { headers: { cookie: plain, ...https } })).status).toBe(401);
  });

  it('with a key acts as that key: its rights, its accounts, its name', async () => {
    const { id, secret } = await makeKey();
    const opened = await logIn({ secret });
    expect(opened.json['session']).toMatchObject({
      name: 'Ada',
      rights: ['read', 'send'],
      accounts: ['sales'],
      key_id: id,
    });
    const cookie = cookieOf(opened);
    const get = (target: string) => codeOf(ask(target, { headers: { cookie } }));
    expect(await get('/api/threads')).toEqual([200, null]);
    expect(await get('/api/threads?account_id=support')).toEqual([400, 'unknown_account']);
    expect(await get('/api/suppressions')).toEqual([403, 'forbidden_account']);
    expect(await get('/api/keys')).toEqual([403, 'forbidden_right']);
  });

  it.each([
    [{}, 400, 'invalid_request'],
    [{ secret: 'x', token: 'y' }, 400, 'invalid_request'],
    [{ secret: '' }, 400, 'invalid_request'],
    [{ secret: 'x'.repeat(2001) }, 400, 'invalid_request'],
    [{ secret: 1 }, 400, 'invalid_request'],
    [{ name: 'x' }, 400, 'unknown_field'],
    [{ secret: 'wrong' }, 401, 'login_failed'],
    [{ secret: `ewk_0123456789ab_${'x'.repeat(43)}` }, 401, 'login_failed'],
    [{ token: 'x'.repeat(43) }, 401, 'login_failed'],
    [{ token: 'x' }, 401, 'login_failed'],
  ])('is refused with %j', async (body, status, code) => {
    const refused = await logIn(body);
    expect([refused.status, refused.json['code'], refused.setCookie]).toEqual([status, code, null]);
  });

  it('makes a new session each time, and ends the one that was shown: none can be planted', async () => {
    const planted = `email_worker_session=${randomBytes(32).toString('base64url')}`;
    const first = cookieOf(await logIn({ secret: TEST_SECRET }, { cookie: planted }));
    expect(first).not.toBe(planted);
    expect((await ask('/api/session', { headers: { cookie: planted } })).status).toBe(401);
    const second = cookieOf(await logIn({ secret: TEST_SECRET }, { cookie: first }));
    expect(second).not.toBe(first);
    expect((await ask('/api/session', { headers: { cookie: first } })).status).toBe(401);
    expect((await ask('/api/session', { headers: { cookie: second } })).status).toBe(200);
  });

  it('is not possible from another site', async () => {
    for (const headers of [
      { 'sec-fetch-site': 'cross-site' },
      { 'sec-fetch-site': 'same-site' },
      { origin: 'https://evil.example' },
      { origin: 'null' },
    ]) {
      const refused = await logIn({ secret: TEST_SECRET }, headers);
      expect([headers, refused.json['code'], refused.setCookie]).toEqual([
        headers,
        'cross_site_request',
        null,
      ]);
    }
  });

  it('stores hashes alone, and logs no token', async () => {
    const { secret } = await makeKey();
    const cookie = await cookieFor(secret);
    const token = cookie.replace(/^.*=/, '');
    const rows = await query(
      database.connectionString,
      `select row_to_json(s)::text as row from sessions s union all select row_to_json(l)::text from login_links l`,
    );
    expect(rows.length).toBeGreaterThan(0);
    for (const text of [JSON.stringify(rows), service.log.join('')]) {
      expect(text).not.toContain(token);
      expect(text).not.toContain(Buffer.from(token, 'base64url').toString('hex'));
      expect(text).not.toContain(secret.slice(17));
    }
    await expect.poll(() => service.log.join('')).toContain('"event":"session.opened"');
  });
});

describe('a request with the cookie', () => {
  it('that changes something needs the header of the page, and to come from it', async () => {
    const cookie = await cookieFor(TEST_SECRET);
    const { host } = new URL(service.url);
    const header = { 'x-requested-with': 'email-worker' };
    const cases: readonly (readonly [Headers, boolean])[] = [
      [{}, false],
      [{ 'x-requested-with': 'XMLHttpRequest' }, false],
      [{ 'sec-fetch-site': 'same-origin' }, false],
      [{ origin: service.url }, false],
      [{ ...header, 'sec-fetch-site': 'cross-site' }, false],
      [{ ...header, 'sec-fetch-site': 'same-site' }, false],
      [{ ...header, 'sec-fetch-site': 'cross-site', origin: service.url }, false],
      [{ ...header, origin: 'https://evil.example' }, false],
      [{ ...header, origin: `http://${host}.evil.example` }, false],
      [{ ...header, origin: 'null' }, false],
      [{ ...header, origin: 'http://127.0.0.1:1' }, false],
      [header, true],
      [{ ...header, origin: service.url }, true],
      // A proxy speaks https for us.
      [{ ...header, origin: `https://${host}` }, true],
      [{ ...header, 'sec-fetch-site': 'same-origin', origin: service.url }, true],
      [{ ...header, 'sec-fetch-site': 'none' }, true],
    ];
    for (const method of ['POST', 'PUT', 'PATCH', 'DELETE']) {
      for (const [headers, isAllowed] of cases) {
        const target = {
          POST: '/api/keys',
          PUT: '/api/suppressions/a',
          PATCH: '/api/threads/x',
          DELETE: '/api/keys/x',
        }[method]!;
        const { json } = await ask(target, { method, headers: { cookie, ...headers } });
        const isRefused = json['code'] === 'cross_site_request';
        expect([method, headers, isRefused]).toEqual([method, headers, !isAllowed]);
      }
    }
  });

  it('that reads something needs no header, and is refused from another site all the same', async () => {
    const cookie = await cookieFor(TEST_SECRET);
    const get = (headers: Headers) => ask('/api/threads', { headers: { cookie, ...headers } });
    expect((await get({})).status).toBe(200);
    expect((await get({ 'sec-fetch-site': 'same-origin' })).status).toBe(200);
    expect((await get({ 'sec-fetch-site': 'cross-site' })).json['code']).toBe('cross_site_request');
    expect((await get({ origin: 'https://evil.example' })).json['code']).toBe('cross_site_request');
  });

  it('and a bearer token is the bearer’s, right or wrong, and needs nothing of the page', async () => {
    const cookie = await cookieFor(TEST_SECRET);
    const send = (authorization: string) =>
      ask('/api/send', {
        method: 'POST',
        headers: {
          cookie,
          authorization,
          'sec-fetch-site': 'cross-site',
          'content-type': 'application/json',
        },
        body: '{}',
      });
    expect((await send(`Bearer ${TEST_SECRET}`)).status).toBe(400);
    expect((await send('Bearer wrong')).status).toBe(401);
    expect((await send('Basic x')).status).toBe(401);
  });

  it('that is not one of a session is 401', async () => {
    for (const cookie of [
      'email_worker_session=',
      'email_worker_session=x',
      `email_worker_session=${'x'.repeat(43)}`,
      `email_worker_session=${'x'.repeat(5000)}`,
      `other=1`,
      ';;==;',
    ]) {
      const { status, json } = await ask('/api/threads', { headers: { cookie } });
      const isMissing = !cookie.startsWith('email_worker_session=');
      expect([cookie.slice(0, 30), status, json['code']]).toEqual([
        cookie.slice(0, 30),
        401,
        isMissing ? 'missing_credentials' : 'invalid_credentials',
      ]);
    }
  });
});

const FIREFOX = 'Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0';
const NEWER_FIREFOX = FIREFOX.replaceAll('140', '141');

describe('the sessions of a key', () => {
  it('are listed, and each ends alone', async () => {
    const key = await makeKey();
    const laptop = cookieOf(await logIn({ secret: key.secret }, { 'user-agent': FIREFOX }));
    const phone = cookieOf(await logIn({ secret: key.secret }, { 'user-agent': 'Phone/1.0' }));
    const stranger = cookieOf(await logIn({ secret: (await makeKey()).secret }));
    const as = (cookie: string, agent: string) => ({ ...PAGE, cookie, 'user-agent': agent });
    const list = async (headers: Headers) =>
      (await ask('/api/sessions', { headers })).json['sessions'] as Json[];
    const seen = await list(as(laptop, FIREFOX));
    const moment = expect.any(String) as string;
    const one = { id: moment, created_at: moment, last_used_at: moment, expires_at: moment };
    expect(seen).toHaveLength(2);
    expect(seen).toEqual(
      expect.arrayContaining([
        { ...one, device: 'Firefox, Linux', current: true },
        { ...one, device: 'Phone', current: false },
      ]),
    );
    const id = String(seen.find(({ device }) => device === 'Phone')?.['id']);
    const end = (headers: Headers) => ask(`/api/sessions/${id}`, { method: 'DELETE', headers });
    // Not by another key.
    expect(await codeOf(end({ ...PAGE, cookie: stranger }))).toEqual([404, 'session_not_found']);
    expect((await end(as(laptop, FIREFOX))).json).toEqual({ ended: 1 });
    expect(await codeOf(end(as(laptop, FIREFOX)))).toEqual([404, 'session_not_found']);
    expect((await ask('/api/session', { headers: as(phone, 'Phone/1.0') })).status).toBe(401);
    expect(await list(as(laptop, FIREFOX))).toMatchObject([{ current: true }]);
    // A program with the same key may end it, too.
    const bearer = { authorization: `Bearer ${key.secret}` };
    const [left] = await list(bearer);
    const ended = await ask(`/api/sessions/${String(left?.['id'])}`, { method: 'DELETE', headers: bearer });
    expect(ended.status).toBe(200);
    expect((await ask('/api/session', { headers: as(laptop, FIREFOX) })).status).toBe(401);
  });

  it('hold for the browser that logged in, and over plain http for its address', async () => {
    const open = async (headers: Headers) => ({
      ...headers,
      cookie: cookieOf(await logIn({ secret: TEST_SECRET }, headers)),
    });
    const status = async (headers: Headers) => (await ask('/api/session', { headers })).status;
    const plain = await open({ 'user-agent': FIREFOX, 'x-forwarded-for': '192.0.2.1' });
    expect(await status(plain)).toBe(200);
    expect(await status({ ...plain, 'user-agent': NEWER_FIREFOX })).toBe(200);
    expect(await status({ ...plain, 'user-agent': 'curl/8.5.0' })).toBe(401);
    expect(await status({ ...plain, 'x-forwarded-for': '192.0.2.2' })).toBe(401);
    const safe = await open({ ...plain, 'x-forwarded-proto': 'https' });
    expect(await status({ ...safe, 'x-forwarded-for': '192.0.2.2' })).toBe(200);
    expect(await status({ ...safe, 'user-agent': 'curl/8.5.0' })).toBe(401);
    expect(await status(plain)).toBe(200);
    const rows = await query(database.connectionString, 'select row_to_json(s)::text as row from sessions s');
    expect(JSON.stringify(rows)).not.toContain('192.0.2');
  });
});

describe('a session', () => {
  it('is known to every process at once', async () => {
    const cookie = await cookieFor(TEST_SECRET);
    expect((await ask('/api/session', { at: other, headers: { cookie } })).status).toBe(200);
  });

  it('ends with its log-out, here at once and in other processes within about a second', async () => {
    const headers = { ...PAGE, cookie: await cookieFor(TEST_SECRET) };
    expect((await ask('/api/session', { at: other, headers })).status).toBe(200);
    const ended = await ask('/api/session', { method: 'DELETE', headers });
    expect(ended.json).toEqual({ ended: 1 });
    expect(ended.setCookie).toBe('email_worker_session=; Max-Age=0; Path=/; HttpOnly; SameSite=Strict');
    expect((await ask('/api/session', { headers })).status).toBe(401);
    await waitUntil('the other process knows', async () => {
      return (await ask('/api/session', { at: other, headers })).status === 401;
    });
  });

  it('ends everywhere for its key, and for no other', async () => {
    const ada = await makeKey();
    const eva = await makeKey({ name: 'Eva' });
    const cookies = [await cookieFor(ada.secret), await cookieFor(ada.secret, other)];
    const evas = await cookieFor(eva.secret);
    const [first = ''] = cookies;
    const ended = await ask('/api/sessions', { method: 'DELETE', headers: { ...PAGE, cookie: first } });
    expect(ended.json).toEqual({ ended: 2 });
    for (const cookie of cookies)
      expect((await ask('/api/session', { headers: { cookie } })).status).toBe(401);
    expect((await ask('/api/session', { headers: { cookie: evas } })).status).toBe(200);
    expect((await logIn({ secret: ada.secret })).status).toBe(200);
  });

  it('ends with its key: revoked, expired or rotated', { tags: ['long'] }, async () => {
    const revoked = await makeKey();
    const rotated = await makeKey();
    const expiring = await makeKey({ expires_at: new Date(Date.now() + 86_400_000).toISOString() });
    const gone = async (cookie: string) =>
      waitUntil('it ends', async () => {
        const answers = await Promise.all(
          [service, other].map((at) => ask('/api/threads', { at, headers: { cookie } })),
        );
        return answers.every(({ status }) => status === 401);
      });
    const [one, two, three] = [
      await cookieFor(revoked.secret),
      await cookieFor(rotated.secret),
      await cookieFor(expiring.secret),
    ];
    for (const cookie of [one, two])
      expect((await ask('/api/threads', { headers: { cookie } })).status).toBe(200);
    await service.request(`/api/keys/${revoked.id}`, { method: 'DELETE' });
    await gone(one);
    await service.request(`/api/keys/${rotated.id}/rotate`, { json: { overlap_hours: 0 } });
    await gone(two);
    expect((await ask('/api/threads', { headers: { cookie: three } })).status).toBe(200);
    await query(
      database.connectionString,
      `update api_keys set expires_at = now() + interval '2 s' where id = '${expiring.id}'`,
    );
    await query(database.connectionString, 'update key_clock set revision = revision + 1');
    await gone(three);
  });

  it('ends its stream of events when it ends', async () => {
    const { secret } = await makeKey();
    const headers = { ...PAGE, cookie: await cookieFor(secret) };
    const stream = await fetch(`${service.url}/api/events`, {
      headers: { ...headers, accept: 'text/event-stream' },
    });
    expect(stream.headers.get('content-type')).toContain('text/event-stream');
    await ask('/api/session', { method: 'DELETE', headers });
    await stream.text();
  });

  it('ends when it is not used, and in the end however much it is used', async () => {
    const cookie = await cookieFor(TEST_SECRET);
    const token = cookie.replace(/^.*=/, '');
    const change = async (set: string) => {
      await query(
        database.connectionString,
        `update sessions set ${set} where token_hash = sha256(convert_to('${token}', 'UTF8'))`,
      );
      // A separate statement: the service locks the two in the other order.
      await query(database.connectionString, 'update session_clock set revision = revision + 1');
    };
    const expiry = async () => {
      const [row] = await query(
        database.connectionString,
        `select expires_at > now() + interval '6 days' as renewed, expires_at = ends_at as last
        from sessions where token_hash = sha256(convert_to('${token}', 'UTF8'))`,
      );
      return row;
    };
    // Used shortly before it would have expired: it is renewed for the idle time.
    await change(`expires_at = now() + interval '1 hour'`);
    await waitUntil('it is renewed', async () => {
      await ask('/api/session', { headers: { cookie } });
      return (await expiry())?.['renewed'] === true;
    });
    await change(`expires_at = now() + interval '1 hour', ends_at = now() + interval '2 days'`);
    await waitUntil('it is renewed to its end', async () => {
      await ask('/api/session', { headers: { cookie } });
      return (await expiry())?.['last'] === true;
    });
    await change(`expires_at = now() - interval '1 second'`);
    const status = async () => (await ask('/api/session', { headers: { cookie } })).status;
    await waitUntil('it ended', async () => (await status()) === 401);
    expect(await codeOf(ask('/api/threads', { headers: { cookie } }))).toEqual([401, 'invalid_credentials']);
  });

  it('of one key are so many; the next one ends the oldest', async () => {
    const { id, secret } = await makeKey();
    const first = await cookieFor(secret);
    for (let number = 0; number < 50; number += 1) await cookieFor(secret);
    expect((await sessions()).filter((row) => row['key_id'] === id)).toHaveLength(50);
    expect((await ask('/api/session', { headers: { cookie: first } })).status).toBe(401);
  });

  it('tells of the key of a bearer as well, which has no session to end', async () => {
    const { id, secret } = await makeKey();
    const headers = { authorization: `Bearer ${secret}` };
    expect((await ask('/api/session', { headers })).json['session']).toMatchObject({
      key_id: id,
      expires_at: null,
    });
    expect((await ask('/api/session', { method: 'DELETE', headers })).json).toEqual({ ended: 0 });
  });
});

describe('a link to log in', () => {
  it('works once, in whichever process comes first', async () => {
    const link = await makeLink();
    expect(link).toMatch(/^http:\/\/127\.0\.0\.1:3123\/#token=[\w-]{43}$/);
    const token = tokenOf(link);
    const tries = await Promise.all([service, other, service, other].map((at) => logIn({ token }, {}, at)));
    expect(tries.map(({ status }) => status).sort()).toEqual([200, 401, 401, 401]);
    const opened = tries.find(({ status }) => status === 200)!;
    expect(opened.json['session']).toMatchObject({ name: 'API_SECRET 1', rights: ['admin'] });
    expect((await ask('/api/keys', { headers: { cookie: cookieOf(opened) } })).status).toBe(200);
  });

  it('logs in as a key that it names', async () => {
    const name = `Clerk ${randomBytes(4).toString('hex')}`;
    const { id } = await makeKey({ name });
    for (const key of [name, id]) {
      const opened = await logIn({
        token: tokenOf(await makeLink('--key', key, '--url', 'https://mail.example')),
      });
      expect(opened.json['session']).toMatchObject({ name, key_id: id, accounts: ['sales'] });
    }
  });

  it('does not work once it is old, or its key opens nothing', async () => {
    const token = tokenOf(await makeLink());
    await query(database.connectionString, `update login_links set expires_at = now() - interval '1 second'`);
    expect(await codeOf(logIn({ token }))).toEqual([401, 'login_failed']);
    const { id } = await makeKey();
    const ofKey = tokenOf(await makeLink('--key', id));
    await service.request(`/api/keys/${id}`, { method: 'DELETE' });
    await waitUntil('the key is gone', async () => (await logIn({ token: ofKey })).status === 401);
  });

  it('of an unknown key is not made', async () => {
    const { exitCode, stderr } = await runCommandInProcess(['login-link', '--key', 'nobody'], {
      dataDir: service.dataDir,
      env: { ...env, API_SECRET: TEST_SECRET },
    });
    expect(exitCode).toBe(2);
    expect(stderr).toContain('no valid key is called nobody');
  });

  it('is not made of a revoked key, whose name another key may have', async () => {
    const name = `Clerk ${randomBytes(4).toString('hex')}`;
    const revoked = await makeKey({ name });
    await service.request(`/api/keys/${revoked.id}`, { method: 'DELETE' });
    for (const key of [name, revoked.id]) {
      const { exitCode, stderr } = await runCommandInProcess(['login-link', '--key', key], {
        dataDir: service.dataDir,
        env: { ...env, API_SECRET: TEST_SECRET },
      });
      expect([exitCode, stderr]).toEqual([2, expect.stringContaining(`no valid key is called ${key}`)]);
    }
    const { id } = await makeKey({ name });
    const opened = await logIn({ token: tokenOf(await makeLink('--key', name)) });
    expect(opened.json['session']).toMatchObject({ key_id: id });
  });
});

describe('another secret', () => {
  it('ends the sessions of the one before it, and its links', { tags: ['long'] }, async () => {
    const cookie = await cookieFor(TEST_SECRET);
    const token = tokenOf(await makeLink());
    const changed = await startServiceProcess({
      env: { ...env, API_SECRET: 'another-secret-of-32-characters' },
    });
    try {
      expect((await ask('/api/session', { at: changed, headers: { cookie } })).status).toBe(401);
      expect((await logIn({ token }, {}, changed)).status).toBe(401);
    } finally {
      await disposeService(changed);
    }
    const both = await startServiceProcess({
      env: { ...env, API_SECRET: `another-secret-of-32-characters,${TEST_SECRET}` },
    });
    try {
      const { json } = await ask('/api/session', { at: both, headers: { cookie } });
      expect(json['session']).toMatchObject({ name: 'API_SECRET 2' });
    } finally {
      await disposeService(both);
    }
  });
});

describe('log-ins with something wrong', () => {
  it('are told in the security log and slowed down by address; the right one opens all the same', async () => {
    const from = { 'x-forwarded-for': '192.0.2.77' };
    const wrong = () => logIn({ secret: 'wrong' }, from);
    const answers = [];
    for (let number = 0; number < 51; number += 1) answers.push((await wrong()).status);
    expect(answers.slice(0, 50).every((status) => status === 401)).toBe(true);
    expect(answers[50]).toBe(429);
    expect((await logIn({ secret: TEST_SECRET }, from)).status).toBe(200);
    expect((await logIn({ secret: 'wrong' }, { 'x-forwarded-for': '192.0.2.78' })).status).toBe(401);
    await expect.poll(() => service.log.join('\n')).toMatch(/"event":"login.throttled"[^\n]*192\.0\.2\.77/);
  });
});

// Last: it slows this address down for a minute.
it('a link to log in works while eight clients guess tokens without end', async () => {
  const over = new AbortController();
  const answers = new Set<number>();
  const guessers = Array.from({ length: 8 }, async () => {
    while (!over.signal.aborted)
      answers.add((await logIn({ token: randomBytes(32).toString('base64url') }, {}, other)).status);
  });
  try {
    for (let round = 0; round < 5; round++) {
      expect((await logIn({ token: tokenOf(await makeLink()) }, {}, other)).status).toBe(200);
    }
  } finally {
    over.abort();
    await Promise.all(guessers);
  }
  // Wrong ones are slowed down, and nothing else is.
  expect([...answers].sort()).toEqual([401, 429]);
});
