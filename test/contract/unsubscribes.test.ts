/** Lists that recipients leave with one click, through the built service. */
import { createPrivateKey, generateKeyPairSync, randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { dkimRecord } from '../../src/core/delivery/sender-records.ts';
import { backgroundWorkIsDone } from '../helpers/background-work.ts';
import { verifyByMailauth } from '../helpers/dkim-verifiers.ts';
import { createTestDatabase, type TestDatabase } from '../helpers/postgres.ts';
import { query } from '../helpers/query.ts';
import { getJson } from '../helpers/running-service.ts';
import { disposeService, startServiceProcess, type ServiceProcess } from '../helpers/service-process.ts';
import { startSmtpSink, type SmtpSink } from '../helpers/smtp-sink.ts';
import { waitUntil } from '../helpers/wait-until.ts';

const PUBLIC_URL = 'https://mail.example.com/post';
const PEM = generateKeyPairSync('ed25519').privateKey.export({ type: 'pkcs8', format: 'pem' }).toString();
const ONE_CLICK = 'List-Unsubscribe=One-Click';

interface Unsubscribe {
  readonly id: string;
  readonly list: string;
  readonly address: string;
  readonly email_id: string;
}

let database: TestDatabase;
let sink: SmtpSink;
let env: Record<string, string>;
let service: ServiceProcess;

beforeAll(async () => {
  database = await createTestDatabase();
  sink = await startSmtpSink();
  env = {
    DATABASE_URL: database.connectionString,
    SMTP_URL: sink.url,
    MAIL_FROM: 'News <news@example.com>',
    PUBLIC_URL: `${PUBLIC_URL}/`,
    DKIM_KEYS: 'e=${KEY}',
    KEY: PEM,
  };
  service = await startServiceProcess({ env });
});
afterAll(async () => {
  await disposeService(service);
  await sink.stop();
  await database.drop();
});

const send = (to: string, unsubscribe: unknown, more: object = {}) =>
  service.request('/api/send', {
    method: 'POST',
    json: { to, subject: 'News', text_body: 'Hello', unsubscribe, ...more },
  });

/** The link of an email that is sent to get one. */
async function linkFor(to: string, list: string): Promise<{ readonly path: string; readonly id: string }> {
  const response = await send(to, { list });
  expect(response.status).toBe(200);
  const { id, messageId } = (await response.json()) as { id: string; messageId: string };
  const raw = sink.byMessageId(messageId)[0]?.raw.toString('latin1') ?? '';
  const url = /^List-Unsubscribe: <(\S+)>\r$/m.exec(raw)?.[1] ?? '';
  expect(url.startsWith(`${PUBLIC_URL}/unsubscribe/`)).toBe(true);
  return { path: url.slice(PUBLIC_URL.length), id };
}

/** Posts as a mail program does, without a secret. */
const post = (path: string, body: string | FormData = ONE_CLICK) =>
  fetch(`${service.url}${path}`, {
    method: 'POST',
    body,
    ...(typeof body === 'string' ? { headers: { 'content-type': 'application/x-www-form-urlencoded' } } : {}),
  });

const codeOf = async (response: Response) => [
  response.status,
  ((await response.json()) as { code?: string }).code,
];
const entries = async (query: string) =>
  (await getJson<{ unsubscribes: Unsubscribe[] }>(service, `/api/unsubscribes?${query}`)).unsubscribes;

describe('an email of a list', () => {
  it('has both headers in its signature, and no one but its recipient', async () => {
    const response = await send('Ann <Ann@customer.test>', { list: 'Neues für Kunden' });
    const { messageId } = (await response.json()) as { messageId: string };
    const [message] = sink.byMessageId(messageId);
    const raw = message?.raw ?? Buffer.alloc(0);
    expect(raw.toString('latin1')).toContain('\r\nList-Unsubscribe-Post: List-Unsubscribe=One-Click\r\n');
    const { name, value } = dkimRecord('example.com', 'e', createPrivateKey(PEM));
    expect(await verifyByMailauth(raw, { [name]: value })).toEqual(['pass']);
    const changed = raw.toString('latin1').replace('unsubscribe/', 'unsubscribe/x');
    expect(await verifyByMailauth(Buffer.from(changed, 'latin1'), { [name]: value })).toEqual(['fail']);
  });

  it('is shown with its list', async () => {
    const response = await send('ann@customer.test', { list: 'Neues für Kunden' });
    const { id } = (await response.json()) as { id: string };
    const detail = await getJson<{ unsubscribe_list: string | null }>(service, `/api/emails/${id}`);
    expect(detail.unsubscribe_list).toBe('Neues für Kunden');
  });

  it.each([
    [{ list: 'x' }, { cc: 'bob@customer.test' }, [400, 'one_recipient_expected']],
    [{ list: 'x' }, { bcc: 'bob@customer.test' }, [400, 'one_recipient_expected']],
    [
      { list: 'x' },
      { headers: { 'List-Unsubscribe': '<https://example.com>' } },
      [400, 'header_not_allowed'],
    ],
    [{ list: '' }, {}, [400, 'invalid_list']],
    [{ list: 'a\r\nX: y' }, {}, [400, 'invalid_list']],
    [{ list: 'x'.repeat(65) }, {}, [400, 'invalid_list']],
    [{ list: 'x\u0085' }, {}, [400, 'invalid_list']],
    [{ list: '\ud800' }, {}, [400, 'invalid_text']],
    [{ list: 7 }, {}, [400, 'invalid_request']],
    [{}, {}, [400, 'invalid_list']],
    ['x', {}, [400, 'invalid_request']],
    [{ list: 'x', url: 'y' }, {}, [400, 'unknown_field']],
  ])('is refused with %j and %j: %j', async (unsubscribe, more, expected) => {
    const before = sink.messages.length;
    expect(await codeOf(await send('ann@customer.test', unsubscribe, more))).toEqual(expected);
    expect(sink.messages.length).toBe(before);
  });

  it('needs a public address', { tags: ['long'] }, async () => {
    const other = await startServiceProcess({ env: { ...env, PUBLIC_URL: '' } });
    try {
      const json = { to: 'a@customer.test', subject: 'x', text_body: 'x', unsubscribe: { list: 'x' } };
      const response = await other.request('/api/send', { method: 'POST', json });
      expect(await codeOf(response)).toEqual([400, 'unsubscribe_unavailable']);
    } finally {
      await disposeService(other);
    }
  });
});

describe('one click', () => {
  it.each([
    ['urlencoded', () => ONE_CLICK],
    [
      'as multipart/form-data',
      () => {
        const form = new FormData();
        form.append('List-Unsubscribe', 'One-Click');
        return form;
      },
    ],
  ])('%s takes the address off that list alone, at once and once', async (kind, body) => {
    const address = `${kind.length}@customer.test`;
    const { path, id } = await linkFor(address, 'offers');
    for (let time = 0; time < 3; time++) {
      const response = await post(path, body());
      expect([response.status, response.headers.get('content-type')]).toEqual([
        200,
        'text/html; charset=utf-8',
      ]);
      expect(await response.text()).toContain(address);
    }
    expect(await entries(`address=${address}`)).toEqual([
      expect.objectContaining({ account_id: 'default', list: 'offers', address, email_id: id }),
    ]);
    expect(await codeOf(await send(address.toUpperCase(), { list: 'offers' }))).toEqual([
      422,
      'recipient_unsubscribed',
    ]);
    expect((await send(address, { list: 'invoices' })).status).toBe(200);
    expect((await send(address, null)).status).toBe(200);
    const ofAddress = async () =>
      (
        await getJson<{ events: { data: { address: string } }[] }>(
          service,
          '/api/events?type=address.unsubscribed',
        )
      ).events.filter(({ data }) => data.address === address);
    await backgroundWorkIsDone(database.connectionString);
    expect(await ofAddress()).toHaveLength(1);
  });

  it('is what the button of the page sends; the page itself changes nothing', async () => {
    const { path } = await linkFor('page@customer.test', 'R_D');
    const page = await fetch(`${service.url}${path}`, { headers: { 'accept-language': 'en-GB,de;q=0.5' } });
    const html = await page.text();
    expect(page.status).toBe(200);
    expect(html).toContain('Stop sending emails of the list “R_D” to page@customer.test?');
    expect(html).toContain(
      '<form method="post"><input type="hidden" name="List-Unsubscribe" value="One-Click">',
    );
    expect(page.headers.get('content-security-policy')).toContain("default-src 'none'");
    expect((await fetch(`${service.url}${path}`, { method: 'HEAD' })).status).toBe(200);
    expect(
      await (await fetch(`${service.url}${path}`, { headers: { 'accept-language': 'de' } })).text(),
    ).toContain('Abmelden');
    expect(await entries('address=page@customer.test')).toEqual([]);
    expect((await post(path)).status).toBe(200);
    expect(await entries('address=page@customer.test')).toHaveLength(1);
  });

  it.each([
    ['another body', 'List-Unsubscribe=maybe'],
    ['no body', ''],
    ['JSON', '{"List-Unsubscribe":"One-Click"}'],
  ])('is not %s', async (_, body) => {
    const { path } = await linkFor('other-body@customer.test', 'x');
    expect((await post(path, body)).status).toBe(400);
    expect(await entries('address=other-body@customer.test')).toEqual([]);
  });

  it('takes no token that was changed, and slows down who guesses', async () => {
    const { path } = await linkFor('token@customer.test', 'x');
    const wrong = `${path.slice(0, -3)}${path.endsWith('AAA') ? 'BBB' : 'AAA'}`;
    expect((await post(wrong)).status).toBe(404);
    expect((await fetch(`${service.url}${wrong}`)).status).toBe(404);
    expect((await fetch(`${service.url}/unsubscribe/${'x'.repeat(3000)}`)).status).toBe(404);
    expect((await post(path, 'x'.repeat(10_000))).status).toBe(413);
    const statuses = new Set<number>();
    for (let guess = 0; guess < 60; guess++) statuses.add((await post(`/unsubscribe/${guess}`)).status);
    expect([...statuses]).toEqual([404, 429]);
    // A valid link still works from there.
    expect((await post(path)).status).toBe(200);
  });

  it('works for mail that was sent before the service restarted, and with another secret', async () => {
    const { path } = await linkFor('restart@customer.test', 'x');
    const { dataDir } = service;
    await service.stop();
    service = await startServiceProcess({
      env: { ...env, API_SECRET: 'another-secret-of-the-api,test-secret-of-32-characters-1234' },
      dataDir,
    });
    expect((await post(path)).status).toBe(200);
    expect(await entries('address=restart@customer.test')).toHaveLength(1);
  });
});

describe('mail in the queue', () => {
  it('is not handed over to a recipient who left its list meanwhile', async () => {
    const { path } = await linkFor('later@customer.test', 'later');
    const due = new Date(Date.now() + 3_600_000).toISOString();
    const ids: string[] = [];
    for (const list of ['later', 'other']) {
      const response = await send('later@customer.test', { list }, { send_at: due });
      expect(response.status).toBe(202);
      ids.push(((await response.json()) as { id: string }).id);
    }
    expect((await post(path)).status).toBe(200);
    await query(
      database.connectionString,
      `update send_queue set due_at = now(), send_at = null where email_id in ('${ids.join(`','`)}')`,
    );
    const states = () =>
      Promise.all(
        ids.map((id) =>
          getJson<{ state: string; state_detail: string | null }>(service, `/api/emails/${id}`),
        ),
      );
    await waitUntil('both are done', async () =>
      (await states()).every(({ state }) => state !== 'queued' && state !== 'sending'),
    );
    const [left, kept] = await states();
    expect(left).toMatchObject({ state: 'failed' });
    expect(left?.state_detail).toContain('unsubscribed');
    expect(kept).toMatchObject({ state: 'sent' });
  });
});

describe('the lists', () => {
  it('are read page by page, and an entry can be removed', async () => {
    for (const name of ['p1', 'p2', 'p3']) await post((await linkFor(`${name}@customer.test`, 'paged')).path);
    const first = await getJson<{ unsubscribes: Unsubscribe[]; next_cursor: string }>(
      service,
      '/api/unsubscribes?list=paged&limit=2&account_id=default',
    );
    expect(first.unsubscribes.map(({ address }) => address)).toEqual([
      'p3@customer.test',
      'p2@customer.test',
    ]);
    const rest = await entries(`list=paged&limit=2&cursor=${first.next_cursor}`);
    expect(rest.map(({ address }) => address)).toEqual(['p1@customer.test']);
    const path = `/api/unsubscribes/${rest[0]?.id}`;
    expect((await service.request(path, { method: 'DELETE' })).status).toBe(200);
    expect(await codeOf(await service.request(path, { method: 'DELETE' }))).toEqual([
      404,
      'unsubscribe_not_found',
    ]);
    expect((await send('p1@customer.test', { list: 'paged' })).status).toBe(200);
  });

  it.each([
    ['/api/unsubscribes?account_id=nobody', 400, 'unknown_account'],
    ['/api/unsubscribes?address=x', 400, 'invalid_address'],
    ['/api/unsubscribes?cursor=x', 400, 'invalid_cursor'],
    ['/api/unsubscribes?lists=x', 400, 'unknown_parameter'],
  ])('%s: %i %s', async (path, status, code) => {
    expect(await codeOf(await service.request(path))).toEqual([status, code]);
  });

  it('are for callers with a secret', async () => {
    expect((await fetch(`${service.url}/api/unsubscribes`)).status).toBe(401);
    expect(
      (await fetch(`${service.url}/api/unsubscribes/${randomUUID()}`, { method: 'DELETE' })).status,
    ).toBe(401);
  });
});

describe('an unsubscribe by mail', () => {
  let own: ServiceProcess;
  beforeAll(async () => {
    own = await startServiceProcess({ env: { ...env, LMTP_LISTEN: '127.0.0.1:0' } });
  });
  afterAll(() => disposeService(own));

  const inbound = (subject: string, fields = '') =>
    own.request('/api/inbound', {
      method: 'POST',
      body:
        `From: Ann <ann@customer.test>\r\nTo: news@example.com\r\nMessage-ID: <${randomUUID()}@customer.test>\r\n` +
        `${fields}Subject: ${subject}\r\n\r\n\r\n`,
      headers: { 'content-type': 'message/rfc822' },
    });

  /** The address that a mail program would write to, and the subject. */
  async function mailtoFor(to: string, list: string) {
    const response = await own.request('/api/send', {
      json: { to, subject: 'News', text_body: 'Hello', unsubscribe: { list } },
    });
    expect(response.status).toBe(200);
    const { messageId } = (await response.json()) as { messageId: string };
    const raw = sink.byMessageId(messageId)[0]?.raw ?? Buffer.alloc(0);
    const found = /^List-Unsubscribe: <(https:\S+)>,\r\n <(mailto:\S+)>\r$/m.exec(raw.toString('latin1'));
    const mailto = new URL(found?.[2] ?? '');
    return { raw, address: mailto.pathname, subject: mailto.searchParams.get('subject') ?? '' };
  }

  it('stands beside the link, signed, and is an address of the account', async () => {
    const { raw, address, subject } = await mailtoFor('one@customer.test', 'by-mail');
    expect(address).toBe('news@example.com');
    expect(subject).toMatch(/^unsubscribe [\w-]{60,}$/);
    const { name, value } = dkimRecord('example.com', 'e', createPrivateKey(PEM));
    expect(await verifyByMailauth(raw, { [name]: value })).toEqual(['pass']);
    const changed = raw.toString('latin1').replace('mailto:news', 'mailto:eve');
    expect(await verifyByMailauth(Buffer.from(changed, 'latin1'), { [name]: value })).toEqual(['fail']);
  });

  it.each([
    ['by a person', ''],
    ['by a program', 'Auto-Submitted: auto-generated\r\nPrecedence: bulk\r\n'],
  ])('%s takes its recipient off that list alone, once, and is recorded as mail', async (kind, fields) => {
    const to = `${kind.replaceAll(' ', '-')}@customer.test`;
    const { subject } = await mailtoFor(to, 'by-mail');
    const folded = subject.replace(' ', '\r\n ');
    const response = await inbound(folded, fields);
    expect(response.status).toBe(200);
    await inbound(subject.toUpperCase().slice(0, 11) + subject.slice(11), fields);
    const found = await entries(`list=by-mail&address=${to}`);
    expect(found).toHaveLength(1);
    const again = await own.request('/api/send', {
      json: { to, subject: 'News', text_body: 'Hello', unsubscribe: { list: 'by-mail' } },
    });
    expect(await codeOf(again)).toEqual([422, 'recipient_unsubscribed']);
    await mailtoFor(to, 'another list');
  });

  it('by a token that is guessed, cut or changed is mail like any other', async () => {
    const { subject } = await mailtoFor('three@customer.test', 'guessed');
    for (const other of [
      subject.slice(0, -1),
      `${subject.slice(0, -1)}${subject.endsWith('A') ? 'B' : 'A'}`,
      'unsubscribe three@customer.test',
      `unsubscribe ${'A'.repeat(160)}`,
      `Re: ${subject}`,
    ]) {
      expect((await inbound(other)).status).toBe(200);
    }
    expect(await entries('list=guessed')).toEqual([]);
  });
});
