/** Files that a send names: uploads, and attachments of recorded emails. */
import { createHash, randomBytes, randomUUID } from 'node:crypto';
import { readdir, writeFile } from 'node:fs/promises';
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
    headers: { 'content-type': 'application/x-test', ...headers },
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

describe('an upload', () => {
  it.each([0, 1, 5000, 3_000_000])('of %i bytes is sent as it came, and more than once', async (size) => {
    const bytes = randomBytes(size);
    const file = await upload(bytes, '?filename=Angebot%20M%C3%A4rz.pdf', {
      'content-type': 'application/pdf',
    });
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
    await upload(bytes, undefined, { 'content-digest': 'unixsum=:YWJj:' });
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
    const boundary = 'b';
    const raw = mail({
      headers: [`Content-Type: multipart/mixed; boundary=${boundary}`, 'MIME-Version: 1.0'],
    }).replace(
      /\r\n\r\n[^]*$/,
      `\r\n\r\n--b\r\n\r\nText\r\n--b\r\nContent-Type: image/png; name="bild.png"\r\nContent-Transfer-Encoding: base64\r\n\r\nAAEC\r\n--b--\r\n`,
    );
    const received = await receive(service, raw);
    const { email_attachments: files } = await getJson<{ email_attachments: Json[] }>(
      service,
      `/api/emails/${received.id}`,
    );
    const attachments = [{ attachment_id: files[0]!['id'] }];
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
