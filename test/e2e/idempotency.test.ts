/** `Idempotency-Key` as a caller sees it: real processes, a real PostgreSQL, a real SMTP server that counts. */
import { randomUUID } from 'node:crypto';
import { Client } from 'pg';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { startEmbeddedPostgres } from '../../src/connectors/embedded-postgres/server.ts';
import { waitUntilBlocked } from '../helpers/blocked-sessions.ts';
import { urlOfEmbedded } from '../helpers/embedded-database.ts';
import { startGatedSink, type GatedSink } from '../helpers/gated-sink.ts';
import { createTestDatabase, type TestDatabase } from '../helpers/postgres.ts';
import { query } from '../helpers/query.ts';
import { disposeService, startServiceProcess, type ServiceProcess } from '../helpers/service-process.ts';
import { silentLogger } from '../helpers/silent-logger.ts';
import { makeTempFolder } from '../helpers/temp-folder.ts';
import { waitUntil } from '../helpers/wait-until.ts';

interface Answer {
  readonly status: number;
  readonly body: string;
  /** The header `Idempotency-Replayed`. */
  readonly replayed: string | null;
  readonly retryAfter: string | null;
}

let sink: GatedSink;
let database: TestDatabase;
let one: ServiceProcess;
let two: ServiceProcess;
let key: string;

beforeAll(async () => {
  sink = await startGatedSink();
  database = await createTestDatabase();
  [one, two] = await Promise.all([start(), start()]);
});
afterAll(async () => {
  await Promise.all([disposeService(one), disposeService(two)]);
  await sink.stop();
  await database.drop();
});
beforeEach(() => {
  key = randomUUID();
});
afterEach(() => sink.open());

const start = (dataDir?: string, databaseUrl = database.connectionString) =>
  startServiceProcess({
    env: { DATABASE_URL: databaseUrl, SMTP_URL: sink.url, DATABASE_STATEMENT_TIMEOUT_MS: '3000' },
    ...(dataDir === undefined ? {} : { dataDir }),
  });

const mail = (fields: Record<string, unknown> = {}) => ({
  to: 'ann@example.com',
  subject: key,
  text_body: 'Guten Tag',
  ...fields,
});

async function send(
  service: ServiceProcess,
  body: unknown = mail(),
  headers: Readonly<Record<string, string>> = {},
): Promise<Answer> {
  const response = await service.request('/api/send', {
    method: 'POST',
    body: typeof body === 'string' ? body : JSON.stringify(body),
    headers: { 'content-type': 'application/json', 'idempotency-key': key, ...headers },
  });
  return {
    status: response.status,
    // Each request has its own name.
    body: (await response.text()).replace(/"request_id":"[^"]+",/, ''),
    replayed: response.headers.get('idempotency-replayed'),
    retryAfter: response.headers.get('retry-after'),
  };
}

const codeOf = ({ body }: Answer) => (JSON.parse(body) as { code?: string }).code;
const idOf = ({ body }: Answer) => (JSON.parse(body) as { id: string }).id;

/** Messages that the mail server took for the current test: the subject is the key. */
const accepted = () =>
  sink.messages.filter((message) => message.raw.toString('latin1').includes(`Subject: ${key}`));

/** Runs the work while the table is locked; `blocked` resolves when the statement waits for the lock. */
async function whileLocked(
  table: string,
  statement: RegExp,
  work: (blocked: () => Promise<void>) => Promise<void>,
) {
  const client = new Client(database.connectionConfig);
  await client.connect();
  try {
    await client.query(`begin; lock table ${table} in access exclusive mode`);
    await work(() => waitUntilBlocked(database.connectionConfig, client, statement));
  } finally {
    await client.end();
  }
}

async function restart(service: ServiceProcess): Promise<ServiceProcess> {
  await service.stop();
  return await start(service.dataDir);
}

/** Repeats the request until it is no longer in progress. */
async function sendUntilKnown(service: ServiceProcess, body: unknown = mail()): Promise<Answer> {
  let answer = await send(service, body);
  await waitUntil('the key is settled', async () => {
    if (codeOf(answer) !== 'idempotency_in_progress') return true;
    answer = await send(service, body);
    return false;
  });
  return answer;
}

describe('a repeat', () => {
  test('gets the first answer, byte for byte, in any process, and sends nothing', async () => {
    const first = await send(one);
    expect(first).toMatchObject({ status: 200, replayed: null });
    const repeat = { ...first, replayed: 'true' };
    expect(await send(one)).toEqual(repeat);
    expect(await send(two)).toEqual(repeat);
    expect(accepted()).toHaveLength(1);
  });

  test('gets it after a restart too', async () => {
    const first = await send(one);
    one = await restart(one);
    expect(await send(one)).toEqual({ ...first, replayed: 'true' });
    expect(accepted()).toHaveLength(1);
  });

  test('may write the same request in another way', async () => {
    const bytes = Buffer.from('ten euros, or more');
    const attachments = (content: string) => [{ filename: 'offer.txt', content, content_type: 'text/plain' }];
    const base64 = bytes.toString('base64');
    const first = await send(one, mail({ attachments: attachments(base64) }));
    expect(first.status).toBe(200);
    const rewritten = {
      cc: null,
      attachments: attachments(`${base64.slice(0, 8)}\r\n${base64.slice(8)}`),
      text_body: 'Guten Tag',
      subject: key,
      to: ['ann@example.com'],
    };
    expect(await send(two, JSON.stringify(rewritten, null, 4))).toEqual({ ...first, replayed: 'true' });

    const other = mail({ attachments: attachments(Buffer.from('two euros, or less').toString('base64')) });
    expect(await send(one, other)).toMatchObject({ status: 409, replayed: null });
    expect(codeOf(await send(one, other))).toBe('idempotency_key_reused');
    expect(accepted()).toHaveLength(1);
  });

  test.each([
    ['nobody@refused.test', 'send_failed'],
    ['nobody@later.test', 'send_deferred'],
  ])('gets the failure again when the mail server refused %s', async (to, code) => {
    const first = await send(one, mail({ to }));
    expect([first.status, codeOf(first)]).toEqual([500, code]);
    expect(await send(two, mail({ to }))).toEqual({ ...first, replayed: 'true' });
  });

  test('gets the 202 of a send from the queue again, whether it waits for the outcome or not', async () => {
    const first = await send(one, mail(), { prefer: 'respond-async' });
    expect(first).toMatchObject({ status: 202, replayed: null });
    await waitUntil('the queue has sent it', () => accepted().length === 1);
    expect(await send(two, mail(), { prefer: 'respond-async' })).toEqual({ ...first, replayed: 'true' });
    expect(await send(two)).toEqual({ ...first, replayed: 'true' });
    expect(codeOf(await send(two, mail({ priority: 'high' })))).toBe('idempotency_key_reused');
    expect(accepted()).toHaveLength(1);
  });

  test('is carried out when the first request was refused before anything was tried', async () => {
    expect(codeOf(await send(one, mail({ to: 'ann@' })))).toBe('invalid_address');
    expect(codeOf(await send(two, mail({ thread_id: randomUUID() })))).toBe('thread_not_found');
    expect(await send(one)).toMatchObject({ status: 200, replayed: null });
    expect(accepted()).toHaveLength(1);
  });
});

describe('while the first request runs', () => {
  test('a repeat is told so, in any process, and another body is refused', async () => {
    sink.close();
    const first = send(one);
    await sink.reached();
    for (const service of [one, two]) {
      const repeat = await send(service);
      expect(codeOf(repeat)).toBe('idempotency_in_progress');
      expect(repeat).toMatchObject({ status: 409, retryAfter: '1', replayed: null });
      expect(codeOf(await send(service, mail({ cc: 'bob@example.com' })))).toBe('idempotency_key_reused');
    }
    sink.open();
    expect(await send(two).then(() => first)).toMatchObject({ status: 200 });
    expect(await send(two)).toEqual({ ...(await first), replayed: 'true' });
    expect(accepted()).toHaveLength(1);
  });

  test('fifty requests at the same moment to two processes send one message', async () => {
    const answers = await Promise.all(Array.from({ length: 50 }, (_, n) => send(n % 2 === 0 ? one : two)));
    const sent = answers.filter((answer) => answer.status === 200);
    const running = answers.filter((answer) => codeOf(answer) === 'idempotency_in_progress');
    expect(sent.length + running.length).toBe(50);
    expect(sent.filter((answer) => answer.replayed === null)).toHaveLength(1);
    expect(new Set(sent.map((answer) => answer.body)).size).toBe(1);
    expect(accepted()).toHaveLength(1);
  });
});

describe('after kill -9', () => {
  /** The statement placement-facts. */
  const FINDS_PARENT = /thread_account_id/;
  /** The statement insert-new-sends. */
  const RECORDS_SENDS = /given as materialized/;

  const killed = async (answer: Promise<Answer>) => {
    const end = answer.then(
      () => 'answered',
      () => 'cut off',
    );
    await one.kill();
    expect(await end).toBe('cut off');
  };

  test('before the mail server was asked, the key is free again', { tags: ['long'] }, async () => {
    const thread = JSON.parse((await send(one)).body) as { threadId: string };
    key = randomUUID();
    const body = mail({ thread_id: thread.threadId });
    await whileLocked('email_threads', FINDS_PARENT, async (blocked) => {
      const first = send(one, body);
      await blocked();
      await killed(first);
    });
    expect(codeOf(await send(two, body))).toBe('idempotency_in_progress');
    one = await start(one.dataDir);
    expect(await sendUntilKnown(two, body)).toMatchObject({ status: 200, replayed: null });
    expect(accepted()).toHaveLength(1);
  });

  test('while the mail server had the message, the answer is that the outcome is unknown', async () => {
    sink.close();
    const first = send(one);
    await sink.reached();
    await killed(first);
    one = await start(one.dataDir);
    const repeat = await sendUntilKnown(two);
    expect([repeat.status, codeOf(repeat), repeat.replayed]).toEqual([500, 'send_unknown', 'true']);
    expect(accepted()).toHaveLength(0);
  });

  test('after the mail server took it, the answer is that it was sent', async () => {
    await whileLocked('emails', RECORDS_SENDS, async (blocked) => {
      const first = send(one);
      await waitUntil('the mail server has taken the message', () => accepted().length === 1);
      await blocked();
      await killed(first);
    });
    one = await start(one.dataDir);
    const repeat = await sendUntilKnown(one);
    expect(repeat).toMatchObject({ status: 200, replayed: 'true' });
    expect(JSON.parse(repeat.body)).toMatchObject({ status: 'sent' });
    const email = await one.request(`/api/emails/${idOf(repeat)}`);
    expect(await email.json()).toMatchObject({ subject: key, state: 'sent' });
    expect(accepted()).toHaveLength(1);
  });
});

test(
  'an answer that could not be stored is stored when the database is back',
  { tags: ['long'] },
  async () => {
    const temp = await makeTempFolder();
    const startDatabase = () => startEmbeddedPostgres({ dataDir: temp.path, logger: silentLogger });
    let server = await startDatabase();
    const service = await start(undefined, urlOfEmbedded(server.connection));
    try {
      sink.close();
      const pending = send(service);
      await sink.reached();
      await server.stop();
      sink.open();
      const first = await pending;
      expect(first).toMatchObject({ status: 207, replayed: null });
      const away = await send(service);
      expect([away.status, codeOf(away)]).toEqual([503, 'database_unavailable']);

      server = await startDatabase();
      expect(await sendUntilKnown(service)).toEqual({ ...first, replayed: 'true' });
      expect(accepted()).toHaveLength(1);
      const [row] = await query(
        server.connection,
        'select count(*)::int as open from idempotency_keys where outcome is null',
      );
      expect(row).toEqual({ open: 0 });
    } finally {
      await disposeService(service);
      await server.stop();
      await temp.remove();
    }
  },
);
