/** Bodies that are bytes: what generated clients and curl make of them is stored as it is, or refused. */
import { readFileSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import {
  startServiceWithDatabase,
  sendJson,
  getJson,
  type RunningService,
} from '../helpers/running-service.ts';
import { TEST_SECRET } from '../helpers/service-process.ts';
import { createClient } from '../../clients/typescript/src/index.ts';
import { Transport } from '../../clients/typescript/src/transport.ts';

let running: RunningService;
beforeAll(async () => {
  running = await startServiceWithDatabase();
});
afterAll(() => running.end());

const BYTES = Uint8Array.from({ length: 256 }, (_, index) => index);
const mailOf = (id: number) =>
  Buffer.from(
    `From: a@x.test\r\nTo: b@x.test\r\nSubject: x\r\nMessage-ID: <${id}@x.test>\r\nDate: Sun, 01 Mar 2026 12:00:00 +0100\r\nContent-Type: text/plain; charset=iso-8859-1\r\n\r\nGr\u00fc\u00dfe\r\n\u00ff\r\n`,
    'latin1',
  );
const same = (bytes: Uint8Array | ArrayBuffer, expected: Uint8Array) =>
  expect(Buffer.from(bytes as Uint8Array).equals(Buffer.from(expected))).toBe(true);

/** The file of an upload, as an email that was sent with it has it. */
async function fileOf(uploadId: string): Promise<{ readonly id: string; readonly content_type: string }> {
  const attachments = [{ upload_id: uploadId }];
  const { id } = await sendJson(running.service, {
    to: 'a@x.test',
    subject: 'x',
    text_body: 'x',
    attachments,
  });
  const email = await getJson<{ email_attachments: { id: string; content_type: string }[] }>(
    running.service,
    `/api/emails/${id}`,
  );
  return email.email_attachments[0]!;
}

describe('the document', () => {
  it('describes bodies of bytes by one media type and as binary, so that generated clients do not encode them', () => {
    const { paths: described } = JSON.parse(
      readFileSync(new URL('../../docs/openapi.json', import.meta.url), 'utf8'),
    ) as {
      paths: Record<
        string,
        Record<string, { requestBody?: { content: Record<string, { schema: object }> } }>
      >;
    };
    const others = Object.values(described)
      .flatMap((operations) => Object.values(operations))
      .flatMap(({ requestBody }) => Object.entries(requestBody?.content ?? {}))
      .filter(([type]) => type !== 'application/json')
      .map(([type, { schema }]) => [type, schema]);
    const binary = expect.objectContaining({ type: 'string', format: 'binary' }) as object;
    expect(others).toEqual([
      ['application/octet-stream', binary],
      ['message/rfc822', binary],
    ]);
  });
});

describe('a body of bytes', () => {
  const TYPES = [
    ['curl --data-binary', 'application/x-www-form-urlencoded'],
    ['a client that writes JSON', 'application/json'],
    ['fetch with a text', 'text/plain;charset=UTF-8'],
    ['a form', 'multipart/form-data; boundary=b'],
    ['the type of the file', 'image/png'],
    ['nothing', null],
  ] as const;
  const post = (path: string, type: string | null) =>
    running.service.request(path, {
      method: 'POST',
      body: BYTES,
      headers: type === null ? {} : { 'content-type': type },
    });

  it.each(TYPES)('of an upload is refused when its type is that of %s', async (_by, type) => {
    const response = await post('/api/uploads?filename=a', type);
    const { code, error } = (await response.json()) as { code: string; error: string };
    expect([response.status, code]).toEqual([415, 'file_expected']);
    expect(error).toContain('application/octet-stream');
  });

  it.each(TYPES)('of a received email is refused when its type is that of %s', async (_by, type) => {
    const response = await post('/api/inbound', type);
    const { code, error } = (await response.json()) as { code: string; error: string };
    expect([response.status, code]).toEqual([415, 'message_expected']);
    expect(error).toContain('message/rfc822');
  });

  it('that openapi-fetch would write as JSON is refused, and stored byte for byte when it is handed through', async () => {
    // openapi-fetch with the types of the document, as any caller may set it up.
    const { api } = new Transport({ url: running.service.url, secret: TEST_SECRET });
    const query = { filename: 'a.json', content_type: 'application/json' };
    const encoded = await api.POST('/api/uploads', { params: { query }, body: BYTES as never });
    expect(encoded.response.status).toBe(415);
    const raw = (type: string) => ({
      headers: { 'Content-Type': type },
      bodySerializer: (body: unknown) => body as Blob,
    });
    const { data: upload } = await api.POST('/api/uploads', {
      params: { query },
      body: BYTES as never,
      ...raw('application/octet-stream'),
    });
    const file = await fileOf(upload?.id ?? '');
    expect(file.content_type).toBe('application/json');
    const download = await api.GET('/api/attachments/{id}', {
      params: { path: { id: file.id } },
      parseAs: 'arrayBuffer',
    });
    same(download.data as ArrayBuffer, BYTES);
    const { data: received } = await api.POST('/api/inbound', {
      body: mailOf(1) as never,
      ...raw('message/rfc822'),
    });
    const source = await api.GET('/api/emails/{id}/raw', {
      params: { path: { id: received?.id ?? '' } },
      parseAs: 'arrayBuffer',
    });
    same(source.data as ArrayBuffer, mailOf(1));
  });

  it('comes back byte for byte by the client of this project, whatever the type of its Blob', async () => {
    const client = createClient({ url: running.service.url, secret: TEST_SECRET });
    const uploads = [
      [await client.uploads.create(BYTES, { filename: 'a.bin' }), 'application/octet-stream'],
      [
        await client.uploads.create(new File([BYTES], 'a.json', { type: 'application/json' })),
        'application/json',
      ],
      [
        await client.uploads.create(new Blob([BYTES], { type: 'text/plain' }), { filename: 'a.txt' }),
        'text/plain',
      ],
    ] as const;
    for (const [upload, type] of uploads) {
      const { id, content_type } = await fileOf(upload.id);
      expect(content_type).toBe(type);
      same(await (await client.attachments.download(id)).bytes(), BYTES);
    }
    for (const [id, message] of [
      [2, mailOf(2)],
      [3, new Blob([mailOf(3)], { type: 'text/plain' })],
    ] as const) {
      const received = await client.receive(message);
      same(await (await client.emails.raw(received.id)).bytes(), mailOf(id));
    }
  });
});
