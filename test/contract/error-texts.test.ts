/** Each error names what is wrong, and where. */
import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { mail } from '../helpers/inbound-mail.ts';
import { connectRaw } from '../helpers/raw-client.ts';
import { startServiceWithSink } from '../helpers/running-service.ts';

let running: Awaited<ReturnType<typeof startServiceWithSink>>;
beforeAll(async () => {
  running = await startServiceWithSink();
});
afterAll(() => running.end());

const SEND = { to: 'ann@customer.test', subject: 'Offer', text_body: 'Hello' };
const LIST = `/api/customer/${randomUUID()}/addresses`;
const KNOWN = {
  address: 'ann@customer.test',
  origin: 'registered',
  account_ids: null,
  status: 'decides',
  other_customer_ids: [],
};

it.each<[what: string, method: string, path: string, json: unknown, error: string]>([
  [
    'an unknown field of an entry that may also be a text',
    'PUT',
    LIST,
    { addresses: [{ ...KNOWN, orign: 'x' }], domains: [], complete: true },
    'Unbekanntes Feld: addresses[0].orign. Vielleicht ist addresses[0].origin gemeint.',
  ],
  [
    'a missing field of such an entry',
    'PUT',
    LIST,
    { addresses: ['bob@customer.test', { address: 'ann@customer.test' }], domains: [] },
    'addresses[1].origin fehlt.',
  ],
  [
    'an entry of a wrong type',
    'PUT',
    LIST,
    { addresses: [7], domains: [] },
    'addresses[0] muss eine Zeichenkette oder ein Objekt sein.',
  ],
  [
    'an empty account',
    'POST',
    '/api/send',
    { ...SEND, account_id: '' },
    'Das Konto "" ist nicht eingerichtet.',
  ],
  [
    'both ways to log in',
    'POST',
    '/api/session',
    { secret: 'x', token: 'y' },
    'Genau eines der Felder secret, token muss angegeben werden.',
  ],
  [
    'neither way to log in',
    'POST',
    '/api/session',
    {},
    'Genau eines der Felder secret, token muss angegeben werden.',
  ],
  [
    'an empty batch',
    'POST',
    '/api/send/batch',
    { emails: [] },
    'emails muss mindestens einen Eintrag haben.',
  ],
])('of %s', async (_, method, path, json, error) => {
  const response = await running.service.request(path, { method, json });
  const answer = (await response.json()) as { error: string };
  expect([response.status, answer.error]).toEqual([400, expect.stringContaining(error)]);
});

it.each([
  ['/api/uploads', 'file_expected', 'application/octet-stream'],
  ['/api/inbound', 'message_expected', 'message/rfc822'],
  ['/api/send', 'unsupported_media_type', 'application/json'],
])('of two media types at %s names the one that it takes', async (path, code, type) => {
  const response = await running.service.request(path, {
    method: 'POST',
    headers: { 'content-type': `${type}, text/plain` },
    body: mail(),
  });
  const answer = (await response.json()) as { error: string; code: string };
  expect([response.status, answer.code, answer.error]).toEqual([415, code, expect.stringContaining(type)]);
});

it.each(['Idempotency-Key', 'Content-Disposition', 'Last-Event-ID'])(
  'of a repeated header names it: %s',
  async (header) => {
    const client = await connectRaw(Number(new URL(running.service.url).port));
    const lines = [
      'POST /api/send HTTP/1.1',
      'Host: 127.0.0.1',
      `${header}: a`,
      `${header}: b`,
      'Content-Length: 0',
      'Connection: close',
    ];
    await client.write(`${lines.join('\r\n')}\r\n\r\n`);
    const answer = await client.closed();
    expect(answer).toMatch(/^HTTP\/1\.1 400 /);
    expect(answer).toContain(`Die Kopfzeile ${header} ist mehrfach angegeben.`);
  },
);
