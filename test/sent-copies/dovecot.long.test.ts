/** Sent emails in the Sent mailbox of a real Dovecot: each exactly once, whatever breaks. */
import { chmod, readdir } from 'node:fs/promises';
import path from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { startDovecot, type DovecotServer } from '../helpers/dovecot-server.ts';
import { startImapProxy, type ImapProxyOptions } from '../helpers/imap-proxy.ts';
import { skipWithoutMailServers } from '../helpers/mail-servers.ts';
import { fillMaildir } from '../helpers/maildir.ts';
import { readCounts, waitForPass } from '../helpers/mailbox-rows.ts';
import { createTestDatabase, type TestDatabase } from '../helpers/postgres.ts';
import { query } from '../helpers/query.ts';
import { getJson, sendJson } from '../helpers/running-service.ts';
import { countCopies, readCopy, readMailbox, waitForCopy } from '../helpers/sent-copies.ts';
import { disposeService, startServiceProcess, type ServiceProcess } from '../helpers/service-process.ts';
import { startSmtpSink, type SmtpSink } from '../helpers/smtp-sink.ts';
import { waitUntil } from '../helpers/wait-until.ts';

const MIB = 1024 * 1024;
const HELLO = { to: 'ada@customer.test', subject: 'Angebot', text_body: 'Guten Tag\n.\nFrom hier' };

let database: TestDatabase;
let dovecot: DovecotServer;
let sink: SmtpSink;
const ends: (() => Promise<unknown>)[] = [];

async function start(env: Readonly<Record<string, string>> = {}, dataDir?: string): Promise<ServiceProcess> {
  const service = await startServiceProcess({
    env: {
      DATABASE_URL: database.connectionString,
      SMTP_URL: sink.url,
      MAIL_FROM: 'Alice <alice@example.test>',
      IMAP_URL: dovecot.urlOf('alice'),
      IMAP_SENT: 'Sent',
      IMAP_SENT_COPIES: 'on',
      IMAP_LEASE_MS: '2000',
      IMAP_POLL_MS: '1000',
      WORK_POLL_MS: '500',
      ...env,
    },
    ...(dataDir === undefined ? {} : { dataDir }),
  });
  ends.push(() => disposeService(service));
  return service;
}

const makeSent = (path = 'Sent') => dovecot.withClient('alice', (client) => client.mailboxCreate(path));

const countRows = async (table: string, where = 'true'): Promise<number> => {
  const [row] = await query(
    database.connectionString,
    `select count(*)::int as count from ${table} where ${where}`,
  );
  return Number(row?.['count']);
};

describe.skipIf(skipWithoutMailServers())('a sent email', () => {
  beforeEach(async () => {
    [database, dovecot, sink] = await Promise.all([createTestDatabase(), startDovecot(), startSmtpSink()]);
  });
  afterEach(async () => {
    for (const end of ends.splice(0).reverse()) await end();
    await Promise.all([dovecot.stop(), sink.stop()]);
    await database.drop();
  });

  it('is put into the Sent mailbox once, byte for byte, and known again as the same email', async () => {
    await makeSent();
    const service = await start();
    const before = Date.now();
    const direct = await sendJson(service, { ...HELLO, bcc: 'hidden@customer.test' });
    const queued = await service.request('/api/send', {
      json: { ...HELLO, subject: 'Später' },
      headers: { prefer: 'respond-async' },
    });
    expect(queued.status).toBe(202);
    const { id: queuedId } = (await queued.json()) as { id: string };
    const copy = await waitForCopy(service, direct.id);
    expect(copy).toMatchObject({ state: 'stored', tries: 0, error: null, mailbox: 'Sent' });
    await waitForCopy(service, queuedId);

    const messages = await readMailbox(dovecot);
    expect(messages).toHaveLength(2);
    const sent = sink.byMessageId(direct.messageId)[0]!;
    const found = messages.find(({ raw }) => raw.includes(direct.messageId))!;
    expect(found.raw.equals(sent.raw)).toBe(true);
    expect(found.raw.toString()).not.toMatch(/bcc|hidden@/i);
    expect(found.flags.has('\\Seen')).toBe(true);
    expect(Math.abs(found.internalDate.getTime() - before)).toBeLessThan(120_000);
    const [row] = await query(
      database.connectionString,
      `select uid::int, uid_validity > 0 as known, was_there from sent_copies where email_id = '${direct.id}'`,
    );
    expect(row).toEqual({ uid: found.uid, known: true, was_there: false });

    await waitForPass(database, 'default');
    await waitUntil('the mailbox was read', async () =>
      (await readCounts(database, 'default')).some((box) => box.path === 'Sent' && box.recorded === 2),
    );
    expect(await countRows('emails')).toBe(2);
    expect(await countRows('email_variants')).toBe(0);
    const { events } = await getJson<{ events: { type: string }[] }>(service, '/api/events?limit=100');
    const types = events.map(({ type }) => type).sort();
    expect(types).toEqual(
      [
        'account.connected',
        'email.queued',
        'email.sent',
        'email.sent',
        'thread.created',
        'thread.created',
      ].sort(),
    );
  });

  it('of an account that asks for no copies has none, and costs no row', async () => {
    await makeSent();
    const service = await start({ IMAP_SENT_COPIES: 'off' });
    const { id } = await sendJson(service, HELLO);
    expect(await readCopy(service, id)).toBeNull();
    expect(await countRows('sent_copies')).toBe(0);
    const retry = await service.request(`/api/emails/${id}/sent-copy/retry`, { method: 'POST' });
    expect([retry.status, ((await retry.json()) as { code: string }).code]).toEqual([
      409,
      'no_sent_copy_to_retry',
    ]);
  });

  it('that is refused has no copy', async () => {
    await makeSent();
    const service = await start();
    const response = await service.request('/api/send', { json: { ...HELLO, to: 'x@refused.test' } });
    expect(response.status).toBe(500);
    const kept = await sendJson(service, HELLO);
    await waitForCopy(service, kept.id);
    expect(await countRows('sent_copies')).toBe(1);
    expect(await readMailbox(dovecot)).toHaveLength(1);
  });

  it('of many megabytes is stored whole', { timeout: 240_000 }, async () => {
    await makeSent();
    const service = await start();
    const content = Buffer.alloc(12 * MIB, 'Angebot ').toString('base64');
    const sent = await sendJson(service, {
      ...HELLO,
      attachments: [{ filename: 'a.bin', content, content_type: 'application/octet-stream' }],
    });
    await waitForCopy(service, sent.id);
    const [message] = await readMailbox(dovecot);
    expect(message!.raw.equals(sink.byMessageId(sent.messageId)[0]!.raw)).toBe(true);
  });

  it('that something else has put there already is not put there again', { timeout: 240_000 }, async () => {
    await makeSent();
    const service = await start();
    await dovecot.kill();
    const { id, messageId } = await sendJson(service, HELLO);
    // As the mail servers of some providers do.
    await fillMaildir(dovecot, 'alice', 'Sent', [sink.byMessageId(messageId)[0]!.raw.toString('latin1')]);
    await dovecot.start();
    await retryUntilStored(service, id);
    expect(await countCopies(dovecot, [messageId])).toEqual([1]);
    expect(await countRows('sent_copies', 'was_there')).toBe(1);
  });

  it(
    'has a mailbox made for it where the server keeps special uses; a full one is told of',
    { timeout: 240_000 },
    async () => {
      const own = await startDovecot({
        settings: `
imap_capability = +CREATE-SPECIAL-USE
mail_attribute_dict = file:%h/dovecot-attributes
namespace inbox {
  inbox = yes
  separator = .
  mailbox Trash {
    special_use = \\Trash
  }
}
mail_plugins = quota
protocol imap {
  imap_metadata = yes
}
plugin {
  quota = count:User quota
  quota_vsizes = yes
  quota_rule = *:storage=64K
}
`,
      });
      ends.push(() => own.stop());
      const service = await start({ IMAP_URL: own.urlOf('alice'), IMAP_SENT: '' });
      const sent = await sendJson(service, HELLO);
      expect(await waitForCopy(service, sent.id)).toMatchObject({ mailbox: 'Sent' });
      const uses = await own.withClient('alice', async (client) =>
        (await client.list()).map(({ path: name, specialUse, subscribed }) => [name, specialUse, subscribed]),
      );
      expect(uses).toContainEqual(['Sent', '\\Sent', true]);

      const large = await sendJson(service, { ...HELLO, text_body: 'Angebot '.repeat(12_000) });
      const copy = await waitForCopy(service, large.id, ({ error }) => error !== null);
      expect(copy).toMatchObject({ state: 'pending', tries: 1 });
      expect(copy.error).toMatch(/quota/i);
      // A copy for which there is room does not wait for it.
      const small = await sendJson(service, { ...HELLO, subject: 'Klein' });
      await waitForCopy(service, small.id);
      expect(await countCopies(own, [sent.messageId, large.messageId, small.messageId])).toEqual([1, 0, 1]);
    },
  );

  /** Has the copy tried again, even while it waits. */
  async function retryUntilStored(service: ServiceProcess, id: string): Promise<void> {
    await waitUntil(
      'it is stored',
      async () => {
        if ((await readCopy(service, id))?.state === 'stored') return true;
        await service.request(`/api/emails/${id}/sent-copy/retry`, { method: 'POST' });
        return false;
      },
      120_000,
    );
  }

  type Point = readonly [name: string, options: (stop: () => void) => ImapProxyOptions];
  const isAppend = (chunk: Buffer) => / APPEND /.test(chunk.toString('latin1'));
  const isAppended = (chunk: Buffer) => /APPENDUID/.test(chunk.toString('latin1'));
  const points: readonly Point[] = [
    [
      'before APPEND',
      (stop) => ({
        fromClient(chunk) {
          if (!isAppend(chunk)) return chunk;
          stop();
          return null;
        },
      }),
    ],
    [
      'in the middle of the message',
      (stop) => {
        let isBegun = false;
        return {
          fromClient(chunk) {
            const begins = isAppend(chunk);
            isBegun ||= begins;
            if (!isBegun || (begins && chunk.length < 200)) return chunk;
            setTimeout(stop, 50);
            isBegun = false;
            return chunk.subarray(0, 150);
          },
        };
      },
    ],
    [
      'after APPEND, before the answer',
      (stop) => ({
        fromServer(chunk) {
          if (!isAppended(chunk)) return chunk;
          stop();
          return null;
        },
      }),
    ],
    [
      'with the answer, before it is recorded',
      (stop) => ({
        fromServer(chunk) {
          if (isAppended(chunk)) setImmediate(stop);
          return chunk;
        },
      }),
    ],
  ];

  it.each(points)('is there once when the process is killed %s', { timeout: 240_000 }, async (_, options) => {
    await makeSent();
    let service: ServiceProcess | null = null;
    let isArmed = true;
    let killed: Promise<void> | null = null;
    const stop = () => {
      isArmed = false;
      killed ??= service!.kill();
    };
    const proxy = await startImapProxy(dovecot.imapPort, () => (isArmed ? options(stop) : {}));
    ends.push(() => proxy.stop());
    const env = { IMAP_URL: proxy.through(dovecot.urlOf('alice')) };
    service = await start(env);
    const { id, messageId } = await sendJson(service, HELLO);
    await waitUntil('the process is killed', () => killed !== null);
    await killed;
    const again = await start(env, service.dataDir);
    await waitForCopy(again, id);
    expect(await countCopies(dovecot, [messageId])).toEqual([1]);
    expect(sink.messages).toHaveLength(1);
  });

  it.each(points.slice(0, 3))(
    'is there once when the line is cut %s',
    { timeout: 240_000 },
    async (_, options) => {
      await makeSent();
      let isArmed = true;
      const proxy = await startImapProxy(dovecot.imapPort, () =>
        isArmed
          ? options(() => {
              isArmed = false;
              proxy.cut();
            })
          : {},
      );
      ends.push(() => proxy.stop());
      const service = await start({ IMAP_URL: proxy.through(dovecot.urlOf('alice')) });
      const { id, messageId } = await sendJson(service, HELLO);
      const copy = await waitForCopy(service, id, ({ tries }) => tries === 1);
      expect(copy.state).toBe('pending');
      // The next search comes only when the server has certainly ended its work.
      expect(Date.parse(copy.at)).toBeGreaterThan(Date.now() + 20_000);
      await retryUntilStored(service, id);
      expect(await countCopies(dovecot, [messageId])).toEqual([1]);
    },
  );

  it('is there once when two services store them', { timeout: 240_000 }, async () => {
    await makeSent();
    const services = [await start(), await start()];
    const sent = await Promise.all(
      Array.from({ length: 30 }, (_, index) =>
        sendJson(services[index % 2]!, { ...HELLO, subject: `Nr. ${index}` }),
      ),
    );
    for (const { id } of sent) await waitForCopy(services[0]!, id);
    const ids = sent.map(({ messageId }) => messageId);
    expect(await countCopies(dovecot, ids)).toEqual(ids.map(() => 1));
  });

  it(
    'waits while the server is away, which holds up no send, and is told of',
    { timeout: 240_000 },
    async () => {
      await makeSent();
      const service = await start();
      await dovecot.kill();
      const sent = await sendJson(service, HELLO);
      const copy = await waitForCopy(service, sent.id, ({ error }) => error !== null);
      expect(copy.state).toBe('pending');
      expect(copy.error).toContain('127.0.0.1');
      const { accounts } = await getJson<{ accounts: { sent_copies: object }[] }>(service, '/api/accounts');
      expect(accounts[0]!.sent_copies).toMatchObject({
        kept: true,
        pending: 1,
        failed: 0,
        last_error: { reason: copy.error },
      });
      await dovecot.start();
      await retryUntilStored(service, sent.id);
      expect(await countCopies(dovecot, [sent.messageId])).toEqual([1]);
    },
  );

  it(
    'is given up after its time, visibly, and stored when an operator asks',
    { timeout: 240_000 },
    async () => {
      const service = await start();
      const sent = await sendJson(service, HELLO);
      const waiting = await waitForCopy(service, sent.id, ({ error }) => error !== null);
      expect(waiting.error).toContain('there is no mailbox Sent');
      await query(
        database.connectionString,
        `update sent_copies set give_up_at = now(), due_at = now() where email_id = '${sent.id}'`,
      );
      await waitForCopy(service, sent.id, ({ state }) => state === 'failed');
      expect(await countRows('sent_copies', `state = 'failed'`)).toBe(1);
      await makeSent();
      await retryUntilStored(service, sent.id);
      expect(await countCopies(dovecot, [sent.messageId])).toEqual([1]);
    },
  );

  it('takes its waiting copy along when it is deleted', async () => {
    const service = await start();
    const sent = await sendJson(service, HELLO);
    await waitForCopy(service, sent.id, ({ error }) => error !== null);
    expect((await service.request(`/api/emails/${sent.id}`, { method: 'DELETE' })).status).toBe(200);
    expect(await countRows('sent_copies')).toBe(0);
  });

  it('is stored when the mailbox can be written to again', { timeout: 240_000 }, async () => {
    await makeSent();
    const box = path.join(dovecot.root, 'mail', 'alice', '.Sent');
    const places = (await readdir(box)).filter((name) => ['cur', 'new', 'tmp'].includes(name));
    for (const place of places) await chmod(path.join(box, place), 0o500);
    const service = await start();
    const sent = await sendJson(service, HELLO);
    const copy = await waitForCopy(service, sent.id, ({ error }) => error !== null);
    expect(copy).toMatchObject({ state: 'pending', tries: 1 });
    for (const place of places) await chmod(path.join(box, place), 0o700);
    await retryUntilStored(service, sent.id);
    expect(await countCopies(dovecot, [sent.messageId])).toEqual([1]);
  });
});
