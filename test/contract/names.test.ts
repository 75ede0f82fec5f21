/** The names that people give to things: one line, without controls and without signs that turn the direction of text. */
import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { sendJson, startServiceWithSink } from '../helpers/running-service.ts';

let running: Awaited<ReturnType<typeof startServiceWithSink>>;
let threadId: string;
beforeAll(async () => {
  running = await startServiceWithSink();
  ({ threadId } = await sendJson(running.service, SEND));
});
afterAll(() => running.end());

const SEND = { to: 'ann@customer.test', subject: 'Offer', text_body: 'Hello' };
const BAD = ['a\nb', 'a\u0007b', 'a\u0085b', 'a\u2028b', 'a\u202eb', 'a\u2066b', 'a\u200fb', 'a\u061cb'];

type Request = readonly [method: string, path: string, json: unknown];
const patchThread = (json: object): Request => ['PATCH', `/api/threads/${threadId}`, json];
const file = { content: 'QQ==' };

/** What is named → the request that gives the name, and the field that the error names. */
const NAMED: Readonly<Record<string, readonly [field: string, request: (name: string) => Request]>> = {
  'a key': ['name', (name) => ['POST', '/api/keys', { name, rights: ['read'], account_ids: '*' }]],
  'a webhook': [
    'description',
    (description) => ['POST', '/api/webhooks', { url: 'https://crm.test/', description }],
  ],
  'a template': ['name', (name) => ['POST', '/api/templates', { name, subject: 'x', text_body: 'x' }]],
  'a label': ['labels[0]', (name) => patchThread({ labels: [name] })],
  'a further label': ['add_labels[0]', (name) => patchThread({ add_labels: [name] })],
  'an assignee': ['assignee', (assignee) => patchThread({ assignee })],
  'the author of a draft': ['author', (author) => ['POST', '/api/drafts', { author }]],
  'a lane': ['lane', (lane) => ['POST', '/api/send', { ...SEND, lane }]],
  'the lane of a draft': ['lane', (lane) => ['POST', '/api/drafts', { message: { lane } }]],
  'a list': ['unsubscribe', (list) => ['POST', '/api/send', { ...SEND, unsubscribe: { list } }]],
  'a file': [
    'attachments[0].filename',
    (filename) => ['POST', '/api/send', { ...SEND, attachments: [{ ...file, filename }] }],
  ],
  'the file of a draft': [
    'attachments[0].filename',
    (filename) => ['POST', '/api/drafts', { attachments: [{ ...file, filename }] }],
  ],
  'an upload': [
    'filename',
    (filename) => ['POST', `/api/uploads?filename=${encodeURIComponent(filename)}`, undefined],
  ],
};

async function ask([method, path, json]: Request) {
  const response = await running.service.request(path, {
    method,
    ...(json === undefined
      ? { headers: { 'content-type': 'application/octet-stream' }, body: 'x' }
      : { json }),
  });
  return { ...((await response.json()) as { error?: string; code?: string }), status: response.status };
}

describe.each(Object.entries(NAMED))('the name of %s', (_, [field, toRequest]) => {
  it('is refused with controls, line ends or signs of direction, by the name of the field', async () => {
    const { length } = running.sink.messages;
    for (const name of BAD) {
      const { status, code, error } = await ask(toRequest(name));
      // Lanes and lists have codes of their own, which say what is wrong.
      const isNamed = error?.includes(field) === true || /^invalid_(?:lane|list)$/.test(code ?? '');
      expect([name, status, error, isNamed]).toEqual([name, 400, error, true]);
    }
    expect(running.sink.messages).toHaveLength(length);
  });
});

it('names in other scripts, with joined signs and emoji, are taken', async () => {
  for (const name of ['Ünal & Söhne', 'شركة', 'नमस्ते', '👩‍👩‍👧', 'می‌خواهم']) {
    const made = await ask([
      'POST',
      '/api/keys',
      { name: `${name} ${randomUUID()}`, rights: ['read'], account_ids: '*' },
    ]);
    expect([name, made.status]).toEqual([name, 201]);
    expect([name, (await ask(patchThread({ labels: [name] }))).status]).toEqual([name, 200]);
  }
});

it('a file that a header names in bytes that are no text is refused, and not renamed', async () => {
  for (const name of ["UTF-8''a%ED%A0%80.txt", "UTF-8''a%FF.txt", "UTF-8''a%0Ab.txt"]) {
    const response = await running.service.request('/api/uploads', {
      method: 'POST',
      headers: {
        'content-type': 'application/octet-stream',
        'content-disposition': `attachment; filename*=${name}`,
      },
      body: 'x',
    });
    const { error } = (await response.json()) as { error?: string };
    expect([name, response.status, error]).toEqual([name, 400, expect.stringContaining('filename')]);
  }
});
