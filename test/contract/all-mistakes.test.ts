/** An answer lists every mistake of its request that is known without doing work, so that a form can show each at its field. */
import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { mail, receive } from '../helpers/inbound-mail.ts';
import { startServiceWithSink } from '../helpers/running-service.ts';

interface Problem {
  readonly field: string;
  readonly code: string;
  readonly error: string;
  readonly message: string;
}

interface Refusal extends Problem {
  readonly problems?: readonly Problem[];
}

let running: Awaited<ReturnType<typeof startServiceWithSink>>;
beforeAll(async () => {
  running = await startServiceWithSink();
});
afterAll(() => running.end());

type Init = Parameters<typeof running.service.request>[1];

async function refused(path: string, init?: Init): Promise<Refusal> {
  const response = await running.service.request(path, init);
  const answer = (await response.json()) as Refusal;
  expect([response.status, answer]).toEqual([400, answer]);
  const { field, code, error, message, problems: [first] = [answer] } = answer;
  // The first one is what the answer is about.
  expect([field, code, error, message]).toEqual([first?.field, first?.code, first?.error, first?.message]);
  return answer;
}

/** Each as `field code`. */
const mistakes = async (path: string, init?: Init) => mistakesOf(await refused(path, init));

const mistakesOf = (answer: Refusal): readonly string[] =>
  (answer.problems ?? [answer]).map(({ field, code }) => `${field} ${code}`);

const EMAIL = { to: 'ann@customer.test', subject: 'Offer', text_body: 'Hello' };

describe('a body that is read as it arrives', () => {
  it('of a send: unknown and missing fields, wrong types, ids, addresses and files', async () => {
    const json = {
      to: 'ann@customer.test, bob@, carl, dora@customer.test',
      cc: ['eve@customer.test', 'fred@'],
      bcc: 7,
      sibject: 'Offer',
      text_body: 'Hello',
      thread_id: 'x',
      tags: ['ok', 'not ok', '!'],
      priority: 'urgent',
      headers: { 'X-Order': 5, Received: 'x' },
      attachments: [
        { filename: 'a.txt', content: '*' },
        { content: 'QQ==', nmae: 'b.txt', content_type: 'text' },
      ],
    };
    expect(await mistakes('/api/send', { json })).toEqual([
      '/subject missing_recipient_or_subject',
      '/sibject unknown_field',
      '/bcc invalid_request',
      '/thread_id invalid_uuid',
      '/attachments/0/content invalid_base64',
      '/attachments/1/nmae unknown_field',
      '/attachments/1/filename invalid_filename',
      '/priority invalid_request',
      '/headers/X-Order invalid_request',
      '/to invalid_address',
      '/to invalid_address',
      '/cc invalid_address',
      '/headers/Received header_not_allowed',
      '/tags invalid_tag',
      '/tags invalid_tag',
      '/attachments/1/content_type invalid_content_type',
    ]);
  });

  it('whose fields can all be read: what they contain', async () => {
    const json = {
      ...EMAIL,
      to: ['ann@customer.test, bob@'],
      cc: 'carl@',
      subject: 'Offer\r\nBcc: eve@customer.test',
      in_reply_to: 'no id',
      send_at: '2020-01-01T00:00:00Z',
    };
    expect(await mistakes('/api/send', { json })).toEqual([
      '/to invalid_address',
      '/cc invalid_address',
      '/in_reply_to invalid_message_id',
      '/subject header_injection',
      '/send_at invalid_send_at',
    ]);
    expect(await mistakes('/api/send?dry_run=true', { json })).toHaveLength(5);
  });

  it('of a reply, a forward, a change and a draft', async () => {
    const received = await receive(running.service, mail());
    const reply = { text_bdy: 'x', quote: 'yes', language: 'fr', to: 'bob@' };
    expect(await mistakes(`/api/emails/${received.id}/reply`, { json: reply })).toEqual([
      '/text_body missing_body',
      '/text_bdy unknown_field',
      '/quote invalid_request',
      '/to invalid_address',
    ]);
    const forward = { with_files: 1, cc: 'bob@' };
    expect(await mistakes(`/api/emails/${received.id}/forward`, { json: forward })).toEqual([
      '/to missing_recipient_or_subject',
      '/with_files invalid_request',
      '/cc invalid_address',
    ]);
    const send_at = new Date(Date.now() + 86_400_000).toISOString();
    const sent = await running.service.request('/api/send', { json: { ...EMAIL, send_at } });
    const queued = (await sent.json()) as { id: string };
    const change = { to: [], subject: 5, sned_at: 'now' };
    const headers = { 'if-match': '"1"' };
    expect(await mistakes(`/api/emails/${queued.id}`, { method: 'PATCH', json: change, headers })).toEqual([
      '/sned_at unknown_field',
      '/subject invalid_request',
      '/to missing_recipient_or_subject',
    ]);
    const draft = {
      author: 'a\nb',
      answers: { email_id: 'x', kind: 'answer', knd: 1 },
      message: { subject: 7, sbject: 'x' },
      attachments: [{ id: 'x' }, 5],
    };
    expect(await mistakes('/api/drafts', { json: draft })).toEqual([
      '/author invalid_request',
      '/answers/knd unknown_field',
      '/answers/email_id invalid_uuid',
      '/answers/kind invalid_request',
      '/message/sbject unknown_field',
      '/message/subject invalid_request',
      '/attachments/0/id invalid_uuid',
      '/attachments/1 invalid_request',
    ]);
  });

  it('of a draft: what no send accepts', async () => {
    const message = { in_reply_to: 'x', subject: 'a\u0001', tags: ['!'], headers: { Date: 'x' } };
    expect(await mistakes('/api/drafts', { json: { message } })).toEqual([
      '/message/in_reply_to invalid_message_id',
      '/message/subject header_injection',
      '/message/headers/Date header_not_allowed',
      '/message/tags invalid_tag',
    ]);
    const answers = { kind: 'x', with_files: 5, language: 'xx' };
    expect(await mistakes('/api/drafts', { json: { answers } })).toEqual([
      '/answers/email_id invalid_request',
      '/answers/kind invalid_request',
      '/answers/with_files invalid_request',
      '/answers/language invalid_request',
    ]);
  });

  it('of a send: not of more addresses than a refusal may cost', async () => {
    const many = Array.from({ length: 5000 }, (_, index) => `customer-${index}@example.com`);
    const json = { to: [...many, 'ann@'], cc: ['bob@'], text_body: 'x' };
    expect(await mistakes('/api/send', { json })).toEqual(['/subject missing_recipient_or_subject']);
    expect(await mistakes('/api/send', { json: { ...json, to: ['ann@'] } })).toEqual([
      '/subject missing_recipient_or_subject',
      '/to invalid_address',
      '/cc invalid_address',
    ]);
  });

  it('of a batch: those of each email, and of the batch itself', async () => {
    expect(await mistakes('/api/send/batch', { json: { emials: [], mails: 1 } })).toEqual([
      '/emials unknown_field',
      '/mails unknown_field',
      '/emails invalid_request',
    ]);
    const emails = [EMAIL, { to: 'ann@', subject: 1, text_body: 'x' }, { ...EMAIL, to: 'a@, b@' }];
    const response = await running.service.request('/api/send/batch?dry_run=true', { json: { emails } });
    const { results } = (await response.json()) as { results: readonly Refusal[] };
    expect(results.slice(1).map(mistakesOf)).toEqual([
      ['/subject invalid_request', '/to invalid_address'],
      ['/to invalid_address', '/to invalid_address'],
    ]);
  });
});

describe('what a schema describes', () => {
  it('a body: unknown and missing fields, types and values, at every depth', async () => {
    const json = { name: '', rights: ['read', 'write', 5], accounts: 'vertrieb', rate_limit: 0, expires: 1 };
    expect(await mistakes('/api/keys', { json })).toEqual([
      '/accounts unknown_field',
      '/expires unknown_field',
      '/rights/2 invalid_request',
      '/account_ids invalid_request',
      '/name invalid_request',
      '/rights/1 invalid_request',
      '/rate_limit invalid_request',
    ]);
    expect(await mistakes('/api/webhooks', { json: { types: [] } })).toEqual([
      '/url invalid_request',
      '/types invalid_request',
    ]);
  });

  it('an entry that may have several forms: the mistakes of the form that was meant', async () => {
    const addresses = [{ address: 'ann@customer.test', orign: 'x' }, 7, { address: 5 }];
    const json = { addresses, domains: 'x' };
    const path = `/api/customer/${randomUUID()}/addresses`;
    const found = await mistakes(path, { method: 'PUT', json });
    expect(found).toEqual(
      expect.arrayContaining([
        '/addresses/0/orign unknown_field',
        '/addresses/1 invalid_request',
        '/domains invalid_request',
        '/addresses/0/origin invalid_request',
        '/addresses/2/origin invalid_request',
      ]),
    );
    expect(new Set(found.map((one) => one.split(' ')[0])).size).toBe(found.length);
  });

  it('parameters, path and headers together, before the body is read', async () => {
    expect(await mistakes('/api/threads?limit=0&cursr=x&status=shut&unread=2&account_id=A')).toEqual([
      'cursr unknown_parameter',
      'limit invalid_request',
      'account_id invalid_request',
      'unread invalid_request',
      'status invalid_request',
    ]);
    expect(await mistakes('/api/emails/nope?limit=1&limits=2', { headers: { 'if-match': '"1"' } })).toEqual([
      'limit unknown_parameter',
      'limits unknown_parameter',
      'if-match unknown_header',
      'id invalid_uuid',
    ]);
    const write = { method: 'DELETE', headers: { 'x-idempotency-key': 'x', prefer: 'respond-async' } };
    expect(await mistakes('/api/webhooks/nope?force=true', write)).toEqual([
      'force unknown_parameter',
      'prefer unknown_header',
      'x-idempotency-key unknown_header',
      'id invalid_uuid',
    ]);
    // The body has a mistake, too.
    expect(await mistakes('/api/keys?dry_run=true', { json: {} })).toEqual(['dry_run unknown_parameter']);
  });
});

describe('the list', () => {
  it('is not there for one mistake, whose text says all, nor where no field is wrong', async () => {
    for (const init of [
      { json: { ...EMAIL, to: 'ann@' } },
      { json: { text_body: 'Hello' } },
      { json: [] },
      { method: 'POST', body: '{', headers: { 'content-type': 'application/json' } },
    ])
      expect(await refused('/api/send', init)).not.toHaveProperty('problems');
    const unknown = await running.service.request(`/api/emails/${randomUUID()}`);
    expect(await unknown.json()).not.toHaveProperty('problems');
  });

  it('says nothing of a request without a secret', async () => {
    const response = await fetch(`${running.service.url}/api/threads?limit=0&cursr=x`);
    expect([response.status, await response.json()]).toEqual([
      401,
      expect.not.objectContaining({ problems: expect.anything() as unknown }),
    ]);
  });

  it('is in German and in English, with the hint that a single mistake has', async () => {
    const { problems = [] } = await refused('/api/send', { json: { ...EMAIL, sibject: 1, attachment: 2 } });
    expect(problems.map(({ error, message }) => [error, message])).toEqual([
      [
        'Unbekanntes Feld: sibject. Vielleicht ist subject gemeint.',
        'Unknown field: sibject. Did you mean subject?',
      ],
      [
        'Unbekanntes Feld: attachment. Vielleicht ist attachments gemeint.',
        'Unknown field: attachment. Did you mean attachments?',
      ],
    ]);
  });

  it('has at most 20 entries, whatever the request contains', async () => {
    const unknown = Object.fromEntries(Array.from({ length: 900 }, (_, index) => [`f${index}`, index]));
    const to = Array.from({ length: 5000 }, (_, index) => `a${index}@`).join(',');
    const query = new URLSearchParams(
      Array.from({ length: 300 }, (_, index): [string, string] => [`p${index}`, '1']),
    ).toString();
    for (const [path, json] of [
      ['/api/send', { ...EMAIL, ...unknown }],
      ['/api/send', { ...EMAIL, to }],
      ['/api/drafts', { message: unknown, attachments: Array.from({ length: 200 }, () => 5) }],
      ['/api/keys', Object.fromEntries(Object.entries(unknown).slice(0, 200))],
      [`/api/threads?${query}`, undefined],
    ] as const) {
      const { problems } = await refused(path, json === undefined ? {} : { json });
      expect([path, problems?.length]).toEqual([path, 20]);
    }
  });

  it('leaves out what would make it large: long names and values', async () => {
    const names = Array.from({ length: 20 }, (_, index) => [`${index}${'x'.repeat(100_000)}`, 1]);
    const response = await running.service.request('/api/send', {
      json: { ...EMAIL, short: 1, ...Object.fromEntries(names) },
    });
    const answer = await response.text();
    expect(response.status).toBe(400);
    expect(answer.length).toBeLessThan(20_000);
    expect(JSON.parse(answer)).toMatchObject({ field: '/short', code: 'unknown_field' });
    expect(JSON.parse(answer)).not.toHaveProperty('problems');
  });

  it('is bounded for all emails of a batch together', async () => {
    const email = Object.fromEntries(Array.from({ length: 30 }, (_, index) => [`f${index}`, 1]));
    const emails = Array.from({ length: 500 }, () => email);
    const response = await running.service.request('/api/send/batch', { json: { emails } });
    const { results } = (await response.json()) as { results: readonly Refusal[] };
    const counts = results.map((result) => mistakesOf(result).length);
    expect([counts[0], counts[499]]).toEqual([20, 1]);
    expect(counts.reduce((sum, count) => sum + count, 0)).toBe(500 + 100);
  });
});
