/** Built services that reach another storage of files than that of their database, or none. */
import { randomBytes, randomUUID } from 'node:crypto';
import { access, mkdtemp, readFile, rename, rm, unlink, writeFile } from 'node:fs/promises';
import { createConnection } from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { runCommand } from '../helpers/command-process.ts';
import { findFreePort } from '../helpers/free-port.ts';
import { createTestDatabase, type TestDatabase } from '../helpers/postgres.ts';
import { query } from '../helpers/query.ts';
import { startS3Server, type S3Server } from '../helpers/s3-server.ts';
import { startServiceProcess, type ServiceProcess } from '../helpers/service-process.ts';
import { startSmtpSink, type SmtpSink } from '../helpers/smtp-sink.ts';
import { waitUntil } from '../helpers/wait-until.ts';

let database: TestDatabase;
let sink: SmtpSink;
const ends: (() => Promise<unknown>)[] = [];

beforeEach(async () => {
  [database, sink] = await Promise.all([createTestDatabase(), startSmtpSink()]);
});

afterEach(async () => {
  for (const end of ends.splice(0).toReversed()) await end();
  await sink.stop();
  await database.drop();
});

async function dataDirOfItsOwn(): Promise<string> {
  const folder = await mkdtemp(path.join(tmpdir(), 'email-worker-storage-'));
  ends.push(() => rm(folder, { recursive: true, force: true }));
  return folder;
}

async function start(
  options: { readonly dataDir?: string; readonly env?: Readonly<Record<string, string>> } = {},
): Promise<ServiceProcess> {
  const service = await startServiceProcess({
    dataDir: options.dataDir ?? (await dataDirOfItsOwn()),
    hasOwnStorage: true,
    env: {
      DATABASE_URL: database.connectionString,
      SMTP_URL: sink.url,
      MAIL_FROM: 'Sales <sales@example.com>',
      SEND_RETRY_DELAYS_S: '1',
      ...options.env,
    },
  });
  ends.push(() => service.stop());
  return service;
}

const sql = (text: string, values: readonly unknown[] = []) => query(database.connectionString, text, values);

async function ready(service: ServiceProcess): Promise<{ status: number; json: Record<string, unknown> }> {
  const response = await fetch(`${service.url}/api/health/ready`);
  return { status: response.status, json: (await response.json()) as Record<string, unknown> };
}

const becomesReady = (service: ServiceProcess) =>
  waitUntil('the service is ready', async () => (await ready(service)).status === 200);

const becomesUnready = (service: ServiceProcess, code: string) =>
  waitUntil(`the service is not ready: ${code}`, async () => {
    const { json } = await ready(service);
    return (json['reasons'] as Record<string, string> | undefined)?.['storage'] === code;
  });

/** Too large for the database: its bytes are in the storage of files. */
const large = (subject: string) => ({
  to: 'ann@example.org',
  subject,
  text_body: 'See the file.',
  attachments: [{ filename: 'a.bin', content: randomBytes(300_000).toString('base64') }],
});

async function send(service: ServiceProcess, json: object): Promise<string> {
  const response = await service.request('/api/send', { json, headers: { prefer: 'respond-async' } });
  expect(response.status).toBe(202);
  return ((await response.json()) as { id: string }).id;
}

async function stateOf(service: ServiceProcess, id: string): Promise<string> {
  const response = await service.request(`/api/emails/${id}`);
  return ((await response.json()) as { state: string }).state;
}

const exists = (file: string) =>
  access(file).then(
    () => true,
    () => false,
  );

const errorOf = async (response: Response) => ({
  status: response.status,
  code: ((await response.json()) as { code: string }).code,
});

const eventsOf = async (service: ServiceProcess, type: string) => {
  const response = await service.request(`/api/events?type=${type}`);
  return ((await response.json()) as { events: { data: Record<string, unknown> }[] }).events;
};

/** Delivers one message by LMTP; the reply to its end. */
async function deliver(port: number): Promise<string> {
  const socket = createConnection(port, '127.0.0.1');
  const replies: string[] = [];
  socket.on('data', (chunk: Buffer) => replies.push(...chunk.toString().split('\r\n')));
  const lines = [
    'LHLO client.test',
    'MAIL FROM:<ann@example.org>',
    'RCPT TO:<sales@example.com>',
    'DATA',
    `Message-ID: <${randomUUID()}@example.org>\r\nFrom: ann@example.org\r\nSubject: short\r\n\r\nshort\r\n.`,
    'QUIT',
  ];
  for (const [index, line] of lines.entries()) {
    await waitUntil('a reply', () => replies.filter((reply) => /^\d{3} /.test(reply)).length > index);
    socket.write(`${line}\r\n`);
  }
  await waitUntil('the last reply', () => replies.some((reply) => reply.startsWith('221')));
  socket.destroy();
  return replies.findLast((reply) => /^\d{3} /.test(reply) && !reply.startsWith('221')) ?? '';
}

describe('of two services on one database, each with a folder of its own,', () => {
  it('the second is not ready and takes nothing that needs files, and nothing is lost', async () => {
    const one = await start();
    const lmtp = await findFreePort();
    const two = await start({ env: { LMTP_LISTEN: `127.0.0.1:${lmtp}` } });
    expect((await ready(one)).status).toBe(200);
    await becomesUnready(two, 'storage_mismatch');
    expect(await ready(two)).toMatchObject({
      status: 503,
      json: { code: 'not_ready', checks: { storage: 'away' }, reasons: { storage: 'storage_mismatch' } },
    });

    const sendAt = new Date(Date.now() + 1500).toISOString();
    const subject = randomUUID();
    const ids = await Promise.all(
      Array.from({ length: 12 }, (_, n) => send(one, { ...large(`${subject} ${n}`), send_at: sendAt })),
    );
    const short = await send(two, { to: 'ann@example.org', subject: 'short', text_body: 'short' });
    for (const id of [...ids, short])
      await waitUntil(`${id} is sent`, async () => (await stateOf(one, id)) === 'sent');
    // Each by the service that can read its file, at the first attempt.
    expect(await sql('select max(attempt)::int as attempts from delivery_attempts')).toEqual([
      { attempts: 1 },
    ]);
    const [first = ''] = ids;

    expect(await errorOf(await two.request(`/api/emails/${first}/raw`))).toEqual({
      status: 503,
      code: 'storage_mismatch',
    });
    expect((await one.request(`/api/emails/${first}/raw`)).status).toBe(200);
    expect((await two.request(`/api/emails/${first}`)).status).toBe(200);
    expect(await errorOf(await two.request('/api/send', { json: large('at once') }))).toEqual({
      status: 503,
      code: 'storage_mismatch',
    });
    expect(sink.messages.some(({ raw }) => raw.includes('Subject: at once'))).toBe(false);
    expect(
      await errorOf(
        await two.request('/api/uploads?filename=a.txt', {
          method: 'POST',
          body: 'bytes',
          headers: { 'content-type': 'application/octet-stream' },
        }),
      ),
    ).toEqual({ status: 503, code: 'storage_mismatch' });
    expect(await deliver(lmtp)).toMatch(/^451 /);

    await waitUntil('the event is written', async () => (await eventsOf(one, 'storage.failing')).length > 0);
    const [event] = await eventsOf(one, 'storage.failing');
    expect(event?.data).toMatchObject({
      code: 'storage_mismatch',
      detail: expect.stringContaining('has no identity'),
    });
  });

  it('the second deletes nothing and takes nothing in, and what it can not delete the first does', async () => {
    const one = await start();
    const two = await start({ env: { RETENTION_DAYS: '30' } });
    await becomesUnready(two, 'storage_mismatch');
    const id = await send(one, large('kept'));
    await waitUntil('it is sent', async () => (await stateOf(one, id)) === 'sent');
    const [row] = await sql('select raw_path, thread_id from emails where id = $1', [id]);
    const raw = path.join(one.dataDir, 'files', String(row?.['raw_path']));
    const draft = (await (
      await one.request('/api/drafts', { json: { message: { subject: 'draft' } } })
    ).json()) as { id: string };
    const later = await send(one, {
      ...large('later'),
      send_at: new Date(Date.now() + 3_600_000).toISOString(),
    });
    const { send_version: version } = (await (await one.request(`/api/emails/${later}`)).json()) as {
      send_version: number;
    };

    const mismatch = { status: 503, code: 'storage_mismatch' };
    const old = `Message-ID: <old@example.org>\r\nFrom: ann@example.org\r\nSubject: old\r\nDate: Mon, 2 Jan 2023 10:00:00 +0000\r\n\r\nold`;
    const inbound = (service: ServiceProcess) =>
      service.request('/api/inbound', {
        method: 'POST',
        body: old,
        headers: { 'content-type': 'message/rfc822' },
      });
    expect((await inbound(one)).status).toBe(200);
    const refused = [
      two.request(`/api/emails/${id}`, { method: 'DELETE' }),
      two.request(`/api/emails/${id}?dry_run=true`, { method: 'DELETE' }),
      two.request(`/api/threads/${String(row?.['thread_id'])}`, { method: 'DELETE' }),
      two.request(`/api/threads/${String(row?.['thread_id'])}?dry_run=true`, { method: 'DELETE' }),
      two.request(`/api/drafts/${draft.id}`, { method: 'DELETE' }),
      two.request('/api/retention/confirm', { json: { emails: 1 } }),
      two.request(`/api/emails/${later}`, {
        method: 'PATCH',
        json: { subject: 'other' },
        headers: { 'if-match': `"${version}"` },
      }),
      inbound(two),
    ];
    expect(await Promise.all(refused.map(async (response) => errorOf(await response)))).toEqual(
      refused.map(() => mismatch),
    );
    await waitUntil('its loops refuse as well', () =>
      two.log.some((line) =>
        /storage_mismatch.*threads that are kept no longer could not be deleted/.test(line),
      ),
    );
    expect(await sql('select count(*)::int as n from emails')).toEqual([{ n: 3 }]);
    expect((await readFile(raw)).length).toBeGreaterThan(0);

    // A deletion whose process could not delete the files: any other does, without a deletion of its own.
    const left = path.join(one.dataDir, 'files', 'left');
    await writeFile(left, 'left');
    await sql(`insert into deleted_files (path) values ('left')`);
    await waitUntil('the file is gone', async () => !(await exists(left)));
    await waitUntil(
      'it is forgotten',
      async () => (await sql('select path from deleted_files')).length === 0,
    );

    // A request to erase is a row of the database, which a process with the files carries out.
    const erasure = await two.request('/api/erasures', { json: { address: 'ann@example.org' } });
    expect(erasure.status).toBe(202);
    await waitUntil('the person is erased by the first', async () => {
      const open = await sql('select id from erasures where finished_at is null');
      return open.length === 0;
    });
    expect(await exists(raw)).toBe(false);
    expect(await sql('select path from deleted_files')).toEqual([]);
  });

  it('exactly one has the storage of the database when both start first', async () => {
    const both = await Promise.all([start(), start()]);
    const states = await Promise.all(both.map(async (service) => (await ready(service)).status));
    expect(states.toSorted()).toEqual([200, 503]);
    const right = both[states.indexOf(200)];
    const wrong = both[states.indexOf(503)];
    const logs = (service: ServiceProcess | undefined, text: RegExp) =>
      service?.log.some((line) => text.test(line)) === true;
    await waitUntil('one logs that it is ready', () =>
      logs(right, /"url":"[^"]+".*"msg":"email-worker is ready"/),
    );
    await waitUntil('one logs why it is not', () =>
      logs(wrong, /storage: storage_mismatch, .*is not ready yet/),
    );
    expect(logs(wrong, /email-worker is ready/)).toBe(false);
  });

  it('both work when both have the same bucket from the first start on', async () => {
    const files = await startS3();
    const both = await Promise.all([
      start({ env: files.env('test-bucket') }),
      start({ env: files.env('test-bucket') }),
    ]);
    for (const service of both) await becomesReady(service);
    expect(await sql('select is_confirmed from storage_identity')).toEqual([{ is_confirmed: true }]);
  });
});

describe('a service whose folder of files is unmounted while it runs', () => {
  it('waits for it, and goes on when it is back', async () => {
    const lmtp = await findFreePort();
    const service = await start({ env: { LMTP_LISTEN: `127.0.0.1:${lmtp}` } });
    const earlier = await send(service, large('earlier'));
    await waitUntil('it is sent', async () => (await stateOf(service, earlier)) === 'sent');
    const folder = path.join(service.dataDir, 'files');
    const waiting = await send(service, {
      ...large('waiting'),
      send_at: new Date(Date.now() + 2500).toISOString(),
    });
    await rename(folder, `${folder}.away`);
    await becomesUnready(service, 'storage_unavailable');
    expect(await errorOf(await service.request(`/api/emails/${earlier}/raw`))).toEqual({
      status: 503,
      code: 'storage_unavailable',
    });
    expect((await service.request('/api/emails')).status).toBe(200);
    await waitUntil('LMTP puts mail off', async () => (await deliver(lmtp)).startsWith('451'));
    await waitUntil(
      'an event says so',
      async () => (await eventsOf(service, 'storage.failing')).length === 1,
    );
    await waitUntil('it is due', async () => {
      const [row] = await sql('select due_at < now() as due from send_queue where email_id = $1', [waiting]);
      return row?.['due'] === true;
    });

    await rename(`${folder}.away`, folder);
    await becomesReady(service);
    await waitUntil('it is sent', async () => (await stateOf(service, waiting)) === 'sent');
    expect((await service.request(`/api/emails/${earlier}/raw`)).status).toBe(200);
    expect(await deliver(lmtp)).toMatch(/^250 /);
    await waitUntil(
      'an event says so',
      async () => (await eventsOf(service, 'storage.recovered')).length === 1,
    );
  });

  it('answers with a code of its own when one file is missing, and logs it', async () => {
    const service = await start();
    const id = await send(service, large('to be lost'));
    await waitUntil('it is sent', async () => (await stateOf(service, id)) === 'sent');
    const [row] = await sql('select raw_path from emails where id = $1', [id]);
    await unlink(path.join(service.dataDir, 'files', String(row?.['raw_path'])));
    expect(await errorOf(await service.request(`/api/emails/${id}/raw`))).toEqual({
      status: 500,
      code: 'content_missing',
    });
    expect((await ready(service)).status).toBe(200);
    await waitUntil('it is logged', () => service.log.some((line) => line.includes('content_missing')));
  });
});

async function startS3() {
  const server: S3Server = await startS3Server();
  ends.push(() => server.close());
  return {
    env: (bucket: string, prefix = 'some/prefix') => ({
      BLOB_URL: server.url.replace('test-bucket', bucket).replace('some/prefix', prefix),
      AWS_ACCESS_KEY_ID: server.credentials.accessKeyId,
      AWS_SECRET_ACCESS_KEY: server.credentials.secretAccessKey,
    }),
  };
}

describe('a service with the wrong bucket', () => {
  it('is not ready, whether that is empty or of another database, and names both', async () => {
    const s3 = await startS3();
    const right = await start({ env: s3.env('test-bucket') });
    await becomesReady(right);
    const id = await send(right, large('in the bucket'));
    await waitUntil('it is sent', async () => (await stateOf(right, id)) === 'sent');
    await right.stop();

    const empty = await start({ env: s3.env('test-bucket', 'nothing') });
    await becomesUnready(empty, 'storage_mismatch');
    expect(await errorOf(await empty.request(`/api/emails/${id}/raw`))).toMatchObject({
      code: 'storage_mismatch',
    });
    await empty.stop();

    const missing = await start({ env: s3.env('no-such-bucket') });
    await becomesUnready(missing, 'storage_unavailable');
    await missing.stop();

    const own = database;
    const other = await createTestDatabase();
    database = other;
    try {
      const foreign = await start({ env: s3.env('test-bucket') });
      await becomesUnready(foreign, 'storage_mismatch');
      const named = foreign.log.find((line) => line.includes('storage_mismatch')) ?? '';
      for (const { connectionString } of [own, other])
        expect(named).toContain(new URL(connectionString).pathname.slice(1));
      await foreign.stop();
    } finally {
      database = own;
      await other.drop();
    }
  });

  it('has it after adopt-storage, without a restart', async () => {
    const dataDir = await dataDirOfItsOwn();
    const service = await start({ dataDir });
    const identity = path.join(dataDir, 'files', '_storage.json');
    const before = await readFile(identity, 'utf8');
    await unlink(identity);
    await becomesUnready(service, 'storage_mismatch');
    const command = await runCommand(['adopt-storage'], {
      dataDir,
      env: { DATABASE_URL: database.connectionString },
    });
    expect(command).toMatchObject({ exitCode: 0 });
    await becomesReady(service);
    expect(await readFile(identity, 'utf8')).not.toBe(before);
    expect(await sql(`select count(*)::int as n from audit_log where act = 'command.adopt-storage'`)).toEqual(
      [{ n: 1 }],
    );
  });
});
