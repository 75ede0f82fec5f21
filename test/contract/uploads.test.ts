/** Files that a send or a draft names: uploads, and attachments of recorded emails. */
import { createHash, randomBytes, randomUUID } from 'node:crypto';
import { existsSync } from 'node:fs';
import { readdir, unlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { simpleParser } from 'mailparser';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { mail, receive } from '../helpers/inbound-mail.ts';
import { query } from '../helpers/query.ts';
import { getJson, sendJson } from '../helpers/running-service.ts';
import { createTestDatabase, type TestDatabase } from '../helpers/postgres.ts';
import { disposeService, startServiceProcess, type ServiceProcess } from '../helpers/service-process.ts';
import { startSmtpSink, type SmtpSink } from '../helpers/smtp-sink.ts';
import { makeTempFolder, type TempFolder } from '../helpers/temp-folder.ts';

let database: TestDatabase;
let sink: SmtpSink;
let service: ServiceProcess;
let temp: TempFolder;

beforeAll(async () => {
  [database, sink, temp] = await Promise.all([createTestDatabase(), startSmtpSink(), makeTempFolder()]);
  const accounts = join(temp.path, 'accounts.json');
  const account = (id: string) => ({ id, from: `${id}@example.com`, smtp_url: sink.url });
  await writeFile(accounts, JSON.stringify([account('sales'), account('support')]));
  service = await startServiceProcess({
    env: { DATABASE_URL: database.connectionString, ACCOUNTS_FILE: accounts },
  });
});
afterAll(async () => {
  await disposeService(service);
  await Promise.all([sink.stop(), temp.remove()]);
  await database.drop();
});

const MAIL = { to: 'ada@example.org', subject: 'Angebot', text_body: 'Guten Tag' };
type Json = Record<string, unknown>;
interface Uploaded {
  readonly id: string;
  readonly filename: string;
  readonly sha256: string;
}

const sha256 = (bytes: Buffer) => createHash('sha256').update(bytes).digest();
const put = (bytes: Buffer, search = '?filename=a.bin', headers: Record<string, string> = {}) =>
  service.request(`/api/uploads${search}`, {
    method: 'POST',
    headers: { 'content-type': 'application/octet-stream', ...headers },
    body: bytes,
  });
async function upload(bytes: Buffer, search?: string, headers?: Record<string, string>): Promise<Uploaded> {
  const response = await put(bytes, search, headers);
  expect(response.status, await response.clone().text()).toBe(201);
  return (await response.json()) as Uploaded;
}
async function codeOf(response: Response): Promise<unknown> {
  return [response.status, ((await response.json()) as Json)['code']];
}
const attachmentsOf = async (messageId: string) =>
  (await simpleParser(sink.byMessageId(messageId)[0]!.raw)).attachments;

/** An email with one file, bild.png of the bytes 0, 1 and 2. */
async function receivePicture(accountId = 'sales') {
  const raw = mail({
    headers: ['Content-Type: multipart/mixed; boundary=b', 'MIME-Version: 1.0'],
  }).replace(
    /\r\n\r\n[^]*$/,
    `\r\n\r\n--b\r\n\r\nText\r\n--b\r\nContent-Type: image/png; name="bild.png"\r\nContent-Transfer-Encoding: base64\r\n\r\nAAEC\r\n--b--\r\n`,
  );
  const received = await receive(service, raw, `?account_id=${accountId}`);
  const { email_attachments: files } = await getJson<{ email_attachments: Json[] }>(
    service,
    `/api/emails/${received.id}`,
  );
  return { ...received, fileId: String(files[0]!['id']) };
}

describe('an upload', () => {
  it.each([0, 1, 5000, 3_000_000])('of %i bytes is sent as it came, and more than once', async (size) => {
    const bytes = randomBytes(size);
    const file = await upload(bytes, '?filename=Angebot%20M%C3%A4rz.pdf&content_type=application/pdf');
    expect(file).toMatchObject({
      account_id: 'sales',
      filename: 'Angebot März.pdf',
      content_type: 'application/pdf',
      size_bytes: size,
      sha256: sha256(bytes).toString('hex'),
      expires_at: expect.stringMatching(/Z$/),
    });
    for (const filename of [undefined, 'anders.pdf']) {
      const { id, messageId } = await sendJson(service, {
        ...MAIL,
        attachments: [{ upload_id: file.id, filename }],
      });
      const [sent] = await attachmentsOf(messageId);
      expect([sent?.filename, sent?.contentType]).toEqual([
        filename ?? 'Angebot März.pdf',
        'application/pdf',
      ]);
      expect(sent?.content.equals(bytes)).toBe(true);
      const { email_attachments: files } = await getJson<{ email_attachments: Json[] }>(
        service,
        `/api/emails/${id}`,
      );
      const kept = await service.request(`/api/attachments/${String(files[0]!['id'])}`);
      expect(Buffer.from(await kept.arrayBuffer()).equals(bytes)).toBe(true);
    }
  });

  it('takes its name from Content-Disposition, and refuses to have none', async () => {
    const named = { 'content-disposition': "attachment; filename=x; filename*=UTF-8''%C3%9Cbersicht.txt" };
    expect((await upload(Buffer.from('a'), '', named)).filename).toBe('Übersicht.txt');
    expect(await codeOf(await put(Buffer.from('a'), ''))).toEqual([400, 'invalid_filename']);
  });

  it('is checked against its Content-Digest', async () => {
    const bytes = randomBytes(100_000);
    const digest = (of: Buffer) => ({ 'content-digest': `sha-256=:${sha256(of).toString('base64')}:` });
    await upload(bytes, undefined, digest(bytes));
    expect(await codeOf(await put(bytes, undefined, digest(Buffer.from('x'))))).toEqual([
      400,
      'content_digest_mismatch',
    ]);
    for (const field of ['sha-256=abc', 'sha-256=:YWJj:', 'x']) {
      expect(await codeOf(await put(bytes, undefined, { 'content-digest': field }))).toEqual([
        400,
        'invalid_content_digest',
      ]);
    }
    // What can't be checked is refused: the caller relies on it.
    for (const field of ['unixsum=:YWJj:', 'md5=:YWJj:', 'sha-512=:YWJj:'])
      expect(await codeOf(await put(bytes, undefined, { 'content-digest': field }))).toEqual([
        400,
        'invalid_content_digest',
      ]);
    await upload(bytes, undefined, { 'content-digest': `md5=:YWJj:, ${digest(bytes)['content-digest']}` });
  });

  it('is bounded in size', async () => {
    expect(await codeOf(await put(Buffer.alloc(25 * 1024 * 1024 + 1)))).toEqual([413, 'payload_too_large']);
    const file = await upload(Buffer.alloc(20 * 1024 * 1024));
    const attachments = [{ upload_id: file.id }, { upload_id: file.id }];
    const response = await service.request('/api/send', { json: { ...MAIL, attachments } });
    expect(await codeOf(response)).toEqual([413, 'attachments_too_large']);
  });

  it('belongs to its account', async () => {
    const file = await upload(Buffer.from('a'), '?filename=a&account_id=support');
    const attachments = [{ upload_id: file.id }];
    const other = await service.request('/api/send', { json: { ...MAIL, attachments } });
    expect(await codeOf(other)).toEqual([404, 'upload_not_found']);
    await sendJson(service, { ...MAIL, account_id: 'support', attachments });
    expect(await codeOf(await put(Buffer.from('a'), '?filename=a&account_id=nobody'))).toEqual([
      400,
      'unknown_account',
    ]);
  });

  it('can not be sent when its day is over, but a repeat of a send still has its answer', async () => {
    const file = await upload(Buffer.from('a'));
    const request = () =>
      service.request('/api/send', {
        json: { ...MAIL, attachments: [{ upload_id: file.id }] },
        headers: { 'idempotency-key': `upload-${file.id}` },
      });
    const first = await request();
    await query(database.connectionString, 'update uploads set expires_at = now() where id = $1', [file.id]);
    const again = await request();
    expect([first.status, again.status]).toEqual([200, 200]);
    expect(await again.json()).toEqual(await first.json());
    const later = await service.request('/api/send', {
      json: { ...MAIL, attachments: [{ upload_id: file.id }] },
    });
    expect(await codeOf(later)).toEqual([404, 'upload_not_found']);
  });

  it('leaves nothing when it is refused', async () => {
    const files = async () => (await readdir(service.dataDir, { recursive: true })).length;
    const [rows] = await query(database.connectionString, 'select count(*) from uploads');
    const before = await files();
    await put(randomBytes(500_000), undefined, {
      'content-digest': `sha-256=:${sha256(Buffer.from('x')).toString('base64')}:`,
    });
    expect(await files()).toBe(before);
    expect(await query(database.connectionString, 'select count(*) from uploads')).toEqual([rows]);
  });
});

describe('an attachment of a recorded email', () => {
  it('is sent along by its id, with the name and the type that it has', async () => {
    const received = await receivePicture();
    const attachments = [{ attachment_id: received.fileId }];
    const { messageId } = await sendJson(service, { ...MAIL, attachments });
    const [sent] = await attachmentsOf(messageId);
    expect([sent?.filename, sent?.contentType, sent?.content.toString('hex')]).toEqual([
      'bild.png',
      'image/png',
      '000102',
    ]);
    const other = await service.request('/api/send', {
      json: { ...MAIL, account_id: 'support', attachments },
    });
    expect(await codeOf(other)).toEqual([404, 'attachment_not_found']);
  });

  it.each([
    ['an unknown one', { attachment_id: randomUUID() }, 404, 'attachment_not_found'],
    ['an unknown upload', { upload_id: randomUUID() }, 404, 'upload_not_found'],
    ['what is no id', { upload_id: 'x' }, 400, 'invalid_uuid'],
    [
      'two files at once',
      { upload_id: randomUUID(), content: 'AAAA', filename: 'a' },
      400,
      'invalid_request',
    ],
    ['an empty name', { upload_id: randomUUID(), filename: ' ' }, 400, 'invalid_filename'],
    ['no file', { filename: 'a' }, 400, 'invalid_request'],
  ])('refuses %s', async (_, attachment, status, code) => {
    const before = sink.messages.length;
    const response = await service.request('/api/send', { json: { ...MAIL, attachments: [attachment] } });
    expect(await codeOf(response)).toEqual([status, code]);
    expect(sink.messages).toHaveLength(before);
  });
});

describe('a draft', () => {
  interface Draft {
    readonly id: string;
    readonly version: number;
    readonly account_id: string;
    readonly attachments: readonly {
      readonly id: string;
      readonly filename: string;
      readonly content_type: string;
      readonly size_bytes: number;
      readonly storage_path: string;
      readonly content_id: string | null;
    }[];
  }
  async function write(json: object): Promise<Draft> {
    const response = await service.request('/api/drafts', { json });
    expect(response.status, await response.clone().text()).toBe(201);
    return (await response.json()) as Draft;
  }
  const change = (id: string, version: number, json: object) =>
    service.request(`/api/drafts/${id}`, {
      method: 'PATCH',
      json,
      headers: { 'if-match': `"${version}"` },
    });
  const fileOf = (draft: Draft, fileId: string) =>
    service.request(`/api/drafts/${draft.id}/attachments/${fileId}`);
  const pathOf = (storagePath: unknown) => join(service.dataDir, 'files', String(storagePath));
  /** Without the folders, which may be tidied up at any time. */
  async function storedFiles(): Promise<readonly string[]> {
    const names = await readdir(join(service.dataDir, 'files'), { recursive: true });
    return names.filter((name) => /\.(?:bin|png)$/.test(name)).sort();
  }

  it('keeps the files that it names when the upload is gone and the email is deleted, and sends them', async () => {
    const bytes = randomBytes(300_000);
    const upload1 = await upload(bytes, '?filename=a.bin&content_type=application/x-test');
    const picture = await receivePicture();
    const draft = await write({
      message: MAIL,
      attachments: [
        { upload_id: upload1.id, filename: 'anders.bin', content_id: 'x@y' },
        { attachment_id: picture.fileId },
      ],
    });
    expect(draft.attachments).toMatchObject([
      { filename: 'anders.bin', content_type: 'application/x-test', size_bytes: 300_000, content_id: 'x@y' },
      { filename: 'bild.png', content_type: 'image/png', size_bytes: 3, content_id: null },
    ]);
    const [row] = await query(
      database.connectionString,
      'delete from uploads where id = $1 returning storage_path',
      [upload1.id],
    );
    await unlink(pathOf(row!['storage_path']));
    expect((await service.request(`/api/emails/${picture.id}`, { method: 'DELETE' })).status).toBe(200);

    for (const [index, content] of [bytes, Buffer.from([0, 1, 2])].entries()) {
      const response = await fileOf(draft, draft.attachments[index]!.id);
      expect([response.status, response.headers.get('etag')]).toEqual([
        200,
        `"${sha256(content).toString('hex')}"`,
      ]);
      expect(Buffer.from(await response.arrayBuffer()).equals(content)).toBe(true);
    }
    const sent = await sendDraft(draft.id);
    const files = await attachmentsOf(sent.messageId);
    expect(files.map(({ filename, contentType }) => [filename, contentType])).toEqual([
      ['anders.bin', 'application/x-test'],
      ['bild.png', 'image/png'],
    ]);
    expect([files[0]!.content.equals(bytes), files[1]!.content.toString('hex')]).toEqual([true, '000102']);
    expect(await codeOf(await fileOf(draft, draft.attachments[0]!.id))).toEqual([
      404,
      'draft_file_not_found',
    ]);
    for (const { storage_path: path } of draft.attachments)
      expect(existsSync(pathOf(path)), path).toBe(false);
  });

  async function sendDraft(id: string): Promise<{ readonly messageId: string }> {
    const response = await service.request(`/api/drafts/${id}/send`, { method: 'POST' });
    expect(response.status, await response.clone().text()).toBe(200);
    return (await response.json()) as { messageId: string };
  }

  it('gets more files beside those that it keeps, the same one twice', async () => {
    const first = await write({ attachments: [{ filename: 'a.bin', content: 'YQ==' }] });
    const { id } = await upload(Buffer.from('b'), '?filename=b.bin');
    const attachments = [{ upload_id: id }, { id: first.attachments[0]!.id }, { upload_id: id }];
    const response = await change(first.id, 1, { attachments });
    const changed = (await response.json()) as Draft;
    expect(changed.attachments.map(({ filename }) => filename)).toEqual(['b.bin', 'a.bin', 'b.bin']);
    expect(new Set(changed.attachments.map(({ id: fileId }) => fileId)).size).toBe(3);
    for (const [index, content] of ['b', 'a', 'b'].entries())
      expect(await (await fileOf(changed, changed.attachments[index]!.id)).text()).toBe(content);
  });

  it.each([
    ['that it names', async () => ({ message: { account_id: 'support' } })],
    ['of what it answers', async () => ({ answers: { email_id: (await receivePicture('support')).id } })],
    ['of its thread', async () => ({ message: { thread_id: (await receivePicture('support')).threadId } })],
  ])('takes files of the account %s', async (_title, decide) => {
    const [upload1, picture] = [
      await upload(Buffer.from('a'), '?filename=a.bin&account_id=support'),
      await receivePicture('support'),
    ];
    const attachments = [{ upload_id: upload1.id }, { attachment_id: picture.fileId }];
    const draft = await write({});
    expect(await codeOf(await change(draft.id, 1, { attachments }))).toEqual([404, 'upload_not_found']);
    const changed = await change(draft.id, 1, { attachments, ...(await decide()) });
    expect(await changed.json()).toMatchObject({
      account_id: 'support',
      attachments: [{ size_bytes: 1 }, { size_bytes: 3 }],
    });
  });

  const UPLOAD = 'attachments[1].upload_id';
  const ATTACHMENT = 'attachments[1].attachment_id';
  it.each<[string, () => Promise<object>, readonly unknown[]]>([
    ['an unknown upload', async () => ({ upload_id: randomUUID() }), [404, 'upload_not_found', UPLOAD]],
    [
      'an unknown attachment',
      async () => ({ attachment_id: randomUUID() }),
      [404, 'attachment_not_found', ATTACHMENT],
    ],
    [
      'an upload of another account',
      async () => ({ upload_id: (await upload(Buffer.from('a'), '?filename=a.bin&account_id=support')).id }),
      [404, 'upload_not_found', UPLOAD],
    ],
    [
      'an attachment of another account',
      async () => ({ attachment_id: (await receivePicture('support')).fileId }),
      [404, 'attachment_not_found', ATTACHMENT],
    ],
    [
      'an upload whose day is over',
      async () => {
        const { id } = await upload(Buffer.from('a'), '?filename=a.bin');
        await query(database.connectionString, 'update uploads set expires_at = now() where id = $1', [id]);
        return { upload_id: id };
      },
      [404, 'upload_not_found', UPLOAD],
    ],
    [
      'an attachment of an email that was deleted',
      async () => {
        const { id, fileId } = await receivePicture();
        expect((await service.request(`/api/emails/${id}`, { method: 'DELETE' })).status).toBe(200);
        return { attachment_id: fileId };
      },
      [404, 'attachment_not_found', ATTACHMENT],
    ],
    [
      'more than all files may have together',
      async () => ({ upload_id: (await upload(Buffer.alloc(25 * 1024 * 1024), '?filename=a.bin')).id }),
      [413, 'attachments_too_large', undefined],
    ],
  ])('does not take %s, and is not changed', async (_title, name, expected) => {
    const draft = await write({ attachments: [{ filename: 'kept.bin', content: 'YQ==' }] });
    const [named, own] = [await name(), await upload(Buffer.from('a'))];
    const before = await storedFiles();
    const attachments = [{ id: draft.attachments[0]!.id }, named, { upload_id: own.id }];
    const refused = await change(draft.id, 1, { attachments });
    const { code, details } = (await refused.json()) as { code: string; details?: string };
    expect([refused.status, code, details]).toEqual(expected);
    expect(await getJson(service, `/api/drafts/${draft.id}`)).toEqual(draft);
    expect(await storedFiles()).toEqual(before);
  });

  it('shows its files only under its own identifier', async () => {
    const [one, other] = [
      await write({ attachments: [{ filename: 'a.bin', content: 'YQ==' }] }),
      await write({ attachments: [{ filename: 'b.bin', content: 'Yg==' }] }),
    ];
    const fileId = one.attachments[0]!.id;
    expect((await fileOf(one, fileId.toUpperCase())).status).toBe(200);
    expect(await codeOf(await fileOf(other, fileId))).toEqual([404, 'draft_file_not_found']);
    expect(await codeOf(await service.request(`/api/attachments/${fileId}`))).toEqual([
      404,
      'attachment_not_found',
    ]);
  });

  it('of a key that may not read emails takes none of their files', async () => {
    const made = await service.request('/api/keys', {
      json: { name: 'Assistant', rights: ['draft'], account_ids: '*' },
    });
    const { secret } = (await made.json()) as { secret: string };
    const [{ fileId }, { id: uploadId }] = [await receivePicture(), await upload(Buffer.from('a'))];
    const tryWith = (attachment: object) =>
      service.request('/api/drafts', {
        json: { attachments: [attachment] },
        headers: { authorization: `Bearer ${secret}` },
      });
    expect(await codeOf(await tryWith({ attachment_id: fileId }))).toEqual([403, 'forbidden_right']);
    expect((await tryWith({ upload_id: uploadId })).status).toBe(201);
  });
});
