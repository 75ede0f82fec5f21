/** A program that answers everything meets another one, through Postfix: the exchange stops, and other mail goes on. */
import { createTransport } from 'nodemailer';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { findFreePorts } from '../helpers/dovecot-files.ts';
import { mail, newId } from '../helpers/inbound-mail.ts';
import { skipWithoutMailServers, startMailServers, type MailServers } from '../helpers/mail-servers.ts';
import { createTestDatabase, type TestDatabase } from '../helpers/postgres.ts';
import { query } from '../helpers/query.ts';
import { disposeService, startServiceProcess, type ServiceProcess } from '../helpers/service-process.ts';
import { startSmtpSink, type SmtpSink } from '../helpers/smtp-sink.ts';
import { waitUntil } from '../helpers/wait-until.ts';

const MAX_EMAILS = 5;
const ROBOT = 'robot@customer.test';

describe.skipIf(skipWithoutMailServers())('two programs that answer each other', () => {
  let database: TestDatabase;
  let servers: MailServers;
  let service: ServiceProcess;
  let robot: SmtpSink;
  const answering: Promise<unknown>[] = [];
  /** Messages that the robot got. */
  const seen: string[] = [];

  beforeAll(async () => {
    database = await createTestDatabase();
    // Answers every message, as an out-of-office note does, but each time.
    robot = await startSmtpSink({
      onData(stream, _session, callback) {
        const chunks: Buffer[] = [];
        stream.on('data', (chunk: Buffer) => chunks.push(chunk));
        stream.on('end', () => {
          const raw = Buffer.concat(chunks).toString('latin1');
          seen.push(raw);
          const messageId = /^Message-ID: (\S+)/im.exec(raw)?.[1] ?? '';
          callback(null, 'ok');
          const answer = deliver({
            headers: ['Auto-Submitted: auto-replied'],
            subject: 'Abwesend',
            inReplyTo: messageId,
          });
          // An answer that is under way when the servers stop may fail; the first test waits for its own answers.
          answer.catch(() => undefined);
          answering.push(answer);
        });
      },
    });
    const [lmtpPort = 0] = await findFreePorts(1);
    servers = await startMailServers(`lmtp:inet:127.0.0.1:${lmtpPort}`, Number(new URL(robot.url).port));
    service = await startServiceProcess({
      env: {
        DATABASE_URL: database.connectionString,
        MAIL_FROM: 'Bob <bob@example.test>',
        LMTP_LISTEN: `127.0.0.1:${lmtpPort}`,
        SMTP_URL: `smtp://127.0.0.1:${servers.smtpPort}?tls_verify=false`,
        LOOP_MAX_EMAILS: String(MAX_EMAILS),
      },
    });
  });
  afterAll(async () => {
    await disposeService(service);
    await servers.stop();
    await robot.stop();
    await database.drop();
  });

  /** Delivers through Postfix to the service. */
  async function deliver(fields: Parameters<typeof mail>[0]): Promise<string> {
    const messageId = newId();
    const transport = createTransport({ host: servers.host, port: servers.smtpPort, ignoreTLS: true });
    const date = new Date().toUTCString();
    const raw = mail({ date, from: ROBOT, to: 'bob@example.test', messageId, ...fields });
    await transport.sendMail({ envelope: { from: ROBOT, to: ['bob@example.test'] }, raw });
    return messageId;
  }
  const send = (json: object): Promise<Response> =>
    service.request('/api/send', { json: { to: ROBOT, subject: 'Angebot', text_body: 'a', ...json } });
  const received = async (): Promise<readonly string[]> =>
    (
      await query(
        database.connectionString,
        `select message_id from emails where direction = 'inbound' order by created_at`,
        [],
      )
    ).map((row) => `<${String(row.message_id)}>`);

  it('come to a stop, and the answer says why', { tags: ['long'] }, async () => {
    expect((await send({})).status).toBe(200);
    let refused: Response | null = null;
    for (let answered = 0; refused === null; answered += 1) {
      expect(answered).toBeLessThanOrEqual(MAX_EMAILS);
      await waitUntil('the next answer comes', async () => (await received()).length > answered);
      const response = await send({ in_reply_to: (await received())[answered] });
      if (response.status !== 200) refused = response;
    }
    expect(refused.status).toBe(429);
    expect(await refused.json()).toMatchObject({
      code: 'loop_suspected',
      error: expect.stringContaining(ROBOT) as unknown,
    });
    const retryAfter = Number(refused.headers.get('retry-after'));
    expect(retryAfter).toBeGreaterThan(23 * 3600);
    expect(retryAfter).toBeLessThanOrEqual(24 * 3600);
    await Promise.all(answering);
    expect(await received()).toHaveLength(MAX_EMAILS + 1);
    const [last] = (await received()).slice(-1);
    // A send that names a thread counts as an answer to the thread's newest email.
    const [row] = await query(
      database.connectionString,
      'select thread_id from emails where message_id = $1',
      [last!.slice(1, -1)],
    );
    expect((await send({ thread_id: row!.thread_id })).status).toBe(429);
    expect((await send({ auto_submitted: 'auto-replied' })).status).toBe(429);
    // No refused email is recorded.
    const [sent] = await query(
      database.connectionString,
      `select count(*)::int as all, count(exchange_with)::int as counted from emails where direction = 'outbound'`,
      [],
    );
    expect(sent).toEqual({ all: MAX_EMAILS + 1, counted: MAX_EMAILS });
  });

  it('stop no other mail: people write and answer, to the same address too', async () => {
    const notice = await send({ subject: 'Rechnung', auto_submitted: 'auto-generated' });
    expect(notice.status).toBe(200);
    const { messageId } = (await notice.json()) as { messageId: string };
    const arrived = () => seen.find((raw) => raw.includes(messageId));
    await waitUntil('the notice arrives', () => arrived() !== undefined, 90_000);
    expect(arrived()).toContain(
      'Auto-Submitted: auto-generated\r\nX-Auto-Response-Suppress: OOF, AutoReply\r\n',
    );
    const person = await deliver({ subject: 'Doch da' });
    await waitUntil('it is recorded', async () => (await received()).includes(person));
    expect((await send({ in_reply_to: person })).status).toBe(200);
    expect((await send({ subject: 'Neues' })).status).toBe(200);
    expect((await send({ to: 'ada@customer.test', auto_submitted: 'auto-replied' })).status).toBe(200);
    await Promise.allSettled(answering);
  });
});
