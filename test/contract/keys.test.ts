/** Keys: their rights, their accounts, and their end. */
import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { runCommandInProcess } from '../helpers/command-in-process.ts';
import { mail, receive } from '../helpers/inbound-mail.ts';
import { createTestDatabase, type TestDatabase } from '../helpers/postgres.ts';
import { query } from '../helpers/query.ts';
import { disposeService, startServiceProcess, type ServiceProcess } from '../helpers/service-process.ts';
import { writeAccounts } from '../helpers/thread-decisions.ts';
import { waitUntil } from '../helpers/wait-until.ts';

type Json = Record<string, unknown>;

let database: TestDatabase;
let service: ServiceProcess;
let env: Readonly<Record<string, string>>;

beforeAll(async () => {
  database = await createTestDatabase();
  env = {
    DATABASE_URL: database.connectionString,
    ACCOUNTS_FILE: await writeAccounts('sales', 'support', 'billing'),
    WEBHOOK_ALLOW: '127.0.0.0/8',
  };
  service = await startServiceProcess({ env });
});
afterAll(async () => {
  await disposeService(service);
  await database.drop();
});

interface Made {
  readonly id: string;
  readonly secret: string;
}

async function ask(
  secret: string | null,
  target: string,
  init: RequestInit & { json?: unknown } = {},
): Promise<{ readonly status: number; readonly text: string; readonly json: Json }> {
  const headers = { ...init.headers, ...(secret === null ? {} : { authorization: `Bearer ${secret}` }) };
  const response = await service.request(target, { ...init, headers });
  const text = await response.text();
  const isJson = response.headers.get('content-type')?.startsWith('application/json') === true;
  return { status: response.status, text, json: isJson ? (JSON.parse(text) as Json) : {} };
}

async function makeKey(fields: Json, by: string | null = null): Promise<Made> {
  const { status, json, text } = await ask(by, '/api/keys', { json: { name: 'a key', ...fields } });
  if (status !== 200) throw new Error(`${status} ${text}`);
  return { id: (json['key'] as { id: string }).id, secret: json['secret'] as string };
}

const codeOf = async (answer: ReturnType<typeof ask>) => {
  const { status, json } = await answer;
  return [status, json['code']];
};

const sendBody = (fields: Json = {}) => ({
  to: 'ada@customer.test',
  subject: 'Hi',
  text_body: 'Hi',
  ...fields,
});
/** Not sent while the test runs. */
const later = () => new Date(Date.now() + 86_400_000).toISOString();

async function operations(): Promise<
  readonly { id: string; rights: readonly string[] | undefined; any: readonly string[]; call: string }[]
> {
  const { json } = await ask(null, '/api/openapi.json');
  const paths = json['paths'] as Record<
    string,
    Record<string, { operationId: string; 'x-rights'?: string[]; 'x-any-right'?: string[] }>
  >;
  return Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, { operationId, 'x-rights': all, 'x-any-right': any }]) => ({
      id: operationId,
      rights: all ?? any,
      any: any ?? [],
      call: `${method.toUpperCase()} ${path}`,
    })),
  );
}

describe('rights', () => {
  it('open the operations that need them and no others', async () => {
    const rights = ['read', 'draft', 'send', 'receive', 'operate'];
    const secured = (await operations()).filter(({ rights: needed }) => needed !== undefined);
    expect(secured.length).toBeGreaterThan(40);
    const keys = new Map<string, string>();
    for (const right of rights) keys.set(right, (await makeKey({ rights: [right] })).secret);
    for (const { id, rights: needed = [], any, call } of secured) {
      const [method = '', path = ''] = call.split(' ');
      const target = path.replaceAll(/\{\w+\}/g, randomUUID());
      for (const [given, secret] of keys) {
        const init = method === 'GET' ? {} : { method, json: {} };
        // Of the right ones only what comes after the check of the right is of interest.
        if (needed.includes(given) && path === '/api/events') continue;
        const { json } = await ask(secret, target, init);
        const isRefused = json['code'] === 'forbidden_right';
        const lacks = any.length > 0 ? !any.includes(given) : needed.some((right) => right !== given);
        expect([id, given, isRefused]).toEqual([id, given, lacks]);
      }
    }
  });

  it('draft uploads the files of its drafts, for its accounts', async () => {
    const { secret } = await makeKey({ rights: ['draft'], account_ids: ['sales'] });
    const put = (account: string) =>
      ask(secret, `/api/uploads?filename=a.txt&account_id=${account}`, { method: 'POST', body: 'abc' });
    const uploaded = await put('sales');
    expect([uploaded.status, uploaded.json['size_bytes']]).toEqual([201, 3]);
    expect((await put('support')).json['code']).toBe('unknown_account');
    const draft = await ask(secret, '/api/drafts', {
      json: { message: { account_id: 'sales' }, attachments: [{ upload_id: uploaded.json['id'] }] },
    });
    expect([draft.status, draft.json['attachments']]).toEqual([
      200,
      [expect.objectContaining({ filename: 'a.txt', size_bytes: 3 })],
    ]);
  });

  it('are named in German when they are missing', async () => {
    const { secret } = await makeKey({ rights: ['read'] });
    const { status, json } = await ask(secret, '/api/send', { json: sendBody() });
    expect(status).toBe(403);
    expect(json).toEqual({ error: 'Dem Schlüssel fehlt das Recht send.', code: 'forbidden_right' });
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
      account_ids: null,
      created_at: expect.any(String),
      created_by: { kind: 'secret', id: null, name: 'API_SECRET 1' },
      expires_at: null,
      last_used_at: null,
      revoked_at: null,
      old_secret_until: null,
    });
    const rows = await query(database.connectionString, `select row_to_json(k)::text as row from api_keys k`);
    expect(JSON.stringify(rows)).not.toContain(secret.slice(17));
    expect(service.log.join('')).not.toContain(secret.slice(17));
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
    const stream = await service.request('/api/events', {
      headers: { authorization: `Bearer ${secret}`, accept: 'text/event-stream' },
    });
    expect(stream.status).toBe(200);
    const { json } = await ask(null, `/api/keys/${id}`, { method: 'DELETE' });
    expect(json['revoked_at']).not.toBeNull();
    await waitUntil('it opens nothing', async () => (await ask(secret, '/api/threads')).status === 401);
    expect(await stream.text()).toContain('retry: 1000');
    // Once more is no failure.
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
    const stream = await service.request('/api/events', {
      headers: { authorization: `Bearer ${secret}`, accept: 'text/event-stream' },
    });
    expect(stream.status).toBe(200);
    await query(
      database.connectionString,
      `update api_keys set expires_at = now() + interval '2 s' where id = '${id}'`,
    );
    await query(database.connectionString, 'update key_clock set revision = revision + 1');
    await stream.text();
    expect(await codeOf(ask(secret, '/api/threads'))).toEqual([401, 'unauthorized']);
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
    ['a wrong secret', (made: Made) => `${made.secret.slice(0, -1)}${made.secret.endsWith('A') ? 'E' : 'A'}`],
    ['an unknown id', (made: Made) => made.secret.replace(/^ewk_.{12}/, 'ewk_000000000000')],
    ['a form of its own', (made: Made) => `${made.secret}x`],
    ['no secret', (made: Made) => `ewk_${made.id}_`],
  ])('with %s opens nothing', async (_, spoil) => {
    const made = await makeKey({ rights: ['admin'] });
    expect((await ask(made.secret, '/api/threads')).status).toBe(200);
    expect(await codeOf(ask(spoil(made), '/api/threads'))).toEqual([401, 'unauthorized']);
  });

  it('gives no more than it has', async () => {
    const soon = new Date(Date.now() + 3_600_000).toISOString();
    const { secret, id } = await makeKey({ rights: ['admin'], account_ids: ['sales'], expires_at: soon });
    const own = { name: 'x', rights: ['read'], account_ids: ['sales'], expires_at: soon };
    for (const more of [
      { account_ids: null },
      { account_ids: ['sales', 'support'] },
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
    const listed = (await ask(secret, '/api/keys')).json['keys'] as Made[];
    expect(listed.map((key) => key.id)).toEqual(expect.arrayContaining([id, child.id, stronger.id]));
    expect(listed.map((key) => key.id)).not.toContain(wider.id);
  });

  it.each([
    [{ name: '  ' }, 'invalid_request'],
    [{ rights: [] }, 'invalid_request'],
    [{ rights: ['root'] }, 'invalid_request'],
    [{ account_ids: ['nobody'] }, 'unknown_account'],
    [{ account_ids: [] }, 'invalid_request'],
    [{ expires_at: '2020-01-01T00:00:00Z' }, 'invalid_request'],
  ])('is refused with %j', async (fields, code) => {
    const json = { name: 'x', rights: ['read'], ...fields };
    expect(await codeOf(ask(null, '/api/keys', { json }))).toEqual([400, code]);
  });

  it('is made, listed, rotated and revoked by commands', async () => {
    const command = (...args: string[]) =>
      runCommandInProcess(['keys', ...args], { dataDir: service.dataDir, env });
    const made = await command('create', '--name', 'By hand', '--right', 'read', '--account', 'sales');
    expect([made.exitCode, made.stderr]).toEqual([0, '']);
    const secret = made.stdout.trim();
    expect((await ask(secret, '/api/threads')).status).toBe(200);
    const id = secret.slice(4, 16);
    const listed = await command('list');
    expect(listed.stdout).toMatch(new RegExp(`^${id}  By hand +read +sales +good +(20|never)`, 'm'));
    const asJson = (await command('list', '--json')).stdout.trim().split('\n');
    const idOf = (key: unknown) => (key as Made).id;
    expect(asJson.map((line) => idOf(JSON.parse(line)))).toEqual(
      ((await ask(null, '/api/keys')).json['keys'] as unknown[]).map(idOf),
    );
    expect(listed.stdout).not.toContain(secret);
    const rotated = await command('rotate', id, '--overlap', '0');
    await waitUntil('it is rotated', async () => (await ask(secret, '/api/threads')).status === 401);
    expect((await ask(rotated.stdout.trim(), '/api/threads')).status).toBe(200);
    expect(await command('revoke', id)).toMatchObject({ exitCode: 0, stdout: `${id} is revoked\n` });
    await waitUntil('it is revoked', async () => {
      return (await ask(rotated.stdout.trim(), '/api/threads')).status === 401;
    });
    expect((await command('create', '--name', 'x', '--right', 'root')).exitCode).toBe(2);
    expect((await command('create', '--name', 'x', '--right', 'read', '--account', 'nobody')).exitCode).toBe(
      2,
    );
    for (const time of ['2027-02-30', '2020-01-01', 'soon', '2027-01-31T12:00:00'])
      expect((await command('create', '--name', 'x', '--right', 'read', '--expires', time)).exitCode).toBe(2);
    expect((await command('revoke', 'unknown')).exitCode).toBe(1);
  });
});

/** Things of the account that the key does not see. */
interface Others {
  readonly thread: string;
  readonly otherThread: string;
  readonly email: string;
  readonly queued: string;
  readonly attachment: string;
  readonly quarantined: string;
  readonly webhook: string;
  readonly wholeWebhook: string;
  readonly key: string;
  readonly draft: string;
  readonly draftFile: string;
  readonly unsubscribe: string;
  readonly template: string;
  readonly wholeTemplate: string;
  readonly customer: string;
}

type Expected = readonly [status: number, code: string];
/** What a request of the key about things of the other account gets; `lists`: 200, and nothing of them in it. */
type Check = readonly [target: string, init: RequestInit & { json?: unknown }, expected: Expected | 'lists'];

const GET = {};
const POST = { method: 'POST' };
const THREAD: Expected = [404, 'thread_not_found'];
const EMAIL: Expected = [404, 'email_not_found'];
const VARIANT: Expected = [404, 'variant_not_found'];
const WEBHOOK: Expected = [404, 'webhook_not_found'];
const KEY: Expected = [404, 'key_not_found'];
const ATTACHMENT: Expected = [404, 'attachment_not_found'];
const DRAFT: Expected = [404, 'draft_not_found'];
const TEMPLATE: Expected = [404, 'template_not_found'];
const REFUSED: Expected = [403, 'forbidden_account'];
const UNKNOWN: Expected = [400, 'unknown_account'];

/** By operation; null: it is about no account. */
const CHECKS: Readonly<Record<string, ((others: Others) => readonly Check[]) | null>> = {
  getHealth: null,
  getReadiness: null,
  getOpenApiDocument: null,
  getLatestEvent: null,
  // Of the key itself.
  openSession: null,
  getSession: null,
  endSession: null,
  endSessions: null,
  getThread: ({ thread }) => [[`/api/thread/${thread}`, GET, THREAD]],
  getThreadPage: ({ thread }) => [[`/api/threads/${thread}`, GET, THREAD]],
  changeThread: ({ thread }) => [
    [`/api/threads/${thread}`, { method: 'PATCH', json: { status: 'done' } }, THREAD],
  ],
  getSafeHtml: ({ email }) => [[`/api/emails/${email}/html`, GET, EMAIL]],
  // Its signature is the permission.
  getImage: null,
  listThreads: () => [
    ['/api/threads', GET, 'lists'],
    ['/api/threads?q=geheim', GET, 'lists'],
    ['/api/threads?account_id=support', GET, UNKNOWN],
  ],
  listUnsubscribes: () => [
    ['/api/unsubscribes', GET, 'lists'],
    ['/api/unsubscribes?account_id=support', GET, UNKNOWN],
  ],
  removeUnsubscribe: ({ unsubscribe }) => [
    [`/api/unsubscribes/${unsubscribe}`, { method: 'DELETE' }, [404, 'unsubscribe_not_found']],
  ],
  countFolders: () => [
    ['/api/folders', GET, 'lists'],
    ['/api/folders?account_id=support', GET, UNKNOWN],
  ],
  markThreadRead: ({ thread }) => [[`/api/thread/${thread}/read`, POST, THREAD]],
  markThreadUnread: ({ thread }) => [[`/api/thread/${thread}/unread`, POST, THREAD]],
  splitThread: ({ thread, email }) => [
    [`/api/thread/${thread}/split`, { json: { email_ids: [email] } }, THREAD],
    [`/api/thread/OWN/split`, { json: { email_ids: [email] } }, EMAIL],
  ],
  mergeThreads: ({ thread }) => [
    [`/api/thread/${thread}/merge`, { json: { thread_id: 'OWN' } }, THREAD],
    [`/api/thread/OWN/merge`, { json: { thread_id: thread } }, THREAD],
  ],
  moveEmails: ({ thread, email }) => [
    [`/api/thread/${thread}/move`, { json: { email_ids: [email] } }, THREAD],
    [`/api/thread/OWN/move`, { json: { email_ids: [email] } }, EMAIL],
  ],
  listRefusedMerges: () => [
    ['/api/refused-merges', GET, 'lists'],
    ['/api/refused-merges?account_id=support', GET, UNKNOWN],
  ],
  explainPlacement: ({ email }) => [[`/api/emails/${email}/placement`, GET, EMAIL]],
  getEmail: ({ email }) => [[`/api/emails/${email}`, GET, EMAIL]],
  getRawEmail: ({ email }) => [[`/api/emails/${email}/raw`, GET, EMAIL]],
  getVariant: ({ email }) => [[`/api/emails/${email}/variants/${randomUUID()}`, GET, VARIANT]],
  getRawVariant: ({ email }) => [[`/api/emails/${email}/variants/${randomUUID()}/raw`, GET, VARIANT]],
  getAttachment: ({ attachment }) => [[`/api/attachments/${attachment}`, GET, ATTACHMENT]],
  listEmails: () => [
    ['/api/emails', GET, 'lists'],
    ['/api/emails?q=geheim', GET, 'lists'],
    ['/api/emails?state=queued', GET, 'lists'],
    ['/api/emails?account_id=support', GET, UNKNOWN],
  ],
  listCustomerEmails: ({ customer }) => [[`/api/customer/${customer}/emails`, GET, 'lists']],
  completeAddresses: () => [
    ['/api/addresses', GET, 'lists'],
    ['/api/addresses?q=ada', GET, 'lists'],
    ['/api/addresses?account_id=support', GET, UNKNOWN],
  ],
  getCustomer: ({ customer }) => [[`/api/customer/${customer}`, GET, 'lists']],
  listCustomers: () => [
    ['/api/customers', GET, 'lists'],
    ['/api/customers?q=eve', GET, 'lists'],
  ],
  getCustomerAddresses: ({ customer }) => [[`/api/customer/${customer}/addresses`, GET, REFUSED]],
  putCustomerAddresses: ({ customer }) => [
    [
      `/api/customer/${customer}/addresses`,
      { method: 'PUT', json: { addresses: ['eve@customer.test'], domains: [] } },
      REFUSED,
    ],
  ],
  listAmbiguousClaims: () => [['/api/customers/ambiguous', GET, REFUSED]],
  listAmbiguousEmails: () => [['/api/customers/ambiguous/emails', GET, REFUSED]],
  listSuppressions: () => [['/api/suppressions', GET, REFUSED]],
  getSuppression: () => [['/api/suppressions/eve@customer.test', GET, REFUSED]],
  suppress: () => [['/api/suppressions/eve@customer.test', { method: 'PUT', json: {} }, REFUSED]],
  liftSuppression: () => [['/api/suppressions/eve@customer.test', { method: 'DELETE' }, REFUSED]],
  sendEmail: ({ thread, attachment, template }) => [
    ['/api/send', { json: sendBody({ account_id: 'support' }) }, UNKNOWN],
    ['/api/send', { json: sendBody({ thread_id: thread }) }, THREAD],
    [
      '/api/send',
      { json: sendBody({ thread_id: thread }), headers: { 'idempotency-key': randomUUID() } },
      THREAD,
    ],
    ['/api/send', { json: sendBody({ attachments: [{ attachment_id: attachment }] }) }, ATTACHMENT],
    ['/api/send', { json: sendBody({ template_id: template }) }, TEMPLATE],
  ],
  sendBatch: ({ thread, attachment }) => [
    [
      '/api/send/batch',
      {
        json: {
          emails: [
            sendBody({ account_id: 'support' }),
            sendBody({ thread_id: thread }),
            sendBody({ attachments: [{ attachment_id: attachment }] }),
          ],
        },
      },
      'lists',
    ],
  ],
  createUpload: () => [['/api/uploads?filename=a&account_id=support', { ...POST, body: 'a' }, UNKNOWN]],
  createDraft: ({ thread, email, attachment }) => [
    ['/api/drafts', { json: { message: { account_id: 'support' } } }, UNKNOWN],
    ['/api/drafts', { json: { message: { thread_id: thread } } }, THREAD],
    ['/api/drafts', { json: { answers: { email_id: email } } }, EMAIL],
    ['/api/drafts', { json: { attachments: [{ attachment_id: attachment }] } }, ATTACHMENT],
  ],
  listDrafts: ({ thread }) => [
    ['/api/drafts', GET, 'lists'],
    [`/api/drafts?thread_id=${thread}`, GET, 'lists'],
    ['/api/drafts?account_id=support', GET, UNKNOWN],
  ],
  getDraft: ({ draft }) => [[`/api/drafts/${draft}`, GET, DRAFT]],
  getDraftAttachment: ({ draft, draftFile }) => [
    [`/api/drafts/${draft}/attachments/${draftFile}`, GET, [404, 'draft_file_not_found']],
  ],
  changeDraft: ({ draft }) => [
    [`/api/drafts/${draft}`, { method: 'PATCH', json: {}, headers: { 'if-match': '"1"' } }, DRAFT],
  ],
  deleteDraft: ({ draft }) => [[`/api/drafts/${draft}`, { method: 'DELETE' }, DRAFT]],
  sendDraft: ({ draft }) => [
    [`/api/drafts/${draft}/send`, POST, DRAFT],
    [`/api/drafts/${draft}/send`, { ...POST, headers: { 'if-match': '"1"' } }, DRAFT],
  ],
  createTemplate: () => [
    ['/api/templates', { json: { name: 'x', subject: 'x', text_body: 'x', account_id: 'support' } }, UNKNOWN],
  ],
  listTemplates: () => [
    ['/api/templates', GET, 'lists'],
    ['/api/templates?account_id=support', GET, UNKNOWN],
  ],
  getTemplate: ({ template }) => [[`/api/templates/${template}`, GET, TEMPLATE]],
  changeTemplate: ({ template, wholeTemplate }) =>
    [template, wholeTemplate].map((id) => [
      `/api/templates/${id}`,
      { method: 'PATCH', json: { name: 'y' }, headers: { 'if-match': '"1"' } },
      id === template ? TEMPLATE : REFUSED,
    ]),
  deleteTemplate: ({ template, wholeTemplate }) => [
    [`/api/templates/${template}`, { method: 'DELETE' }, TEMPLATE],
    [`/api/templates/${wholeTemplate}`, { method: 'DELETE' }, REFUSED],
  ],
  previewTemplate: ({ template }) => [[`/api/templates/${template}/preview`, POST, TEMPLATE]],
  previewReply: ({ email }) => [[`/api/emails/${email}/reply`, GET, EMAIL]],
  replyToEmail: ({ email }) => [[`/api/emails/${email}/reply`, { json: { text_body: 'x' } }, EMAIL]],
  replyToAll: ({ email }) => [
    [
      `/api/emails/${email}/reply-all`,
      { json: { text_body: 'x' }, headers: { 'idempotency-key': randomUUID() } },
      EMAIL,
    ],
  ],
  forwardEmail: ({ email }) => [
    [`/api/emails/${email}/forward`, { json: { to: 'eve@customer.test' } }, EMAIL],
  ],
  erasePerson: () => [['/api/erasures', { json: { address: 'ada@customer.test' } }, REFUSED]],
  getErasure: () => [[`/api/erasures/${randomUUID()}`, GET, REFUSED]],
  deleteEmail: ({ email }) => [[`/api/emails/${email}`, { method: 'DELETE' }, EMAIL]],
  deleteThread: ({ thread }) => [[`/api/threads/${thread}`, { method: 'DELETE' }, THREAD]],
  changeSend: ({ queued }) => [
    [
      `/api/emails/${queued}`,
      { method: 'PATCH', json: { subject: 'x' }, headers: { 'if-match': '"1"' } },
      EMAIL,
    ],
  ],
  cancelSend: ({ queued }) => [[`/api/emails/${queued}/cancel`, POST, EMAIL]],
  retrySend: ({ queued }) => [[`/api/emails/${queued}/retry`, POST, EMAIL]],
  retrySentCopy: ({ queued }) => [[`/api/emails/${queued}/sent-copy/retry`, POST, EMAIL]],
  resolveSend: ({ queued }) => [[`/api/emails/${queued}/resolve`, { json: { outcome: 'sent' } }, EMAIL]],
  receiveEmail: () => [
    [
      '/api/inbound?account_id=support',
      { ...POST, body: mail(), headers: { 'content-type': 'message/rfc822' } },
      UNKNOWN,
    ],
  ],
  listAccounts: () => [['/api/accounts', GET, 'lists']],
  listQuarantine: () => [
    ['/api/quarantine', GET, 'lists'],
    ['/api/quarantine?account_id=support', GET, UNKNOWN],
  ],
  retryQuarantined: ({ quarantined }) => [
    [`/api/quarantine/${quarantined}/retry`, POST, [404, 'quarantined_not_found']],
  ],
  listEvents: () => [
    ['/api/events', GET, 'lists'],
    ['/api/events?account_id=support', GET, UNKNOWN],
  ],
  createWebhook: () => [
    ['/api/webhooks', { json: { url: 'http://127.0.0.1:9/', account_id: 'support' } }, UNKNOWN],
  ],
  listWebhooks: () => [['/api/webhooks', GET, 'lists']],
  getWebhook: ({ webhook, wholeWebhook }) => [
    [`/api/webhooks/${webhook}`, GET, WEBHOOK],
    [`/api/webhooks/${wholeWebhook}`, GET, WEBHOOK],
  ],
  changeWebhook: ({ webhook, wholeWebhook }) => [
    [`/api/webhooks/${webhook}`, { method: 'PATCH', json: { account_id: 'sales' } }, WEBHOOK],
    [`/api/webhooks/${wholeWebhook}`, { method: 'PATCH', json: { account_id: 'sales' } }, WEBHOOK],
  ],
  deleteWebhook: ({ webhook }) => [[`/api/webhooks/${webhook}`, { method: 'DELETE' }, WEBHOOK]],
  pauseWebhook: ({ webhook }) => [[`/api/webhooks/${webhook}/pause`, POST, WEBHOOK]],
  resumeWebhook: ({ webhook }) => [[`/api/webhooks/${webhook}/resume`, POST, WEBHOOK]],
  replayWebhook: ({ webhook }) => [
    [`/api/webhooks/${webhook}/replay`, { json: { since: new Date().toISOString() } }, WEBHOOK],
  ],
  rotateWebhookSecret: ({ webhook }) => [[`/api/webhooks/${webhook}/rotate-secret`, POST, WEBHOOK]],
  testWebhook: ({ webhook }) => [[`/api/webhooks/${webhook}/test`, POST, WEBHOOK]],
  listWebhookDeliveries: ({ webhook }) => [[`/api/webhooks/${webhook}/deliveries`, GET, WEBHOOK]],
  getStatistics: () => [
    ['/api/statistics', GET, 'lists'],
    ['/api/statistics?account_id=support', GET, UNKNOWN],
  ],
  listImports: () => [
    ['/api/imports', GET, 'lists'],
    ['/api/imports?account_id=support', GET, UNKNOWN],
  ],
  listAudit: () => [['/api/audit', GET, REFUSED]],
  createKey: () => [
    [
      '/api/keys',
      { json: { name: 'x', rights: ['read'], account_ids: ['support'] } },
      [403, 'key_exceeds_caller'],
    ],
  ],
  listKeys: () => [['/api/keys', GET, 'lists']],
  getKey: ({ key }) => [[`/api/keys/${key}`, GET, KEY]],
  revokeKey: ({ key }) => [[`/api/keys/${key}`, { method: 'DELETE' }, KEY]],
  rotateKey: ({ key }) => [[`/api/keys/${key}/rotate`, POST, KEY]],
};

describe('a key of one account', () => {
  let key: Made;
  let own: { readonly threadId: string; readonly id: string };
  let others: Others;

  async function makeWebhook(accountId: string | null): Promise<string> {
    const { json } = await ask(null, '/api/webhooks', {
      json: { url: 'http://127.0.0.1:9/', account_id: accountId },
    });
    return (json['webhook'] as { id: string }).id;
  }

  beforeAll(async () => {
    key = await makeKey({ rights: ['admin'], account_ids: ['sales'] });
    const customer = randomUUID();
    const sent = await ask(null, '/api/send', {
      json: sendBody({
        account_id: 'support',
        subject: 'geheim',
        customer_id: customer,
        attachments: [{ filename: 'geheim.txt', content: 'Z2VoZWlt', content_type: 'text/plain' }],
      }),
    });
    const queued = await ask(null, '/api/send', {
      json: sendBody({ account_id: 'support', send_at: later() }),
    });
    const email = sent.json['id'] as string;
    const detail = (await ask(null, `/api/emails/${email}`)).json;
    const received = await receive(service, mail({ subject: 'geheim' }), '?account_id=support');
    const [row] = await query(
      database.connectionString,
      `with a as (insert into mailbox_accounts (account_id) values ('support') returning account_id),
        b as (insert into mailboxes (account_id, path) select account_id, 'INBOX' from a returning id)
      insert into mailbox_messages (mailbox_id, uid_validity, uid, quarantine_id, quarantined_at, seen_at, tries, last_error)
      select id, 1, 1, gen_random_uuid(), now(), now(), 4, 'x' from b returning quarantine_id`,
    );
    const [left] = await query(
      database.connectionString,
      `insert into unsubscribes (id, account_id, list, address, email_id)
      values (gen_random_uuid(), 'support', 'geheim', 'ada@customer.test', gen_random_uuid()) returning id`,
    );
    const draft = await ask(null, '/api/drafts', {
      json: {
        message: { account_id: 'support', subject: 'geheim' },
        attachments: [{ filename: 'geheim.txt', content: 'Z2VoZWlt' }],
      },
    });
    const makeTemplate = async (accountId: string | null) => {
      const json = {
        name: accountId === null ? 'everybody' : 'geheim',
        subject: 'x',
        text_body: 'x',
        account_id: accountId,
      };
      return (await ask(null, '/api/templates', { json })).json['id'] as string;
    };
    const template = await makeTemplate('support');
    const wholeTemplate = await makeTemplate(null);
    own = await receive(service, mail(), '?account_id=sales');
    others = {
      thread: sent.json['threadId'] as string,
      otherThread: received.threadId,
      email,
      queued: queued.json['id'] as string,
      attachment: (detail['email_attachments'] as { id: string }[])[0]?.id ?? '',
      quarantined: row?.['quarantine_id'] as string,
      webhook: await makeWebhook('support'),
      wholeWebhook: await makeWebhook(null),
      key: (await makeKey({ rights: ['read'], account_ids: ['support'] })).id,
      draft: draft.json['id'] as string,
      draftFile: (draft.json['attachments'] as { id: string }[])[0]?.id ?? '',
      unsubscribe: left?.['id'] as string,
      template,
      wholeTemplate,
      customer,
    };
    await waitUntil('all events are numbered, and all words found', async () => {
      const [waiting] = await query(
        database.connectionString,
        `select (select count(*) from event_inbox) + (select count(*) from search_queue) as n`,
      );
      return Number(waiting?.['n']) === 0;
    });
  });

  it('is checked against every operation that there is', async () => {
    expect(Object.keys(CHECKS).sort()).toEqual((await operations()).map(({ id }) => id).sort());
  });

  it('does not see, and does not change, what is of another account', async () => {
    const before = await everything();
    for (const [operation, check] of Object.entries(CHECKS)) {
      for (const [target, init, expected] of check?.(others) ?? []) {
        const owned = (text: string) => text.replaceAll('OWN', own.threadId);
        const json =
          init.json === undefined ? {} : { json: JSON.parse(owned(JSON.stringify(init.json))) as unknown };
        const answer = await ask(key.secret, owned(target), { ...init, ...json });
        const seen = Object.entries(others).filter(([, id]) => answer.text.includes(String(id)));
        // The customer and the file of the draft are in the request itself, and a template of all accounts is there to be read.
        const names = seen
          .map(([name]) => name)
          .filter((name) => !['customer', 'draftFile', 'wholeTemplate'].includes(name));
        const leak = /geheim/.test(answer.text) ? [...names, 'geheim'] : names;
        const [status, code] = expected === 'lists' ? [200, undefined] : expected;
        expect([operation, target, answer.status, answer.json['code'], leak]).toEqual([
          operation,
          target,
          status,
          code,
          [],
        ]);
      }
    }
    expect(await everything()).toEqual(before);
  });

  /** What the account has, as the secret sees it. */
  async function everything(): Promise<readonly unknown[]> {
    return Promise.all(
      [
        `/api/thread/${others.thread}`,
        '/api/emails?account_id=support',
        '/api/threads?account_id=support',
        '/api/quarantine?account_id=support',
        '/api/webhooks',
        `/api/keys/${others.key}`,
        '/api/suppressions',
        '/api/unsubscribes?account_id=support',
        '/api/templates?account_id=support',
      ].map(async (target) => {
        const { status, json } = await ask(null, target);
        expect([target, status]).toEqual([target, 200]);
        // How far deliveries came changes by itself.
        const settings = (webhook: Json) => [webhook['id'], webhook['account_id'], webhook['paused_at']];
        return 'webhooks' in json ? (json['webhooks'] as Json[]).map(settings) : json;
      }),
    );
  }

  it('sees and does what is of its own', async () => {
    expect((await ask(key.secret, `/api/thread/${own.threadId}`)).status).toBe(200);
    expect((await ask(key.secret, `/api/emails/${own.id}/raw`)).text).toContain('Guten Tag');
    expect((await ask(key.secret, '/api/threads')).text).toContain(own.threadId);
    expect((await ask(key.secret, '/api/emails')).text).toContain(own.id);
    expect((await ask(key.secret, '/api/events')).text).toContain(own.id);
    const replied = await ask(key.secret, '/api/send', { json: sendBody({ thread_id: own.threadId }) });
    expect(replied.json).toMatchObject({ status: 'sent', threadId: own.threadId });
    const received = await ask(key.secret, '/api/inbound', {
      method: 'POST',
      body: mail(),
      headers: { 'content-type': 'message/rfc822' },
    });
    expect(received.status).toBe(200);
    const webhook = await ask(key.secret, '/api/webhooks', { json: { url: 'http://127.0.0.1:9/' } });
    expect(webhook.json['webhook']).toMatchObject({ account_id: 'sales' });
    const { id } = webhook.json['webhook'] as { id: string };
    const widened = ask(key.secret, `/api/webhooks/${id}`, { method: 'PATCH', json: { account_id: null } });
    expect(await codeOf(widened)).toEqual([400, 'invalid_request']);
    expect((await ask(key.secret, `/api/webhooks/${id}`, { method: 'DELETE' })).status).toBe(200);
  });

  it('sends from its only account when it names none', async () => {
    const { secret } = await makeKey({ rights: ['send', 'read'], account_ids: ['support'] });
    const { json } = await ask(secret, '/api/send', { json: sendBody() });
    expect((await ask(secret, `/api/emails/${String(json['id'])}`)).json).toMatchObject({
      account_id: 'support',
    });
  });

  it('of several accounts must name one unless it has the default one', async () => {
    const two = await makeKey({ rights: ['admin'], account_ids: ['support', 'billing'] });
    expect(await codeOf(ask(two.secret, '/api/send', { json: sendBody() }))).toEqual([
      400,
      'invalid_request',
    ]);
    const webhook = { json: { url: 'http://127.0.0.1:9/' } };
    expect(await codeOf(ask(two.secret, '/api/webhooks', webhook))).toEqual([400, 'invalid_request']);
    const threads = await ask(two.secret, '/api/threads');
    expect(threads.text).toContain(others.thread);
    expect(threads.text).not.toContain(own.threadId);
    expect((await ask(two.secret, '/api/events')).text).not.toContain(own.id);
    expect((await ask(two.secret, '/api/webhooks')).text).not.toContain(others.wholeWebhook);
    expect((await ask(two.secret, '/api/webhooks')).text).toContain(others.webhook);
  });
});

describe('a key that may not read', () => {
  const SECRET_TEXT = 'verborgen';
  /** A received email with a file, and a queued one, that say the secret text wherever an email can. */
  async function plant(accountId = 'billing') {
    const raw = [
      `From: ${SECRET_TEXT} <ada@${SECRET_TEXT}.test>`,
      'To: billing@example.com',
      `Subject: ${SECRET_TEXT}`,
      `Message-ID: <${randomUUID()}@customer.test>`,
      'MIME-Version: 1.0',
      'Content-Type: multipart/mixed; boundary=b',
      '',
      '--b\r\n',
      `${SECRET_TEXT}\r\n--b`,
      `Content-Type: text/plain; name=${SECRET_TEXT}.txt`,
      'Content-Disposition: attachment\r\n',
      `${SECRET_TEXT}\r\n--b--\r\n`,
    ].join('\r\n');
    const received = await receive(service, raw, `?account_id=${accountId}`);
    const detail = (await ask(null, `/api/emails/${received.id}`)).json;
    const queued = await ask(null, '/api/send', {
      json: sendBody({
        account_id: accountId,
        subject: SECRET_TEXT,
        text_body: SECRET_TEXT,
        attachments: [{ filename: `${SECRET_TEXT}.txt`, content: 'dmVyYm9yZ2Vu' }],
        send_at: later(),
      }),
    });
    return {
      thread: received.threadId,
      email: received.id,
      messageId: received.messageId,
      attachment: (detail['email_attachments'] as { id: string }[])[0]!.id,
      queued: queued.json['id'] as string,
    };
  }
  const FORBIDDEN: Expected = [403, 'forbidden_right'];
  const sentFrom = async (accountId: string) =>
    (await ask(null, `/api/emails?account_id=${accountId}&direction=outbound&limit=200`)).json['emails'];

  it.each([
    ['of a send', '/api/send', {}],
    ['of a queued send', '/api/send', { headers: { prefer: 'respond-async' } }],
    ['of a send at a time', '/api/send', { more: { send_at: later() } }],
    ['of a send with a key of its own', '/api/send', { headers: { 'idempotency-key': 'a-file' } }],
    ['of a draft', '/api/drafts', {}],
    ['of a reply', 'reply', {}],
    ['of a forward', 'forward', {}],
  ])(
    'is refused a file of an email in the body %s, whether there is one or not',
    async (_, path, options) => {
      const { email, attachment } = await plant();
      const { headers = {}, more = {} } = options as { headers?: Record<string, string>; more?: Json };
      const target = path.startsWith('/') ? path : `/api/emails/${email}/${path}`;
      const { secret } = await makeKey({ rights: ['draft', 'send', 'receive', 'operate'] });
      const before = await sentFrom('billing');
      for (const id of [attachment, attachment.toUpperCase(), randomUUID()]) {
        const attachments = [{ filename: 'a', content: '' }, { attachment_id: id }];
        const { subject, ...answer } = sendBody({ attachments, ...more });
        const json =
          path === '/api/drafts'
            ? { message: { account_id: 'billing', subject }, attachments }
            : path.startsWith('/')
              ? { ...answer, subject, account_id: 'billing' }
              : answer;
        expect(await codeOf(ask(secret, target, { json, headers }))).toEqual(FORBIDDEN);
      }
      expect(await sentFrom('billing')).toEqual(before);
    },
  );

  it('is refused only those emails of a batch that name a file of an email', async () => {
    const { attachment } = await plant();
    const { secret } = await makeKey({ rights: ['send'] });
    const upload = await ask(secret, '/api/uploads?filename=a&account_id=billing', { ...POST, body: 'a' });
    const email = (attachments: readonly object[]) => sendBody({ account_id: 'billing', attachments });
    const answer = await ask(secret, '/api/send/batch', {
      json: {
        emails: [
          email([{ attachment_id: attachment }]),
          email([{ upload_id: upload.json['id'] }]),
          email([{ attachment_id: randomUUID() }]),
        ],
      },
    });
    const results = answer.json['results'] as Json[];
    expect(results.map(({ http_status: status, code }) => [status, code])).toEqual([
      FORBIDDEN,
      [200, undefined],
      FORBIDDEN,
    ]);
  });

  it('gets no earlier answer to a send with a file of an email', async () => {
    const { attachment } = await plant();
    const headers = { 'idempotency-key': randomUUID() };
    const json = sendBody({ account_id: 'billing', attachments: [{ attachment_id: attachment }] });
    const reader = await makeKey({ rights: ['read', 'send'] });
    const sender = await makeKey({ rights: ['send'] });
    expect((await ask(reader.secret, '/api/send', { json, headers })).status).toBe(200);
    expect(await codeOf(ask(sender.secret, '/api/send', { json, headers }))).toEqual(FORBIDDEN);
  });

  it('may send a file of an email once it may read, and those of its accounts alone', async () => {
    const [own, other] = [await plant('billing'), await plant('support')];
    const { secret } = await makeKey({ rights: ['read', 'send'], account_ids: ['billing', 'sales'] });
    const send = (attachment: string, accountId: string) =>
      codeOf(
        ask(secret, '/api/send', {
          json: sendBody({ account_id: accountId, attachments: [{ attachment_id: attachment }] }),
        }),
      );
    expect(await send(own.attachment, 'billing')).toEqual([200, undefined]);
    expect(await send(other.attachment, 'billing')).toEqual(ATTACHMENT);
    // Both accounts are the key's, but the file is not of the one that sends.
    expect(await send(own.attachment, 'sales')).toEqual(ATTACHMENT);
  });

  it('may not keep the files of a send that waits, nor have it sent to itself', async () => {
    const { queued } = await plant();
    const before = await ask(null, `/api/emails/${queued}`);
    const [{ id: file } = { id: '' }] = before.json['email_attachments'] as { id: string }[];
    const { secret } = await makeKey({ rights: ['draft', 'send', 'receive', 'operate'] });
    for (const json of [{}, { to: 'eve@else.test' }, { attachments: [{ attachment_id: file }] }]) {
      const change = ask(secret, `/api/emails/${queued}`, {
        method: 'PATCH',
        json,
        headers: { 'if-match': '"1"' },
      });
      expect(await codeOf(change)).toEqual(FORBIDDEN);
    }
    expect((await ask(null, `/api/emails/${queued}`)).json).toEqual(before.json);
  });

  it('is told nothing of an email by any operation that it may use', async () => {
    const { thread, email, messageId, queued, attachment } = await plant();
    const { secret } = await makeKey({ rights: ['draft', 'send', 'receive', 'operate'] });
    const sendMore = sendBody({ account_id: 'billing', thread_id: thread, in_reply_to: messageId });
    const bodies: Readonly<Record<string, RequestInit & { json?: unknown }>> = {
      sendEmail: { json: sendMore },
      sendBatch: { json: { emails: [sendMore] } },
      createDraft: {
        json: { answers: { email_id: email, kind: 'forward' }, message: { to: 'eve@else.test' } },
      },
      splitThread: { json: { email_ids: [email] } },
      mergeThreads: { json: { thread_id: thread } },
      moveEmails: { json: { email_ids: [email] } },
      resolveSend: { json: { outcome: 'sent' } },
      receiveEmail: {
        body: mail({ inReplyTo: messageId }),
        headers: { 'content-type': 'message/rfc822' },
      },
      createUpload: { body: 'a' },
    };
    // What deletes comes last.
    const all = [...(await operations())].sort(
      (a, b) => Number(a.id.startsWith('delete')) - Number(b.id.startsWith('delete')),
    );
    const answered: string[] = [];
    for (const { id, call } of all) {
      // Drafts and templates are for those who write, and the document names every right.
      if (/draft|template/i.test(id) && id !== 'createDraft') continue;
      if (id === 'getOpenApiDocument' || id === 'endSessions') continue;
      const [method = '', path = ''] = call.split(' ');
      for (const target of path === '/api/emails/{id}/cancel' ? [queued] : [email, queued]) {
        const url = path
          .replace('{threadId}', thread)
          .replace('/api/attachments/{id}', `/api/attachments/${attachment}`)
          .replace('/api/threads/{id}', `/api/threads/${thread}`)
          .replace('{id}', target)
          .replaceAll(/\{\w+\}/g, randomUUID());
        const init = method === 'GET' ? {} : { method, json: {}, ...bodies[id] };
        if ('body' in init) delete (init as { json?: unknown }).json;
        const { status, text } = await ask(secret, url, init);
        expect([id, text]).toEqual([id, expect.not.stringContaining(SECRET_TEXT)]);
        if (status >= 200 && status < 300) answered.push(id);
      }
    }
    expect(answered).toEqual(
      expect.arrayContaining(['sendEmail', 'createDraft', 'cancelSend', 'retrySend', 'deleteEmail']),
    );
  });

  it('sends nothing of a thread that it answers in', async () => {
    const { thread, messageId } = await plant();
    const { secret } = await makeKey({ rights: ['send'] });
    const json = sendBody({ account_id: 'billing', thread_id: thread, in_reply_to: messageId });
    const { id, threadId } = (await ask(secret, '/api/send', { json })).json;
    expect(threadId).toBe(thread);
    const raw = await ask(null, `/api/emails/${String(id)}/raw`);
    expect([raw.status, raw.text]).toEqual([200, expect.not.stringContaining(SECRET_TEXT)]);
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
