/**
 * The queue over processes that are killed at random: each email is accepted by the mail server at most once, and every one ends as `sent`,
 * or as `unknown` with an attempt that explains it. `TEST_RUNS` makes it longer.
 */
import { randomInt } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import type { SMTPServerOptions } from 'smtp-server';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { emptyTables } from '../helpers/empty-tables.ts';
import { createTestDatabase, type TestDatabase } from '../helpers/postgres.ts';
import { query } from '../helpers/query.ts';
import { runs } from '../helpers/runs.ts';
import { disposeService, startServiceProcess, type ServiceProcess } from '../helpers/service-process.ts';
import { startSmtpSink, type SmtpSink } from '../helpers/smtp-sink.ts';
import { waitUntil } from '../helpers/wait-until.ts';

const KILLS = runs(20);
const LEASE_MS = 800;

let database: TestDatabase;
const running: ServiceProcess[] = [];
const sinks: SmtpSink[] = [];

beforeAll(async () => {
  database = await createTestDatabase();
});

afterEach(async () => {
  for (const service of running.splice(0)) {
    await service.kill();
    await disposeService(service);
  }
  // After its clients: the server waits for them.
  for (const sink of sinks.splice(0)) await sink.stop();
  await emptyTables(database.connectionString, 'emails', 'email_threads', 'thread_message_ids');
});

afterAll(() => database.drop());

async function openSink(options: SMTPServerOptions): Promise<SmtpSink> {
  const sink = await startSmtpSink(options);
  sinks.push(sink);
  return sink;
}

/** A mail server that answers no hand-over before `release`. */
async function openHoldingSink() {
  let release = () => {};
  const held = new Promise<void>((resolve) => (release = resolve));
  let arrived = false;
  const sink = await openSink({
    onMailFrom(_address, _session, callback) {
      arrived = true;
      void held.then(() => callback());
    },
  });
  return { sink, hasArrived: () => arrived, release };
}

function start(sink: SmtpSink, dataDir?: string): Promise<ServiceProcess> {
  return startServiceProcess({
    ...(dataDir === undefined ? {} : { dataDir }),
    env: {
      DATABASE_URL: database.connectionString,
      SMTP_URL: sink.url,
      SEND_LEASE_MS: String(LEASE_MS),
      WORK_POLL_MS: '50',
      SEND_RETRY_DELAYS_S: '0.2',
    },
  });
}

interface Answer {
  readonly status: string;
  readonly id: string;
  readonly messageId: string;
}

async function enqueue(service: ServiceProcess, fields: object = {}): Promise<Answer> {
  const response = await service.request('/api/send', {
    json: { to: 'ann@example.org', subject: 'Test', text_body: 'Hallo', ...fields },
    headers: { prefer: 'respond-async' },
  });
  expect(response.status).toBe(202);
  expect(response.headers.get('preference-applied')).toBe('respond-async');
  return (await response.json()) as Answer;
}

interface Row {
  readonly id: string;
  readonly message_id: string;
  readonly state: string;
  readonly unknown_attempts: number;
}

async function readRows(): Promise<readonly Row[]> {
  const rows = await query(
    database.connectionString,
    `select e.id, e.message_id, e.state, (
      select count(*)::int from delivery_attempts a where a.email_id = e.id and a.outcome = 'unknown'
    ) as unknown_attempts from emails e`,
  );
  return rows as unknown as readonly Row[];
}

describe.each([2, 4])('%i processes on one queue, killed at random', (processes) => {
  it('send every email at most once, and lose none', async () => {
    // Slow enough that kills hit every step of the hand-overs.
    const sink = await openSink({
      onMailFrom(_address, _session, callback) {
        setTimeout(callback, randomInt(20));
      },
    });
    const services = await Promise.all(Array.from({ length: processes }, () => start(sink)));
    running.push(...services);

    const promised: Answer[] = [];
    const status = { finished: false };
    const callers = Array.from({ length: 4 }, async (_, caller) => {
      while (!status.finished) {
        const service = running[randomInt(running.length)]!;
        try {
          promised.push(await enqueue(service, { lane: `caller-${caller}` }));
        } catch (error) {
          // A process that is being killed promises nothing.
          if (!(error instanceof TypeError)) throw error;
        }
        await sleep(randomInt(10, 60));
      }
    });

    for (let kill = 0; kill < KILLS; kill += 1) {
      await sleep(randomInt(100, 700));
      const index = randomInt(running.length);
      const victim = running[index]!;
      await victim.kill();
      running[index] = await start(sink, victim.dataDir);
    }
    status.finished = true;
    await Promise.all(callers);

    // A row stays in the queue until its owner is back and has reported its evidence.
    await waitUntil(
      'the queue is empty',
      async () => (await query(database.connectionString, 'select 1 from send_queue')).length === 0,
    );
    const rows = await readRows();
    const states = new Map(rows.map((row) => [row.id, row]));
    for (const { id } of promised) expect(states.has(id)).toBe(true);
    const copies = new Map<string, number>();
    for (const { raw } of sink.messages) {
      const messageId = /^Message-ID: <(.*)>\r$/im.exec(raw.toString('latin1'))![1]!;
      copies.set(messageId, (copies.get(messageId) ?? 0) + 1);
    }
    const outcomes = rows.map((row) => ({ ...row, copies: copies.get(row.message_id) ?? 0 }));
    expect(outcomes.filter((row) => row.copies > 1)).toEqual([]);
    expect(outcomes.filter((row) => row.state === 'sent' && row.copies !== 1)).toEqual([]);
    expect(outcomes.filter((row) => row.state === 'unknown' && row.unknown_attempts !== 1)).toEqual([]);
    for (const row of rows) copies.delete(row.message_id);
    // Nothing was sent that is not recorded.
    expect([...copies.keys()]).toEqual([]);
    expect(rows.filter(({ state }) => state !== 'sent' && state !== 'unknown')).toEqual([]);
    const unknown = rows.filter(({ state }) => state === 'unknown').length;
    process.stdout.write(
      `${processes} processes, ${KILLS} kills: ${rows.length} emails, ${promised.length} promised, ${unknown} unknown\n`,
    );
    expect(promised.length).toBeGreaterThan(KILLS);
    // Each restarted process takes seconds on a busy machine.
  }, 240_000);
});

describe('a process that is stopped while it sends', () => {
  it('records the acceptance when it goes on, over what others assumed', async () => {
    const { sink, hasArrived, release } = await openHoldingSink();
    const paused = await start(sink);
    running.push(paused);
    const { id, messageId } = await enqueue(paused);
    await waitUntil('the hand-over has begun', hasArrived);
    paused.process.kill('SIGSTOP');

    const other = await start(sink);
    running.push(other);
    const read = async () =>
      (await (await other.request(`/api/emails/${id}`)).json()) as { state: string; attempts: object[] };
    await waitUntil('the other one does not know', async () => (await read()).state === 'unknown');
    paused.process.kill('SIGCONT');
    release();
    await waitUntil('it is known', async () => (await read()).state === 'sent');
    expect((await read()).attempts).toMatchObject([{ number: 1, outcome: 'accepted', reply: { code: 250 } }]);
    expect(sink.byMessageId(messageId)).toHaveLength(1);
  });
});

describe('a database that goes away', () => {
  it('gets the outcome when it is back', async () => {
    const { sink, hasArrived, release } = await openHoldingSink();
    const service = await start(sink);
    running.push(service);
    const { id, messageId } = await enqueue(service);
    await waitUntil('the hand-over has begun', hasArrived);
    const putBack = await takeAway();
    let queued: { readonly id: string; readonly messageId: string } | null = null;
    try {
      release();
      await waitUntil('the message is out', () => sink.byMessageId(messageId).length === 1);
      const answer = await service.request('/api/send', {
        json: { to: 'ann@example.org', subject: 'Test', text_body: 'Hallo' },
        headers: { prefer: 'respond-async' },
      });
      // A statement that was cut off may have been carried out: the journal then keeps the send, and the answer is certain.
      expect([202, 503]).toContain(answer.status);
      if (answer.status === 202) queued = (await answer.json()) as { id: string; messageId: string };
      await sleep(LEASE_MS);
    } finally {
      await putBack();
    }
    for (const one of [{ id, messageId }, ...(queued === null ? [] : [queued])]) {
      await waitUntil('the outcome is stored', async () => {
        const [row] = await query(database.connectionString, 'select state from emails where id = $1', [
          one.id,
        ]);
        return row?.['state'] === 'sent';
      });
      expect(sink.byMessageId(one.messageId)).toHaveLength(1);
    }
  });
});

/** Makes every connection to the database fail; returns the function that ends this. */
async function takeAway(): Promise<() => Promise<void>> {
  const admin = new URL(database.connectionString);
  const name = admin.pathname.slice(1);
  admin.pathname = '/postgres';
  const run = (text: string) => query(admin.href, text);
  await run(`alter database ${name} allow_connections false`);
  await run(`select pg_terminate_backend(pid, 5000) from pg_stat_activity where datname = '${name}'`);
  await run(`alter database ${name} rename to ${name}_away`);
  return async () => {
    await run(`alter database ${name}_away rename to ${name}`);
    await run(`alter database ${name} allow_connections true`);
  };
}
