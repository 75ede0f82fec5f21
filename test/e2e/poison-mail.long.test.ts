/**
 * Mails that take a reader very long, by every way in, while the service is asked for its health ten times a second. Latencies are printed,
 * not judged: a busy machine has its own. Without the long form, mail comes only by HTTP.
 */
import { createTransport } from 'nodemailer';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { runCommand } from '../helpers/command-process.ts';
import { startDovecot, type DovecotServer } from '../helpers/dovecot-server.ts';
import { mail, newId, post, type Received } from '../helpers/inbound-mail.ts';
import { skipWithoutMailServers } from '../helpers/mail-servers.ts';
import { fillMaildir } from '../helpers/maildir.ts';
import { POISON_MAILS } from '../helpers/poison-mails.ts';
import { createTestDatabase, type TestDatabase } from '../helpers/postgres.ts';
import { query } from '../helpers/query.ts';
import { disposeService, startServiceProcess, type ServiceProcess } from '../helpers/service-process.ts';
import { waitUntil } from '../helpers/wait-until.ts';

const TIMEOUT_MS = 600_000;
const HEALTH_EVERY_MS = 100;

let database: TestDatabase;
let service: ServiceProcess | null = null;
beforeEach(async () => {
  database = await createTestDatabase();
});
afterEach(async () => {
  if (service !== null) await disposeService(service);
  service = null;
  await database.drop();
});

async function start(env: Readonly<Record<string, string>> = {}, dataDir?: string): Promise<ServiceProcess> {
  service = await startServiceProcess({
    // A second for each poison mail: the test is about the service's behaviour meanwhile.
    env: { DATABASE_URL: database.connectionString, READ_TIMEOUT_MS: '1000', ...env },
    ...(dataDir === undefined ? {} : { dataDir }),
  });
  return service;
}

interface Sent {
  readonly id: string;
  readonly raw: string;
}

/** Each poison mail, followed by an ordinary one. @param every 3: every third of them, for another way to the same reader */
function makeMails(every = 1): readonly Sent[] {
  return POISON_MAILS.filter((_, index) => index % every === 0).flatMap(({ make }) => {
    const [poison, other] = [newId(), newId()];
    return [
      { id: poison, raw: make(poison) },
      { id: other, raw: mail({ messageId: other }) },
    ];
  });
}

/** Asks for the health until `work` is done; every request must be answered. Returns how long each answer took, in ms. */
async function watchHealth(
  { url }: ServiceProcess,
  way: string,
  work: () => Promise<void>,
): Promise<readonly number[]> {
  const tookMs: number[] = [];
  const answers: Promise<void>[] = [];
  const ask = async () => {
    const asked = performance.now();
    const response = await fetch(`${url}/api/health`);
    expect(response.status).toBe(200);
    await response.arrayBuffer();
    tookMs.push(performance.now() - asked);
  };
  const timer = setInterval(() => answers.push(ask()), HEALTH_EVERY_MS);
  const began = performance.now();
  try {
    await work();
  } finally {
    clearInterval(timer);
  }
  await Promise.all(answers);
  const sorted = tookMs.toSorted((a, b) => a - b);
  const at = (share: number) => Math.round(sorted[Math.floor(share * (sorted.length - 1))] ?? 0);
  process.stdout.write(
    `${way}: ${Math.round((performance.now() - began) / 1000)} s, ${sorted.length} answers, ` +
      `median ${at(0.5)} ms, 99 % ${at(0.99)} ms, longest ${at(1)} ms\n`,
  );
  return sorted;
}

interface Row {
  readonly id: string;
  readonly message_id: string;
  readonly defects: readonly string[];
}

const readRows = async (): Promise<readonly Row[]> =>
  (await query(database.connectionString, 'select id, message_id, defects from emails')) as unknown as Row[];

async function expectAllRecorded({ request }: ServiceProcess, sent: readonly Sent[]): Promise<void> {
  const rows = new Map((await readRows()).map((row) => [`<${row.message_id}>`, row]));
  expect(rows.size).toBe(sent.length);
  for (const { id, raw } of sent) {
    const row = rows.get(id);
    const response = await request(`/api/emails/${row?.id}/raw`);
    const bytes = Buffer.from(await response.arrayBuffer());
    const wanted = Buffer.from(raw);
    // A failed comparison would print a difference of 36 MB.
    const found = { status: response.status, sizeBytes: bytes.length, isSame: bytes.equals(wanted) };
    expect(found, raw.slice(0, 200)).toEqual({ status: 200, sizeBytes: wanted.length, isSame: true });
  }
}

it(
  'records poison mail that comes by HTTP and what comes behind it, and answers meanwhile',
  async () => {
    const running = await start();
    const sent = makeMails();
    const latencies = await watchHealth(running, 'HTTP', async () => {
      await Promise.all(
        sent.map(async ({ raw }) => {
          const response = await post(running, raw);
          expect(response.status).toBe(200);
        }),
      );
    });
    expect(latencies.length).toBeGreaterThan(0);
    await expectAllRecorded(running, sent);
  },
  TIMEOUT_MS,
);

it(
  'records what takes too long by its header, knows it again, and a later version reads it',
  async () => {
    // 36 MB take a second of CPU; the header alone, or an ordinary mail, must fit into the time even on a busy machine.
    const running = await start({ READ_TIMEOUT_MS: '200', MAX_INBOUND_BYTES: '50000000' });
    const poison = POISON_MAILS.find(({ name }) => name === 'lines that are nearly boundaries');
    const id = newId();
    const raw = poison?.make(id) ?? '';
    const first = (await (await post(running, raw)).json()) as Received;
    expect(first).toMatchObject({ status: 'received', messageId: id });
    const again = (await (await post(running, raw)).json()) as Received;
    expect(again).toMatchObject({ status: 'duplicate', id: first.id });
    // Now by a process with the default limit.
    const patient = await startServiceProcess({ env: { DATABASE_URL: database.connectionString } });
    const answer = (await (
      await post(patient, mail({ inReplyTo: id, references: [id] }))
    ).json()) as Received;
    await disposeService(patient);
    expect(answer.threadId).toBe(first.threadId);

    const read = async () => (await (await running.request(`/api/emails/${first.id}`)).json()) as object;
    const fields = {
      subject: 'boundaries',
      from_address: { name: 'Ada', address: 'ada@customer.test' },
      to_addresses: [{ name: '', address: 'sales@example.com' }],
      date: '2026-03-01T11:00:00.000Z',
    };
    expect(await read()).toMatchObject({ ...fields, defects: ['not_parsed', 'reading_took_too_long'] });
    await expectAllRecorded(running, [
      { id, raw },
      { id: answer.messageId, raw: (await rawOf(running, answer.id)).toString() },
    ]);

    const result = await runCommand(['reparse', '--defect', 'not_parsed'], {
      dataDir: running.dataDir,
      env: { DATABASE_URL: database.connectionString, READ_TIMEOUT_MS: '600000' },
    });
    expect(result).toMatchObject({ exitCode: 0 });
    const reread = await read();
    expect(reread).toMatchObject(fields);
    expect(reread).not.toMatchObject({ defects: expect.arrayContaining(['not_parsed']) });
  },
  TIMEOUT_MS,
);

it(
  'records poison mail that comes by LMTP and what comes behind it, and answers meanwhile',
  async () => {
    const running = await start({ LMTP_LISTEN: '127.0.0.1:0', MAIL_FROM: 'sales@example.com' });
    const line = running.log.find((one) => one.includes('"protocol":"lmtp"')) ?? '';
    const port = Number(/"address":"127\.0\.0\.1:(\d+)"/.exec(line)?.[1]);
    const transport = createTransport({ host: '127.0.0.1', port, lmtp: true, ignoreTLS: true, pool: true });
    const sent = makeMails(3);
    const latencies = await watchHealth(running, 'LMTP', async () => {
      await Promise.all(
        sent.map(({ raw }) =>
          transport.sendMail({ envelope: { from: 'ada@customer.test', to: ['sales@example.com'] }, raw }),
        ),
      );
    });
    transport.close();
    expect(latencies.length).toBeGreaterThan(0);
    await expectAllRecorded(running, sent);
  },
  TIMEOUT_MS,
);

describe.skipIf(skipWithoutMailServers())('poison mail in the mailbox of a Dovecot', () => {
  let dovecot: DovecotServer;
  beforeEach(async () => {
    dovecot = await startDovecot();
  });
  afterEach(() => dovecot.stop());

  it(
    'is recorded, and what lies behind it; the service answers meanwhile and reads nothing again after a restart',
    async () => {
      const sent = makeMails(3);
      await fillMaildir(
        dovecot,
        'alice',
        null,
        sent.map(({ raw }) => raw),
      );
      const imap = { IMAP_URL: dovecot.urlOf('alice'), IMAP_POLL_MS: '1000' };
      const running = await start(imap);
      const latencies = await watchHealth(running, 'IMAP', () =>
        waitUntil('all are recorded', async () => (await readRows()).length === sent.length, TIMEOUT_MS / 2),
      );
      expect(latencies.length).toBeGreaterThan(0);
      await expectAllRecorded(running, sent);

      await running.stop();
      const again = await start(imap, running.dataDir);
      await fillMaildir(dovecot, 'alice', null, [mail()]);
      await waitUntil(
        'the next one is recorded',
        async () => (await readRows()).length === sent.length + 1,
        TIMEOUT_MS / 2,
      );
      expect(again.log.join('')).not.toContain('could not be parsed');
    },
    TIMEOUT_MS,
  );
});

async function rawOf({ request }: ServiceProcess, id: string): Promise<Buffer> {
  return Buffer.from(await (await request(`/api/emails/${id}/raw`)).arrayBuffer());
}
