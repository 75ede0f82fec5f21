/** Keys: their rights, and their end. */
import { randomUUID } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { runCommandInProcess } from '../helpers/command-in-process.ts';
import {
  codeOf,
  sendBody,
  useKeyService,
  type Json,
  type MadeKey,
  isLacking,
  SINGLE_RIGHTS,
} from '../helpers/key-service.ts';
import { query } from '../helpers/query.ts';
import { waitUntil } from '../helpers/wait-until.ts';

const keys = useKeyService();
const { ask, makeKey, operations } = keys;

describe('rights', () => {
  it('open the operations that need them and no others', async () => {
    const secured = (await operations()).filter(({ rights: needed }) => needed !== undefined);
    expect(secured.length).toBeGreaterThan(40);
    const given: { right: string; accounts: unknown; secret: string }[] = [];
    for (const right of SINGLE_RIGHTS)
      for (const accounts of ['*', ['sales'], ['support']])
        given.push({
          right,
          accounts,
          secret: (await makeKey({ rights: [right], account_ids: accounts })).secret,
        });
    for (const operation of secured) {
      const { id, rights: needed = [], call } = operation;
      const [method = '', path = ''] = call.split(' ');
      const target = path.replaceAll(/\{\w+\}/g, randomUUID());
      for (const { right, accounts, secret } of given) {
        const init = method === 'GET' ? {} : { method, json: {} };
        // For the right keys, only the result after the rights check matters.
        if (needed.includes(right) && path === '/api/events') continue;
        const { json } = await ask(secret, target, init);
        const isRefused = json['code'] === 'forbidden_right';
        expect([id, right, accounts, isRefused]).toEqual([id, right, accounts, isLacking(operation, right)]);
      }
    }
  });

  it('draft uploads the files of its drafts, for its accounts', async () => {
    const { secret } = await makeKey({ rights: ['draft'], account_ids: ['sales'] });
    const put = (account: string) =>
      ask(secret, `/api/uploads?filename=a.txt&account_id=${account}`, {
        method: 'POST',
        body: 'abc',
        headers: { 'content-type': 'application/octet-stream' },
      });
    const uploaded = await put('sales');
    expect([uploaded.status, uploaded.json['size_bytes']]).toEqual([201, 3]);
    expect((await put('support')).json['code']).toBe('unknown_account');
    const draft = await ask(secret, '/api/drafts', {
      json: { message: { account_id: 'sales' }, attachments: [{ upload_id: uploaded.json['id'] }] },
    });
    expect([draft.status, draft.json['attachments']]).toEqual([
      201,
      [expect.objectContaining({ filename: 'a.txt', size_bytes: 3 })],
    ]);
  });

  it('are named in German when they are missing', async () => {
    const { secret } = await makeKey({ rights: ['read'] });
    const { status, json } = await ask(secret, '/api/send', { json: sendBody() });
    expect(status).toBe(403);
    expect(json).toMatchObject({ error: 'Dem Schlüssel fehlt das Recht send.', code: 'forbidden_right' });
  });
});

describe('a key', () => {
  it('is told once, and stored as a hash alone', async () => {
    const { id, secret } = await makeKey({ rights: ['read', 'read'], name: 'Ännchen' });
    expect(secret).toMatch(new RegExp(`^ewk_${id}_[A-Za-z0-9_-]{43}$`));
    const { json } = await ask(null, `/api/keys/${id}`);
    expect(json).toEqual({
      id,
      name: 'Ännchen',
      rights: ['read'],
      account_ids: '*',
      rate_limit: null,
      created_at: expect.any(String),
      created_by: { kind: 'secret', id: null, name: 'API_SECRET 1' },
      expires_at: null,
      last_used_at: null,
      revoked_at: null,
      old_secret_until: null,
      version: 1,
    });
    const rows = await query(
      keys.database.connectionString,
      `select row_to_json(k)::text as row from api_keys k`,
    );
    expect(JSON.stringify(rows)).not.toContain(secret.slice(17));
    expect(keys.service.log.join('')).not.toContain(secret.slice(17));
  });

  it('may have a rate of its own, which no key that it makes exceeds', async () => {
    const { secret } = await makeKey({ rights: ['admin'], rate_limit: 2 });
    const policy = (
      await keys.service.request('/api/session', { headers: { authorization: `Bearer ${secret}` } })
    ).headers.get('ratelimit-policy');
    expect(policy).toMatch(/^"rate";q=2;w=60, "at-once";q=32;qu="concurrent-requests"$/);
    const json = { name: 'more', rights: ['read'], account_ids: '*', rate_limit: 3 };
    expect((await ask(secret, '/api/keys', { json })).json).toMatchObject({ code: 'key_exceeds_caller' });
    for (const rate_limit of [0, -1, 1.5, '5'])
      expect((await ask(null, '/api/keys', { json: { ...json, rate_limit } })).status).toBe(400);
  });

  it('has its new name and rate in effect soon after they are changed', async () => {
    const { id, secret } = await makeKey({ rights: ['read'], rate_limit: 5000 });
    const rateOf = async () => {
      const headers = { authorization: `Bearer ${secret}` };
      const { headers: shown } = await keys.service.request('/api/threads', { headers });
      return /q=(\d+)/.exec(shown.get('ratelimit-policy') ?? '')?.[1];
    };
    const change = (json: object) => ask(null, `/api/keys/${id}`, { method: 'PATCH', json });
    expect(await rateOf()).toBe('5000');
    expect((await change({ rate_limit: null })).json).toMatchObject({ name: 'a key', rate_limit: null });
    await waitUntil('the default is in effect', async () => (await rateOf()) === '6000');
    expect((await change({ rate_limit: 1 })).json).toMatchObject({ name: 'a key', rate_limit: 1 });
    await waitUntil('it is refused', async () => (await ask(secret, '/api/threads')).status === 429);
    expect((await change({ name: 'Ännchen' })).json).toMatchObject({ name: 'Ännchen', rate_limit: 1 });
    const audit = (await ask(null, '/api/audit?act=key.changed')).json['entries'] as Json[];
    expect(audit[0]).toMatchObject({
      outcome: 'done',
      details: { keyId: id, fields: ['name'] },
      result: { id, name: 'Ännchen', rateLimit: 1 },
    });
    for (const bad of [{ rate_limit: 0 }, { rate_limit: '5' }, { name: '  ' }, { rights: ['admin'] }])
      expect((await change(bad)).status).toBe(400);
    await ask(null, `/api/keys/${id}`, { method: 'DELETE' });
    expect(await codeOf(change({ rate_limit: 9 }))).toEqual([404, 'key_not_found']);
  });

  it('changes no key that has more than itself, and gives none a higher rate than its own', async () => {
    const own = { account_ids: ['sales'], rate_limit: 1000 };
    const admin = await makeKey({ ...own, rights: ['admin'] });
    const change = (id: string, json: object) =>
      codeOf(ask(admin.secret, `/api/keys/${id}`, { method: 'PATCH', json }));
    const weaker = await makeKey({ ...own, rights: ['read'] });
    for (const id of [weaker.id, admin.id])
      for (const rate_limit of [1001, null])
        expect(await change(id, { rate_limit })).toEqual([403, 'key_exceeds_caller']);
    const faster = await makeKey({ ...own, rights: ['read'], rate_limit: 1001 });
    expect(await change(faster.id, { name: 'x' })).toEqual([403, 'key_exceeds_caller']);
    const elsewhere = await makeKey({ ...own, rights: ['read'], account_ids: ['support'] });
    expect(await change(elsewhere.id, { rate_limit: 5 })).toEqual([404, 'key_not_found']);
    expect((await change(weaker.id, { rate_limit: 999 }))[0]).toBe(200);
  });

  it('says when it was used', async () => {
    const { id, secret } = await makeKey({ rights: ['read'] });
    expect((await ask(secret, '/api/threads')).status).toBe(200);
    await waitUntil('its use is noted', async () => {
      return (await ask(null, `/api/keys/${id}`)).json['last_used_at'] !== null;
    });
  });

  it('opens nothing once it is revoked, and its stream of events ends', async () => {
    const { id, secret } = await makeKey({ rights: ['read'] });
    const stream = await keys.service.request('/api/events', {
      headers: { authorization: `Bearer ${secret}`, accept: 'text/event-stream' },
    });
    expect(stream.status).toBe(200);
    const { json } = await ask(null, `/api/keys/${id}`, { method: 'DELETE' });
    expect(json['revoked_at']).not.toBeNull();
    await waitUntil('it opens nothing', async () => (await ask(secret, '/api/threads')).status === 401);
    expect(await stream.text()).toContain('retry: 1000');
    // Revoking it once more is no failure.
    expect((await ask(null, `/api/keys/${id}`, { method: 'DELETE' })).status).toBe(200);
    expect(await codeOf(ask(null, `/api/keys/${id}/rotate`, { method: 'POST' }))).toEqual([
      404,
      'key_not_found',
    ]);
  });

  it('opens nothing once it has expired, and its stream of events ends', async () => {
    const { id, secret } = await makeKey({
      rights: ['read'],
      expires_at: new Date(Date.now() + 86_400_000).toISOString(),
    });
    const stream = await keys.service.request('/api/events', {
      headers: { authorization: `Bearer ${secret}`, accept: 'text/event-stream' },
    });
    expect(stream.status).toBe(200);
    await query(
      keys.database.connectionString,
      `update api_keys set expires_at = now() + interval '2 s' where id = '${id}'`,
    );
    await query(keys.database.connectionString, 'update key_clock set revision = revision + 1');
    await stream.text();
    expect(await codeOf(ask(secret, '/api/threads'))).toEqual([401, 'expired_key']);
  });

  it('has two secrets after a rotation, and one when the rotation says so', async () => {
    const first = await makeKey({ rights: ['read'] });
    const rotate = async (json: Json) =>
      (await ask(null, `/api/keys/${first.id}/rotate`, { json })).json['secret'] as string;
    const second = await rotate({});
    await waitUntil('the new one opens', async () => (await ask(second, '/api/threads')).status === 200);
    expect((await ask(first.secret, '/api/threads')).status).toBe(200);
    const third = await rotate({ overlap_hours: 0 });
    await waitUntil('the others end', async () => (await ask(second, '/api/threads')).status === 401);
    expect((await ask(first.secret, '/api/threads')).status).toBe(401);
    expect((await ask(third, '/api/threads')).status).toBe(200);
  });

  it.each([
    [
      'a wrong secret',
      (made: MadeKey) => `${made.secret.slice(0, -1)}${made.secret.endsWith('A') ? 'E' : 'A'}`,
    ],
    ['an unknown id', (made: MadeKey) => made.secret.replace(/^ewk_.{12}/, 'ewk_000000000000')],
    ['a form of its own', (made: MadeKey) => `${made.secret}x`],
    ['no secret', (made: MadeKey) => `ewk_${made.id}_`],
  ])('with %s opens nothing', async (_, spoil) => {
    const made = await makeKey({ rights: ['admin'] });
    expect((await ask(made.secret, '/api/threads')).status).toBe(200);
    expect(await codeOf(ask(spoil(made), '/api/threads'))).toEqual([401, 'invalid_credentials']);
  });

  it('gives no more than it has', async () => {
    const soon = new Date(Date.now() + 3_600_000).toISOString();
    const { secret, id } = await makeKey({ rights: ['admin'], account_ids: ['sales'], expires_at: soon });
    const own = { name: 'x', rights: ['read'], account_ids: ['sales'], expires_at: soon };
    for (const more of [
      { account_ids: '*' },
      { account_ids: ['sales', 'support'] },
      // Not told apart from one that exists.
      { account_ids: ['sales', 'nobody'] },
      { expires_at: null },
      { expires_at: new Date(Date.now() + 7_200_000).toISOString() },
    ]) {
      expect(await codeOf(ask(secret, '/api/keys', { json: { ...own, ...more } }))).toEqual([
        403,
        'key_exceeds_caller',
      ]);
    }
    const child = await makeKey(own, secret);
    const stronger = await makeKey({ rights: ['read'], account_ids: ['sales'] });
    expect(await codeOf(ask(secret, `/api/keys/${stronger.id}/rotate`, { method: 'POST' }))).toEqual([
      403,
      'key_exceeds_caller',
    ]);
    const wider = await makeKey({ rights: ['read'] });
    for (const [method, path] of [
      ['GET', ''],
      ['DELETE', ''],
      ['POST', '/rotate'],
    ] as const) {
      expect(await codeOf(ask(secret, `/api/keys/${wider.id}${path}`, { method }))).toEqual([
        404,
        'key_not_found',
      ]);
    }
    const listed = (await ask(secret, '/api/keys')).json['keys'] as MadeKey[];
    expect(listed.map((key) => key.id)).toEqual(expect.arrayContaining([id, child.id, stronger.id]));
    expect(listed.map((key) => key.id)).not.toContain(wider.id);
  });

  it.each([
    [{ name: '  ' }, 'invalid_request'],
    [{ rights: [] }, 'invalid_request'],
    [{ rights: ['root'] }, 'invalid_request'],
    [{ account_ids: ['nobody'] }, 'unknown_account'],
    [{ account_ids: [] }, 'invalid_request'],
    [{ account_ids: null }, 'invalid_request'],
    [{ account_ids: undefined }, 'invalid_request'],
    [{ expires_at: '2020-01-01T00:00:00Z' }, 'invalid_request'],
  ])('is refused with %j', async (fields, code) => {
    const json = { name: 'x', rights: ['read'], account_ids: '*', ...fields };
    expect(await codeOf(ask(null, '/api/keys', { json }))).toEqual([400, code]);
  });

  it('names the field when it is not told which accounts a key is for', async () => {
    const { status, json } = await ask(null, '/api/keys', { json: { name: 'x', rights: ['read'] } });
    expect([status, json['error']]).toEqual([400, expect.stringContaining('account_ids')]);
  });

  it('is made, listed, changed, rotated and revoked by commands', async () => {
    const command = (...args: string[]) =>
      runCommandInProcess(['keys', ...args], { dataDir: keys.service.dataDir, env: keys.env });
    const made = await command('create', '--name', 'By hand', '--right', 'read', '--account', 'sales');
    expect([made.exitCode, made.stderr]).toEqual([0, '']);
    const secret = made.stdout.trim();
    expect((await ask(secret, '/api/threads')).status).toBe(200);
    const id = secret.slice(4, 16);
    const listed = await command('list');
    expect(listed.stdout).toMatch(new RegExp(`^${id}  By hand +read +sales +good +(20|never)`, 'm'));
    const asJson = (await command('list', '--json')).stdout.trim().split('\n');
    const idOf = (key: unknown) => (key as MadeKey).id;
    expect(asJson.map((line) => idOf(JSON.parse(line)))).toEqual(
      ((await ask(null, '/api/keys')).json['keys'] as unknown[]).map(idOf),
    );
    expect(listed.stdout).not.toContain(secret);
    expect(await command('change', id, '--rate-limit', '700')).toMatchObject({
      exitCode: 0,
      stdout: `${id} is changed\n`,
    });
    expect((await ask(null, `/api/keys/${id}`)).json).toMatchObject({ name: 'By hand', rate_limit: 700 });
    expect((await command('change', id, '--rate-limit', 'default', '--name', 'CRM')).exitCode).toBe(0);
    expect((await ask(null, `/api/keys/${id}`)).json).toMatchObject({ name: 'CRM', rate_limit: null });
    expect((await command('change', id)).exitCode).toBe(2);
    const rotated = await command('rotate', id, '--overlap', '0');
    await waitUntil('it is rotated', async () => (await ask(secret, '/api/threads')).status === 401);
    expect((await ask(rotated.stdout.trim(), '/api/threads')).status).toBe(200);
    expect(await command('revoke', id)).toMatchObject({ exitCode: 0, stdout: `${id} is revoked\n` });
    await waitUntil('it is revoked', async () => {
      return (await ask(rotated.stdout.trim(), '/api/threads')).status === 401;
    });
    expect((await command('create', '--name', 'x', '--right', 'root', '--all-accounts')).exitCode).toBe(2);
    // Which accounts has to be said.
    for (const accounts of [[], ['--all-accounts', '--account', 'sales']])
      expect((await command('create', '--name', 'x', '--right', 'read', ...accounts)).exitCode).toBe(2);
    const whole = await command('create', '--name', 'x', '--right', 'read', '--all-accounts');
    expect((await ask(whole.stdout.trim(), '/api/accounts')).text).toContain('support');
    expect((await command('create', '--name', 'x', '--right', 'read', '--account', 'nobody')).exitCode).toBe(
      2,
    );
    for (const time of ['2027-02-30', '2020-01-01', 'soon', '2027-01-31T12:00:00'])
      expect(
        (await command('create', '--name', 'x', '--right', 'read', '--all-accounts', '--expires', time))
          .exitCode,
      ).toBe(2);
    expect((await command('revoke', 'unknown')).exitCode).toBe(1);
  });
});

describe('an Idempotency-Key', () => {
  it('is shared by keys that see the same accounts, and unknown to those that see others', async () => {
    const make = (...accounts: string[]) => makeKey({ rights: ['send'], account_ids: accounts });
    const [one, same, other, both] = [
      await make('sales'),
      await make('sales'),
      await make('support'),
      await make('support', 'sales'),
    ];
    const headers = { 'idempotency-key': randomUUID() };
    const send = (secret: string | null, subject: string) =>
      ask(secret, '/api/send', { json: sendBody({ account_id: 'sales', subject }), headers });
    const first = await send(one.secret, 'One');
    expect(first.status).toBe(200);
    expect((await send(same.secret, 'One')).json).toEqual(first.json);
    expect(await codeOf(send(same.secret, 'Two'))).toEqual([409, 'idempotency_key_reused']);
    const json = sendBody({ account_id: 'support', subject: 'Three' });
    expect((await ask(other.secret, '/api/send', { json, headers })).status).toBe(200);
    for (const secret of [both.secret, null]) {
      const own = await send(secret, `Of ${String(secret)}`);
      expect([own.status, own.json['id'] === first.json['id']]).toEqual([200, false]);
    }
  });
});
