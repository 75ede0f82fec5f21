import { Readable } from 'node:stream';
import { afterEach, describe, expect, it } from 'vitest';
import { AUTHORIZED, createTestHttpApp, type TestHttpApp } from '../../../test/helpers/http-app.ts';
import { createRecordingApplication } from '../../../test/helpers/recording-application.ts';
import { FILE, IDS, sampleAttachment } from '../../../test/helpers/sample-emails.ts';
import type { Application } from '../../api/application.ts';
import { ServiceError } from '../../core/errors.ts';
import { parseByteRange } from '../../platform/http/answers/byte-range.ts';
import { formatDisposition } from '../../platform/http/answers/content-disposition.ts';
import { isUnchanged } from '../../platform/http/answers/entity-tag.ts';
import { toContentType } from '../../platform/http/answers/file-response.ts';

const URL = `/api/attachments/${IDS.attachment}`;
const ETAG = `"${sampleAttachment.sha256}"`;

let app: TestHttpApp | undefined;
let application = createRecordingApplication();
afterEach(async () => {
  await app?.close();
  app = undefined;
});

async function get(
  headers: Readonly<Record<string, string>> = {},
  { method = 'GET', url = URL, overrides = {} as Partial<Application> } = {},
) {
  await app?.close();
  application = createRecordingApplication(overrides);
  app = await createTestHttpApp({ application });
  return app.fastify.inject({ method: method as 'GET', url, headers: { ...AUTHORIZED, ...headers } });
}

describe('attachment', () => {
  it('is a download that no browser runs', async () => {
    const response = await get();
    expect(response.statusCode).toBe(200);
    expect(response.rawPayload).toEqual(FILE);
    expect(response.headers).toMatchObject({
      'content-type': 'application/pdf',
      'content-length': '20',
      'accept-ranges': 'bytes',
      etag: ETAG,
      'cache-control': 'private, no-cache',
      'x-content-type-options': 'nosniff',
      'content-security-policy': "sandbox; default-src 'none'",
      'content-disposition': `attachment; filename="_bersicht _M_rz_.pdf"; filename*=UTF-8''%C3%9Cbersicht%20%22M%C3%A4rz%22.pdf`,
    });
  });

  it.each([
    ['bytes=0-3', 'bytes 0-3/20', '0123'],
    ['bytes=18-', 'bytes 18-19/20', 'ij'],
    ['bytes=-3', 'bytes 17-19/20', 'hij'],
    ['bytes=-100', 'bytes 0-19/20', FILE.toString()],
    ['bytes=19-1000', 'bytes 19-19/20', 'j'],
    ['Bytes=0-0', 'bytes 0-0/20', '0'],
  ])('answers the range %s', async (range, contentRange, body) => {
    const response = await get({ range });
    expect(response.statusCode).toBe(206);
    expect(response.headers).toMatchObject({
      'content-range': contentRange,
      'content-length': String(body.length),
      etag: ETAG,
    });
    expect(response.body).toBe(body);
  });

  it.each(['bytes=20-', 'bytes=1000-2000', 'bytes=-0'])('refuses the range %s', async (range) => {
    const response = await get({ range });
    expect(response.statusCode).toBe(416);
    expect(response.headers['content-range']).toBe('bytes */20');
    expect(response.headers['content-type']).toContain('application/json');
    expect(response.json().code).toBe('range_not_satisfiable');
    expect(application.streams).toEqual([]);
  });

  it.each(['bytes=3-1', 'bytes=-', 'bytes=0-1,5-6', 'items=0-1', 'bytes=a-b', 'bytes 0-1', ''])(
    'sends the whole file for %j',
    async (range) => {
      const response = await get({ range });
      expect(response.statusCode).toBe(200);
      expect(response.rawPayload).toEqual(FILE);
    },
  );

  it.each([
    [ETAG, 206],
    ['"other"', 200],
    [`W/${ETAG}`, 200],
    ['Sat, 31 Jan 2026 12:00:00 GMT', 200],
  ])('with If-Range %s answers %i', async (ifRange, status) => {
    expect((await get({ range: 'bytes=0-1', 'if-range': ifRange })).statusCode).toBe(status);
  });

  it.each([ETAG, `"other", ${ETAG}`, '*'])('is the one that is wanted for %s', async (wanted) => {
    expect((await get({ 'if-match': wanted })).rawPayload).toEqual(FILE);
  });

  it.each(['"other"', `W/${ETAG}`, '', 'x'])('is not the one that is wanted for %j', async (wanted) => {
    for (const method of ['GET', 'HEAD']) {
      const response = await get(
        { 'if-match': wanted, 'if-none-match': ETAG, range: 'bytes=0-1' },
        { method },
      );
      expect(response.statusCode).toBe(412);
      expect(response.headers['content-type']).toContain('application/json');
      expect(application.streams).toEqual([]);
    }
    expect((await get({ 'if-match': wanted })).json().code).toBe('precondition_failed');
  });

  it.each([ETAG, `W/${ETAG}`, `"other", ${ETAG}`, '*'])('is unchanged for %s', async (ifNoneMatch) => {
    const response = await get({ 'if-none-match': ifNoneMatch, range: 'bytes=0-1' });
    expect(response.statusCode).toBe(304);
    expect(response.headers).toMatchObject({ etag: ETAG, 'cache-control': 'private, no-cache' });
    expect(response.body).toBe('');
    expect(application.streams).toEqual([]);
  });

  it('answers HEAD without opening the file, and ignores a range there', async () => {
    const response = await get({ range: 'bytes=0-1' }, { method: 'HEAD' });
    expect(response.statusCode).toBe(200);
    expect(response.headers).toMatchObject({ 'content-length': '20', etag: ETAG });
    expect(application.streams).toEqual([]);
  });

  it('answers an error as JSON when the file cannot be opened', async () => {
    const response = await get(
      {},
      { overrides: { openAttachment: () => Promise.reject(new ServiceError('content_missing')) } },
    );
    expect(response.statusCode).toBe(500);
    expect(response.json().code).toBe('content_missing');
    expect(response.headers['content-disposition']).toBeUndefined();
    expect(app?.logs).toHaveLength(1);
  });

  it('never sends a broken content type on', async () => {
    const stored = { ...sampleAttachment, contentType: 'text/html\r\nSet-Cookie: a=b' };
    const response = await get({}, { overrides: { readAttachment: async () => stored } });
    expect(response.headers['content-type']).toBe('application/octet-stream');
    expect(response.headers['set-cookie']).toBeUndefined();
  });

  it('serves an empty file', async () => {
    const overrides: Partial<Application> = {
      readAttachment: async () => ({ ...sampleAttachment, sizeBytes: 0 }),
      openAttachment: async () => Readable.from([]),
    };
    expect(await get({}, { overrides })).toMatchObject({ statusCode: 200, body: '' });
    expect((await get({ range: 'bytes=0-' }, { overrides })).statusCode).toBe(416);
  });
});

describe('a file of a draft', () => {
  const url = `/api/drafts/${IDS.email}/attachments/${IDS.attachment}`;

  it.each<[Record<string, string>, 'GET' | 'HEAD', string, number]>([
    [{}, 'GET', '', 200],
    [{}, 'HEAD', '', 200],
    [{}, 'GET', '?disposition=inline', 200],
    [{ range: 'bytes=0-3' }, 'GET', '', 206],
    [{ range: 'bytes=20-' }, 'GET', '', 416],
    [{ 'if-none-match': ETAG }, 'GET', '', 304],
  ])('is answered as an attachment of an email: %j %s%s', async (headers, method, query, status) => {
    const overrides: Partial<Application> = { inlineTypeOf: async () => 'image/png' };
    const parts = async (target: string) => {
      const response = await get(headers, { method, url: target + query, overrides });
      const { date: _date, 'x-request-id': _id, ...rest } = response.headers;
      const body = response.body.replace(/"request_id":"[^"]+"/, '');
      return { status: response.statusCode, headers: rest, body };
    };
    const ofDraft = await parts(url);
    expect(ofDraft.status).toBe(status);
    expect(ofDraft).toEqual(await parts(URL));
  });
});

describe('raw message', () => {
  const url = `/api/emails/${IDS.email}/raw`;

  it('is sent as message/rfc822', async () => {
    const response = await get({}, { url });
    expect(response.statusCode).toBe(200);
    expect(response.rawPayload).toEqual(FILE);
    expect(response.headers).toMatchObject({
      'content-type': 'message/rfc822',
      'content-length': '20',
      'content-disposition': expect.stringContaining(`attachment; filename="${IDS.email}.eml"`),
      'content-security-policy': "sandbox; default-src 'none'",
      'cache-control': 'no-store',
    });
  });

  it('leaves no stream open after HEAD', async () => {
    const response = await get({}, { url, method: 'HEAD' });
    expect(response.headers['content-length']).toBe('20');
    expect(application.streams.map((stream) => stream.destroyed)).toEqual([true]);
  });
});

describe('parseByteRange', () => {
  it('takes numbers of any length', () => {
    expect(parseByteRange(`bytes=0-${'9'.repeat(400)}`, 5)).toEqual({ start: 0, end: 4 });
    expect(parseByteRange(`bytes=${'9'.repeat(400)}-`, 5)).toBe('unsatisfiable');
    expect(parseByteRange(undefined, 5)).toBeNull();
  });
});

describe('isUnchanged', () => {
  it.each([
    ['"a"', true],
    ['"b", W/"a"', true],
    ['"b"', false],
    ['a', false],
    ['', false],
  ])('%s', (header, expected) => {
    expect(isUnchanged(header, '"a"')).toBe(expected);
  });
});

describe('formatDisposition', () => {
  it.each([
    ['a.txt', `attachment; filename="a.txt"; filename*=UTF-8''a.txt`],
    [`it's (1)*.txt`, `attachment; filename="it's (1)*.txt"; filename*=UTF-8''it%27s%20%281%29%2A.txt`],
    ['../../etc/passwd', `attachment; filename=".._.._etc_passwd"; filename*=UTF-8''.._.._etc_passwd`],
    ['a\r\nSet-Cookie: x', `attachment; filename="aSet-Cookie: x"; filename*=UTF-8''aSet-Cookie%3A%20x`],
    ['x\u202efdp.exe', `attachment; filename="xfdp.exe"; filename*=UTF-8''xfdp.exe`],
    ['\ud800.txt', `attachment; filename="_.txt"; filename*=UTF-8''%EF%BF%BD.txt`],
    ['50%25.txt', `attachment; filename="50_25.txt"; filename*=UTF-8''50%2525.txt`],
    ['', `attachment; filename="attachment"; filename*=UTF-8''attachment`],
    ['..', `attachment; filename="attachment"; filename*=UTF-8''attachment`],
  ])('%j', (name, expected) => {
    expect(formatDisposition('attachment', name)).toBe(expected);
  });

  it('keeps the extension of a very long name', () => {
    const value = formatDisposition('attachment', `${'\ud83d\ude00'.repeat(400)}.pdf`);
    expect(value).toMatch(/\.pdf$/);
    expect(value.length).toBeLessThan(2200);
  });
});

describe('toContentType', () => {
  it.each([
    ['application/pdf', 'application/pdf'],
    ['text/plain; charset=utf-8', 'text/plain; charset=utf-8'],
    ['text/plain; name="a b"', 'text/plain; name="a b"'],
    ['', 'application/octet-stream'],
    ['pdf', 'application/octet-stream'],
    ['text/html;', 'application/octet-stream'],
    ['text/plain; name="ü"', 'application/octet-stream'],
    [`a/${'b'.repeat(300)}`, 'application/octet-stream'],
  ])('%j', (stored, expected) => {
    expect(toContentType(stored)).toBe(expected);
  });
});
