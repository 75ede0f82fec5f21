import { afterEach, expect, it } from 'vitest';
import { toEmailsJson } from '../../../test/helpers/emails-json.ts';
import { AUTHORIZED, createTestHttpApp, type TestHttpApp } from '../../../test/helpers/http-app.ts';
import { createRecordingApplication } from '../../../test/helpers/recording-application.ts';
import { IDS, sampleEmail } from '../../../test/helpers/sample-emails.ts';
import { ServiceError } from '../../core/errors.ts';
import type { Application } from '../../api/application.ts';

const VERSION = '5076944270305263';
const TAG = `W/"1-${VERSION}"`;
const UNCHANGED = { etag: TAG, 'cache-control': 'private, no-cache', 'x-content-type-options': 'nosniff' };

let app: TestHttpApp | undefined;
/** The versions that the application received. */
let known: (string | null)[] = [];
afterEach(async () => {
  await app?.close();
  app = undefined;
  known = [];
});

/** As the database answers: without the emails when the caller already has them. */
const readThread: Application['readThread'] = async (_id, version) => {
  known.push(version);
  return { version: VERSION, emails: version === VERSION ? null : toEmailsJson([sampleEmail]) };
};

async function ask(method: 'GET' | 'HEAD', headers: Readonly<Record<string, string>>, read = readThread) {
  app = await createTestHttpApp({ application: createRecordingApplication({ readThread: read }) });
  return app.fastify.inject({
    method,
    url: `/api/thread/${IDS.thread}`,
    headers: { ...AUTHORIZED, ...headers },
  });
}

it('gives each answer the version of the thread as a weak tag', async () => {
  const response = await ask('GET', {});
  expect(response.statusCode).toBe(200);
  expect(response.headers).toMatchObject({
    ...UNCHANGED,
    'content-type': 'application/json; charset=utf-8',
  });
  expect(response.json().emails).toHaveLength(1);
  expect(known).toEqual([null]);
});

it.each(['GET', 'HEAD'] as const)(
  'answers %s of what the caller has by 304, without emails',
  async (method) => {
    const response = await ask(method, { 'if-none-match': TAG });
    expect(response.statusCode).toBe(304);
    expect(response.body).toBe('');
    expect(response.headers).toMatchObject(UNCHANGED);
    expect(response.headers['content-type']).toBeUndefined();
    expect(known).toEqual([VERSION]);
  },
);

it.each([`"1-${VERSION}"`, `W/"1-1", ${TAG}`, '*', ` ${TAG}`])(
  'is unchanged for %s too',
  async (ifNoneMatch) => {
    expect((await ask('GET', { 'if-none-match': ifNoneMatch })).statusCode).toBe(304);
  },
);

it.each(['W/"1-507694427030526"', `W/"2-${VERSION}"`, VERSION, 'W/"1-99999999999999999999"', '"', ''])(
  'sends the emails to a caller with %j',
  async (ifNoneMatch) => {
    const response = await ask('GET', { 'if-none-match': ifNoneMatch });
    expect(response.statusCode).toBe(200);
    expect(response.headers.etag).toBe(TAG);
    expect(response.json().emails).toHaveLength(1);
  },
);

it('has no tag where it is an error, which is kept by no cache', async () => {
  const response = await ask('GET', { 'if-none-match': '*' }, () =>
    Promise.reject(new ServiceError('thread_not_found')),
  );
  expect(response.statusCode).toBe(404);
  expect(response.headers.etag).toBeUndefined();
  expect(response.headers['cache-control']).toBe('no-store');
});

it('sends bytes that were kept as they are', async () => {
  const { json } = toEmailsJson([sampleEmail]) as { json: string };
  const response = await ask('GET', {}, async () => ({
    version: VERSION,
    emails: { kind: 'whole', json: Buffer.from(json) },
  }));
  expect(response.body).toBe(`{"emails":[${json}]}`);
  expect(response.headers['content-length']).toBe(String(Buffer.byteLength(json) + 13));
});
