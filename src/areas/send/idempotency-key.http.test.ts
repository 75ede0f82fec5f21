import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { AUTHORIZED, createTestHttpApp, SECRET, type TestHttpApp } from '../../../test/helpers/http-app.ts';
import { connectRaw } from '../../../test/helpers/raw-client.ts';
import {
  createRecordingApplication,
  type RecordingApplication,
} from '../../../test/helpers/recording-application.ts';
import { sampleEmail } from '../../../test/helpers/sample-emails.ts';
import type { SendOutcome } from './use-cases.ts';

const BODY = JSON.stringify({ to: 'a@example.com', subject: 's', text_body: 't' });

let app: TestHttpApp;
let application: RecordingApplication;
/** The outcome of an earlier request with the same key. */
let earlier: SendOutcome;

beforeEach(async () => {
  application = createRecordingApplication();
  app = await createTestHttpApp({ application });
});
afterEach(() => app.close());

const post = (headers: Record<string, string>) =>
  app.fastify.inject({
    method: 'POST',
    url: '/api/send',
    headers: { ...AUTHORIZED, 'content-type': 'application/json', ...headers },
    payload: BODY,
  });

describe('the header Idempotency-Key', () => {
  test.each(['!', '"quoted"', 'x'.repeat(256)])('is taken as it stands: %s', async (key) => {
    const response = await post({ 'Idempotency-Key': key });
    expect(response.statusCode).toBe(200);
    expect(response.headers).not.toHaveProperty('idempotency-replayed');
    expect(application.keys).toEqual([key]);
  });

  test.each(['', ' ', 'a b', 'a\tb', 'schlüssel', 'x'.repeat(257)])('is refused: %j', async (key) => {
    const response = await post({ 'Idempotency-Key': key });
    expect([response.statusCode, response.json<{ code: string }>().code]).toEqual([
      400,
      'invalid_idempotency_key',
    ]);
    expect(application.sends).toEqual([]);
  });

  test('is refused when there are two', async () => {
    const client = await connectRaw(await app.listen());
    await client.write(
      `POST /api/send HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${SECRET}\r\nConnection: close\r\n` +
        `Content-Type: application/json\r\nContent-Length: ${BODY.length}\r\n` +
        `Idempotency-Key: a\r\nIdempotency-Key: b\r\n\r\n${BODY}`,
    );
    expect(await client.closed()).toMatch(/^HTTP\/1\.1 400 [^]*"invalid_request"/);
    expect(application.sends).toEqual([]);
  });

  test('is not needed for a send', async () => {
    expect((await post({})).statusCode).toBe(200);
    expect(application.sends).toHaveLength(1);
    expect(application.keys).toEqual([]);
  });
});

describe('the answer to a repeat', () => {
  beforeEach(() => {
    application.sendOnce = async (_key, _request, folder) => {
      await folder.remove();
      return { outcome: earlier, replayed: true };
    };
  });

  test.each<[number, SendOutcome]>([
    [200, { kind: 'sent', id: sampleEmail.id, messageId: sampleEmail.messageId, threadId: sampleEmail.id }],
    [207, { kind: 'partial', messageId: sampleEmail.messageId, error: 'no database' }],
    [500, { kind: 'failed', code: 'send_failed', id: sampleEmail.id, details: '550 no' }],
    [500, { kind: 'failed', code: 'send_unknown', details: null }],
  ])('says so with status %i', async (status, outcome) => {
    earlier = outcome;
    const response = await post({ 'Idempotency-Key': 'k' });
    expect(response.statusCode).toBe(status);
    expect(response.headers['idempotency-replayed']).toBe('true');
    if (outcome.kind !== 'failed') return;
    const { code, id, details } = response.json<{ code: string; id?: string; details?: string }>();
    expect([code, id, details]).toEqual([outcome.code, outcome.id, outcome.details ?? undefined]);
  });
});
