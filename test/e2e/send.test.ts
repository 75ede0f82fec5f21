/** The whole path: HTTP → service → Postfix → Dovecot, read back by IMAP, and compared with the service's own records. */
import { createHash, randomBytes } from 'node:crypto';
import { simpleParser } from 'mailparser';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { skipWithoutMailServers, startMailServers, type MailServers } from '../helpers/mail-servers.ts';
import { createTestDatabase, type TestDatabase } from '../helpers/postgres.ts';
import { fetchByMessageId, stripTraceHeaders } from '../helpers/read-mailbox.ts';
import { disposeService, startServiceProcess, type ServiceProcess } from '../helpers/service-process.ts';

const MIB = 1024 * 1024;

describe.skipIf(skipWithoutMailServers())('a send through Postfix into a Dovecot mailbox', () => {
  let servers: MailServers;
  let database: TestDatabase;
  let service: ServiceProcess;

  beforeAll(async () => {
    servers = await startMailServers();
    database = await createTestDatabase();
    const login = `bob:${encodeURIComponent(servers.users.bob.password)}`;
    service = await startServiceProcess({
      env: {
        DATABASE_URL: database.connectionString,
        SMTP_URL: `smtp://${login}@localhost:${servers.submissionPort}?starttls=required&tls_ca=${servers.caFile}`,
        MAIL_FROM: 'Vertrieb Süd <bob@example.test>',
      },
    });
  });
  afterAll(async () => {
    await disposeService(service);
    await database.drop();
    await servers.stop();
  });

  interface Sent {
    readonly id: string;
    readonly messageId: string;
    readonly threadId: string;
  }

  async function send(fields: Record<string, unknown>): Promise<Sent> {
    const response = await service.request('/api/send', {
      json: {
        to: 'Alice <alice@example.test>',
        subject: 'Grüße 😀',
        text_body: 'Guten Tag\n.\nFrom hier',
        ...fields,
      },
    });
    expect(response.status, await response.clone().text()).toBe(200);
    return (await response.json()) as Sent;
  }

  async function expectSameBytes(sent: Sent): Promise<Buffer> {
    const raw = Buffer.from(await (await service.request(`/api/emails/${sent.id}/raw`)).arrayBuffer());
    const received = stripTraceHeaders(await fetchByMessageId(servers, 'alice', sent.messageId));
    expect(received.length).toBe(raw.length);
    expect(received.equals(raw)).toBe(true);
    return raw;
  }

  it('arrives byte for byte as raw returns it, over STARTTLS and AUTH', async () => {
    const raw = await expectSameBytes(
      await send({ html_body: '<p>Grüße <b>aus</b> Köln</p>', cc: 'bob@example.test' }),
    );
    const parsed = await simpleParser(raw);
    expect(parsed.subject).toBe('Grüße 😀');
    expect(parsed.from?.value).toEqual([{ name: 'Vertrieb Süd', address: 'bob@example.test' }]);
  });

  it('keeps attachments intact: sizes, random bytes and hostile names', async () => {
    const files = [
      { filename: 'leer.bin', bytes: Buffer.alloc(0) },
      { filename: '合同 最终版.pdf', bytes: randomBytes(1000) },
      { filename: '😀 emoji.png', bytes: randomBytes(77) },
      { filename: '../../etc/passwd', bytes: Buffer.from('root:x:0:0') },
      { filename: `${'n'.repeat(296)}.txt`, bytes: randomBytes(3 * MIB) },
      { filename: 'same.txt', bytes: Buffer.from('one') },
      { filename: 'same.txt', bytes: Buffer.from('two') },
    ];
    const sent = await send({
      attachments: files.map(({ filename, bytes }) => ({
        filename,
        content: bytes.toString('base64'),
        content_type: 'application/octet-stream',
      })),
    });
    const parsed = await simpleParser(await expectSameBytes(sent));
    expect(
      parsed.attachments.map((part) => part.content.equals(files[parsed.attachments.indexOf(part)]!.bytes)),
    ).toEqual(files.map(() => true));

    const { emails } = (await (await service.request(`/api/thread/${sent.threadId}`)).json()) as {
      emails: {
        email_attachments: { id: string; filename: string; size_bytes: number; storage_path: string }[];
      }[];
    };
    const stored = emails[0]!.email_attachments;
    expect(stored.map((attachment) => attachment.size_bytes)).toEqual(files.map(({ bytes }) => bytes.length));
    expect(stored.map((attachment) => attachment.filename).slice(0, 4)).toEqual([
      'leer.bin',
      '合同 最终版.pdf',
      '😀 emoji.png',
      'passwd',
    ]);
    expect(new Set(stored.map((attachment) => attachment.storage_path)).size).toBe(files.length);
    for (const [index, attachment] of stored.entries()) {
      expect(attachment.storage_path.startsWith(`default/${sent.id}/`)).toBe(true);
      expect(attachment.storage_path.split('/')).toHaveLength(3);
      const download = await service.request(`/api/attachments/${attachment.id}`);
      expect(Buffer.from(await download.arrayBuffer()).equals(files[index]!.bytes)).toBe(true);
    }
  });

  it('carries 25 MiB of random bytes, and refuses one byte more', { tags: ['long'] }, async () => {
    const bytes = randomBytes(25 * MIB);
    const attachment = { filename: 'groß.bin', content_type: 'application/octet-stream' };
    const sent = await send({ attachments: [{ ...attachment, content: bytes.toString('base64') }] });
    const parsed = await simpleParser(await expectSameBytes(sent));
    const digest = (value: Buffer) => createHash('sha256').update(value).digest('hex');
    expect(digest(parsed.attachments[0]!.content)).toBe(digest(bytes));

    const response = await service.request('/api/send', {
      json: {
        to: 'alice@example.test',
        subject: 'zu groß',
        text_body: 'x',
        attachments: [{ ...attachment, content: Buffer.concat([bytes, Buffer.alloc(1)]).toString('base64') }],
      },
    });
    expect(response.status).toBe(413);
    expect(await response.json()).toMatchObject({ code: 'attachments_too_large' });
  });

  it('is sent when Postfix refuses one of the recipients, and says which', async () => {
    const sent = await send({ to: 'alice@example.test, nobody@example.test' });
    await expectSameBytes(sent);
    expect(sent).toMatchObject({
      not_accepted: [{ address: 'nobody@example.test', state: 'rejected', reply: { code: 550 } }],
    });
    const detail = (await (await service.request(`/api/emails/${sent.id}`)).json()) as Record<
      string,
      unknown
    >;
    expect(detail).toMatchObject({
      state: 'sent',
      recipients: [
        { address: 'alice@example.test', state: 'accepted' },
        { address: 'nobody@example.test', state: 'rejected', reply: { code: 550 } },
      ],
    });
  });
});
