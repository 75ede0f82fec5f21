/** The queue with real parts in one process: what is sent, in what order, and how often. */
import { randomUUID } from 'node:crypto';
import { copyFile, rename, truncate } from 'node:fs/promises';
import path from 'node:path';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { createMessageStore } from '../helpers/mail-stores.ts';
import { parseEmailsJson } from '../helpers/emails-json.ts';
import { outboundRecord } from '../helpers/outbound-record.ts';
import { createTestDatabase, type TestDatabase } from '../helpers/postgres.ts';
import { query } from '../helpers/query.ts';
import { startQueueNode, type QueueNode, type QueueNodeOptions } from '../helpers/queue-node.ts';
import { createSkippedTime } from '../helpers/skipped-time.ts';
import { startSmtpSink, type SmtpSink } from '../helpers/smtp-sink.ts';
import { createTestPool } from '../helpers/test-pool.ts';
import { waitUntil } from '../helpers/wait-until.ts';

let database: TestDatabase;
let sink: SmtpSink;
const nodes: QueueNode[] = [];

beforeAll(async () => {
  [database, sink] = await Promise.all([createTestDatabase(), startSmtpSink()]);
});

afterEach(async () => {
  for (const node of nodes.splice(0)) {
    await node.stop();
    await node.folder.remove();
  }
  await sql('truncate emails, email_threads, thread_message_ids, send_windows cascade');
});

afterAll(async () => {
  await sink.stop();
  await database.drop();
});

const sql = (text: string, values: readonly unknown[] = []) => query(database.connectionString, text, values);

async function start(options: Partial<QueueNodeOptions> = {}): Promise<QueueNode> {
  const node = await startQueueNode({
    database: database.connectionString,
    smtpUrl: sink.url,
    ...options,
  });
  nodes.push(node);
  return node;
}

async function waitForState(node: QueueNode, id: string, ...states: string[]): Promise<void> {
  await waitUntil(`${id} is ${states.join(' or ')}`, async () =>
    states.includes((await node.read(id)).state),
  );
}

const copies = (subject: string) =>
  sink.messages.filter(({ raw }) => raw.toString('latin1').includes(`Subject: ${subject}\r\n`));

describe('a queued send', () => {
  it('goes out once, by any of two nodes, and tells how', async () => {
    const [one, two] = [await start(), await start()];
    const ids = await Promise.all(
      Array.from({ length: 40 }, (_, n) => (n % 2 ? one : two).enqueue({ subject: `once-${n}` })),
    );
    await Promise.all(ids.map((id) => waitForState(one, id, 'sent')));
    for (const n of ids.keys()) expect(copies(`once-${n}`)).toHaveLength(1);
    const email = await one.read(ids[0]!);
    expect(email).toMatchObject({
      stateDetail: null,
      deliveries: [{ address: 'ann@example.org', state: 'accepted', reply: { code: 250 } }],
      attempts: [{ number: 1, outcome: 'accepted', reply: { code: 250 } }],
      nextAttemptAt: null,
      giveUpAt: null,
    });
    expect(await sql('select count(*)::int as n from send_queue')).toEqual([{ n: 0 }]);
    for (const node of [one, two]) {
      await waitUntil('the journal is empty', () => [...node.journal.keys()].length === 0);
    }
  });

  it('with a large attachment is sent from file storage', async () => {
    const node = await start();
    const bytes = Buffer.alloc(300_000, 'x');
    const attachment = { filename: 'a.bin', contentType: null, content: { kind: 'bytes' as const, bytes } };
    const id = await node.enqueue({ subject: 'large', attachments: [attachment] });
    await waitForState(node, id, 'sent');
    const [copy] = copies('large');
    expect(copy?.raw.length).toBe((await node.read(id)).rawSizeBytes);
  });

  it.each([
    [
      'is missing',
      /the message can not be read: no file _raw\//,
      (file: string) => rename(file, `${file}.away`),
    ],
    [
      'is shorter than recorded',
      /the message can not be read: _raw\/.* has 1000 bytes, and not /,
      async (file: string) => {
        await copyFile(file, `${file}.away`);
        await truncate(file, 1000);
      },
    ],
  ])(
    'whose file %s waits, holds up no other, and goes out once the file is back',
    async (_, reason, harm) => {
      const node = await start({ work: false, slots: 1 });
      const bytes = Buffer.alloc(300_000, 'x');
      const attachment = { filename: 'a.bin', contentType: null, content: { kind: 'bytes' as const, bytes } };
      const subject = randomUUID();
      const harmed = await node.enqueue({ subject, attachments: [attachment] });
      const other = await node.enqueue({ subject: 'beside a harmed one' });
      const [row] = await sql('select raw_path from emails where id = $1', [harmed]);
      const file = path.join(node.folder.path, 'files', String(row?.['raw_path']));
      await harm(file);
      node.start();
      await waitForState(node, harmed, 'deferred');
      await waitForState(node, other, 'sent');
      const email = await node.read(harmed);
      expect(email).toMatchObject({
        stateDetail: expect.stringMatching(reason),
        deliveries: [{ state: 'deferred', reply: null }],
      });
      expect(copies(subject)).toHaveLength(0);
      await rename(`${file}.away`, file);
      await waitForState(node, harmed, 'sent');
      expect(copies(subject)).toHaveLength(1);
    },
  );

  it('waits for its time, which the Date header tells', async () => {
    const node = await start();
    const sendAt = new Date(Date.now() + 1500);
    const result = await node.send({ subject: 'later', sendAt });
    if (result.kind !== 'queued') throw new Error(result.kind);
    const email = await node.read(result.id);
    expect(email.state).toBe('queued');
    expect(email.nextAttemptAt).toEqual(sendAt);
    expect(email.date.getTime()).toBe(Math.floor(sendAt.getTime() / 1000) * 1000);
    await waitForState(node, result.id, 'sent');
    const [attempt] = (await node.read(result.id)).attempts;
    expect(attempt!.startedAt.getTime()).toBeGreaterThanOrEqual(sendAt.getTime());
  });

  it.each([0, -1000, 367 * 86_400_000])('is refused %i ms from now', async (ms) => {
    const node = await start({ work: false });
    const sending = node.send({ sendAt: new Date(Date.now() + ms) });
    await expect(sending).rejects.toMatchObject({ code: 'invalid_send_at' });
  });
});

describe('the order', () => {
  it('is by priority first, then lanes in turn', async () => {
    const node = await start({ work: false, slots: 1 });
    for (let n = 0; n < 6; n += 1) await node.enqueue({ subject: `order-bulk-${n}`, lane: 'bulk' });
    await node.enqueue({ subject: 'order-a', lane: 'a' });
    await node.enqueue({ subject: 'order-z', lane: 'z' });
    await node.enqueue({ subject: 'order-low', lane: 'low', priority: 'low' });
    const last = await node.enqueue({ subject: 'order-high', lane: 'bulk', priority: 'high' });
    const before = sink.messages.length;
    node.start();
    await waitUntil('all are sent', () => sink.messages.length === before + 10);
    const order = sink.messages
      .slice(before)
      .map(({ raw }) => /^Subject: order-(.*)\r$/m.exec(raw.toString('latin1'))![1]!);
    expect(order[0]).toBe('high');
    expect(order.at(-1)).toBe('low');
    const normal = order.slice(1, -1);
    // Three lanes: each gets a turn among any three consecutive ones, as long as it has something.
    expect(
      normal
        .slice(0, 3)
        .map((name) => name[0])
        .sort(),
    ).toEqual(['a', 'b', 'z']);
    expect(normal.filter((name) => name.startsWith('bulk'))).toEqual(
      Array.from({ length: 6 }, (_, n) => `bulk-${n}`),
    );
    await waitForState(node, last, 'sent');
  });

  it('gives each lane its share of a claim of many', async () => {
    const node = await start({ work: false });
    for (let n = 0; n < 20; n += 1) await node.enqueue({ lane: 'bulk' });
    for (let n = 0; n < 3; n += 1) await node.enqueue({ lane: 'reply', subject: 'share-reply' });
    const request = {
      accountId: 'default',
      owner: node.owner,
      leaseMs: 60_000,
      rate: { perMinute: null, perDay: null },
    };
    const first = await node.queue.claim({ ...request, limit: 4, afterLane: '' });
    const lanes = await lanesOf(first.claims.map((claim) => claim.emailId));
    expect(lanes.sort()).toEqual(['bulk', 'bulk', 'reply', 'reply']);
    // One at a time: the lane served last is not served again while another waits.
    const second = await node.queue.claim({ ...request, limit: 1, afterLane: 'bulk' });
    expect(await lanesOf(second.claims.map((claim) => claim.emailId))).toEqual(['reply']);
    const third = await node.queue.claim({ ...request, limit: 1, afterLane: second.lastLane });
    expect(await lanesOf(third.claims.map((claim) => claim.emailId))).toEqual(['bulk']);
    for (const { claims } of [first, second, third]) {
      for (const claim of claims) await node.queue.release(node.owner, claim, { evenBegun: false });
    }
  });

  async function lanesOf(ids: readonly string[]): Promise<string[]> {
    const rows = await sql('select lane from send_queue where email_id = any ($1::uuid[])', [ids]);
    return rows.map(({ lane }) => String(lane));
  }
});

describe('rate limits', () => {
  it('hold over two nodes, and the rest waits', async () => {
    const rate = { perMinute: 7, perDay: 100 };
    const [one, two] = [await start({ rate }), await start({ rate })];
    const before = sink.messages.length;
    await Promise.all(
      Array.from({ length: 20 }, (_, n) => (n % 2 ? one : two).enqueue({ subject: `rate-${n}` })),
    );
    await waitUntil('the limit is used up', () => sink.messages.length - before >= 7);
    // Several rounds of polling of both nodes.
    const refused = two.send({ subject: 'rate-sync' });
    await expect(refused).rejects.toMatchObject({ code: 'rate_limited' });
    await expect(refused).rejects.toSatisfy(
      (error: { retryAfterSeconds: number }) => error.retryAfterSeconds > 30 && error.retryAfterSeconds <= 60,
    );
    await new Promise((resolve) => setTimeout(resolve, 300));
    expect(sink.messages.length - before).toBe(7);
    const used = `select sum(n)::int as n from send_windows, unnest(used) n where period = 'minute'`;
    expect(await sql(used)).toEqual([{ n: 7 }]);
    expect(await sql('select count(*)::int as n from send_queue')).toEqual([{ n: 13 }]);
  });
});

describe('a limit of two messages a minute', () => {
  it('lets two through at once, and the next two as soon as the first two are a minute old', async () => {
    const rate = { perMinute: 2, perDay: null };
    const timers = createSkippedTime();
    const [one, two] = [await start({ rate, timers }), await start({ rate, timers })];
    const before = sink.messages.length;
    for (let n = 0; n < 6; n += 1) await (n % 2 ? one : two).enqueue({ subject: `two-${n}` });
    for (const sent of [2, 4, 6]) {
      await waitUntil(`${sent} are sent`, () => sink.messages.length - before >= sent);
      expect(sink.messages.length - before).toBe(sent);
      expect(await sql('select sum(n)::int as n from send_windows, unnest(used) n')).toEqual([{ n: 2 }]);
      // A minute passes, for the database and for the nodes.
      await sql(
        `update send_windows set used_at = array(select at - interval '1 minute' from unnest(used_at) at)`,
      );
      timers.skip(60_000);
    }
  });
});

describe('a send that is put off', () => {
  it('is tried again, until the server takes it', async () => {
    let refusals = 2;
    const greylist = await startSmtpSink({
      onRcptTo(_address, _session, callback) {
        if (refusals-- > 0) {
          return callback(Object.assign(new Error('4.7.1 greylisted'), { responseCode: 451 }));
        }
        callback();
      },
    });
    const node = await start({ smtpUrl: greylist.url });
    const id = await node.enqueue({ subject: 'grey' });
    await waitForState(node, id, 'sent');
    const email = await node.read(id);
    expect(email.attempts.map(({ number, outcome, reply }) => [number, outcome, reply?.code])).toEqual([
      [1, 'refused', 451],
      [2, 'refused', 451],
      [3, 'accepted', 250],
    ]);
    expect(greylist.messages).toHaveLength(1);
    await greylist.stop();
  });

  it('is given up after the time for that', async () => {
    const node = await start();
    const id = await node.enqueue({ to: ['bob@later.test'] });
    expect((await node.read(id)).giveUpAt).toBeInstanceOf(Date);
    await waitUntil('it is tried again', async () => (await node.read(id)).attempts.length >= 2);
    await sql('update send_queue set give_up_at = now() where email_id = $1', [id]);
    await waitForState(node, id, 'failed');
    const email = await node.read(id);
    expect(email.stateDetail).toMatch(/^given up: .*451/);
    expect(await sql('select 1 from send_queue where email_id = $1', [id])).toEqual([]);
  });

  it('is given up when no process sends for its account any more, but not before its time', async () => {
    const node = await start({ work: false, giveUpAfterMs: 1 });
    const id = await node.enqueue();
    await node.enqueue({ sendAt: new Date(Date.now() + 60_000) });
    await sql(`update send_queue set account_id = 'gone'`);
    expect(await node.queue.giveUpOrphans(['default', 'gone'])).toBe(0);
    expect(await node.queue.giveUpOrphans(['default'])).toBe(1);
    expect(await node.read(id)).toMatchObject({
      state: 'failed',
      stateDetail: expect.stringContaining('given up'),
    });
    expect(await sql('select 1 from send_queue')).toHaveLength(1);
  });

  it('fails at once when the server refuses it permanently', async () => {
    const node = await start();
    const id = await node.enqueue({ to: ['bob@refused.test'] });
    await waitForState(node, id, 'failed');
    expect((await node.read(id)).attempts).toHaveLength(1);
  });

  it('waits while no server answers, and goes out when one does', async () => {
    const dead = await startSmtpSink();
    await dead.stop();
    const node = await start({ smtpUrl: dead.url, delaysMs: [200] });
    const id = await node.enqueue();
    // Meanwhile it is tried again and again.
    await waitForState(node, id, 'deferred');
    expect((await node.read(id)).attempts[0]).toMatchObject({ outcome: 'refused', reply: null });
    await node.stop();
    nodes.pop();
    const successor = await start({ successorOf: node });
    await waitForState(successor, id, 'sent');
  });

  it('is tried again for the recipients that are missing only, also after a synchronous send', async () => {
    const node = await start({ delaysMs: [300_000] });
    const result = await node.send({
      subject: 'partly',
      to: ['ann@example.org, bob@later.test, eve@refused.test'],
    });
    if (result.kind !== 'sent') throw new Error(result.kind);
    const { id, notAccepted } = result;
    expect(notAccepted).toMatchObject([
      { address: 'bob@later.test', state: 'deferred' },
      { address: 'eve@refused.test', state: 'rejected' },
    ]);
    expect(await node.read(id)).toMatchObject({
      state: 'deferred',
      deliveries: [{ state: 'accepted' }, { state: 'deferred' }, { state: 'rejected' }],
      attempts: [{ number: 1, outcome: 'accepted' }],
      nextAttemptAt: expect.any(Date),
    });
    await node.retrySend(id);
    await waitUntil('the second attempt is over', async () => (await node.read(id)).attempts.length === 2);
    await waitForState(node, id, 'deferred');
    expect(copies('partly')).toHaveLength(1);
    expect(copies('partly')[0]!.rcptTo).toEqual(['ann@example.org']);
    expect(await node.cancelSend(id)).toBe('sent');
    expect((await node.read(id)).stateDetail).toBe('cancelled for 2 of 3 recipients');
  });
});

describe('a record that is stored again', () => {
  it('does not queue again what was sent meanwhile', async () => {
    const pool = createTestPool(database, 1);
    const store = createMessageStore(pool);
    const record = outboundRecord({
      state: 'deferred',
      queue: {
        lane: 'new',
        priority: 'normal',
        dueAt: null,
        dueInMs: 60_000,
        timedFrom: new Date(),
        giveUpAfterMs: 60_000,
      },
    });
    await store.recordOutbound(record);
    await store.recordOutbound(record);
    expect(await sql('select 1 from send_queue')).toHaveLength(1);
    await sql('delete from send_queue');
    await store.recordOutbound(record);
    expect(await sql('select 1 from send_queue')).toEqual([]);
    await pool.end();
  });
});

describe('the list', () => {
  it('has every state, page by page', async () => {
    const node = await start({ work: false });
    const ids: string[] = [];
    for (let n = 0; n < 5; n += 1)
      ids.push(await node.enqueue({ sendAt: new Date(Date.now() + 60_000 + n * 1000) }));
    await node.cancelSend(ids[0]!);
    const request = {
      q: null,
      defect: null,
      tag: null,
      state: 'queued',
      accountId: null,
      limit: 3,
      cursor: null,
    } as const;
    const first = await node.listEmails(request);
    const firstEmails = await parseEmailsJson(first.emails);
    expect(firstEmails.map(({ id }) => id)).toEqual([ids[4], ids[3], ids[2]]);
    expect(firstEmails[0]).toMatchObject({ next_attempt_at: expect.stringMatching(/^\d{4}-.*\.\d{3}Z$/) });
    const second = await node.listEmails({ ...request, cursor: first.nextCursor });
    expect((await parseEmailsJson(second.emails)).map(({ id }) => id)).toEqual([ids[1]]);
    expect(second.nextCursor).toBeNull();
    const all = await node.listEmails({ ...request, state: null, limit: 200 });
    expect(await parseEmailsJson(all.emails)).toHaveLength(5);
    const others = await node.listEmails({ ...request, accountId: 'other' });
    expect(await parseEmailsJson(others.emails)).toEqual([]);
  });

  it('uses the index of the rare states', async () => {
    // With the few rows of a test, reading or sorting all of them is cheaper, once the server has counted them.
    const options = '-c enable_seqscan=off -c enable_sort=off -c enable_bitmapscan=off';
    const plan = await query(
      { connectionString: database.connectionString, options },
      `explain select id from emails e where e.state = 'unknown' order by e.date desc, e.id desc limit 50`,
    );
    expect(plan.map((row) => row['QUERY PLAN']).join('\n')).toContain('emails_state');
  });
});
