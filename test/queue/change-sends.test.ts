/** Waiting sends that are changed: what goes out, to whom, and how often. */
import { randomUUID } from 'node:crypto';
import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { simpleParser } from 'mailparser';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { claimSends } from '../../src/areas/send/claim-sends.ts';
import type { SendChange } from '../../src/areas/send/use-cases.ts';
import { alwaysCertain } from '../helpers/always-certain.ts';
import { createTestDatabase, type TestDatabase } from '../helpers/postgres.ts';
import { query } from '../helpers/query.ts';
import { startQueueNode, type QueueNode, type QueueNodeOptions } from '../helpers/queue-node.ts';
import { runs } from '../helpers/runs.ts';
import { startSmtpSink, type SmtpSink } from '../helpers/smtp-sink.ts';
import { createTestPool } from '../helpers/test-pool.ts';
import { waitUntil } from '../helpers/wait-until.ts';

const HOUR_MS = 3_600_000;

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
});

afterAll(async () => {
  await sink.stop();
  await database.drop();
});

const sql = (text: string, values: readonly unknown[] = []) => query(database.connectionString, text, values);

async function start(options: Partial<QueueNodeOptions> = {}): Promise<QueueNode> {
  const node = await startQueueNode({ database: database.connectionString, smtpUrl: sink.url, ...options });
  nodes.push(node);
  return node;
}

const later = (ms = HOUR_MS) => new Date(Date.now() + ms);
const file = (filename: string, text: string, contentId: string | null = null) => ({
  filename,
  contentType: contentId === null ? 'text/plain' : 'image/png',
  contentId,
  content: { kind: 'bytes' as const, bytes: Buffer.from(text) },
});

/** Lets the email go out, and returns the message that the mail server got under its Message-ID. */
async function sent(node: QueueNode, id: string) {
  const { messageId } = await node.read(id);
  await node.change(id, { sendAt: null });
  node.start();
  await waitUntil(`${id} is sent`, async () => (await node.read(id)).state === 'sent');
  const copies = sink.byMessageId(`<${messageId}>`);
  expect(copies).toHaveLength(1);
  const [{ raw, rcptTo }] = copies as [(typeof copies)[number]];
  return { raw: raw.toString('latin1'), rcptTo: rcptTo.toSorted(), mail: await simpleParser(raw) };
}

async function filesOf(node: QueueNode): Promise<readonly string[]> {
  const entries = await readdir(join(node.folder.path, 'files'), { recursive: true, withFileTypes: true });
  return entries.filter((entry) => entry.isFile()).map(({ name }) => name);
}

describe('a send that waits', () => {
  it('is moved to another time, and its Date with it', async () => {
    const node = await start();
    const id = await node.enqueue({ sendAt: later() });
    const before = await node.read(id);
    expect(before.sendVersion).toBe(1);
    for (const sendAt of [later(5 * HOUR_MS), later(HOUR_MS / 2)]) {
      const moved = await node.change(id, { sendAt });
      expect(moved.nextAttemptAt).toEqual(sendAt);
      expect(moved.date.getTime()).toBe(Math.floor(sendAt.getTime() / 1000) * 1000);
      expect(moved).toMatchObject({
        state: 'queued',
        messageId: before.messageId,
        threadId: before.threadId,
      });
    }
    expect((await node.read(id)).sendVersion).toBe(3);
    const { mail } = await sent(node, id);
    const { date, sendVersion, nextAttemptAt } = await node.read(id);
    expect(mail.date).toEqual(date);
    expect(date.getTime()).toBeLessThanOrEqual(Date.now());
    expect([sendVersion, nextAttemptAt]).toEqual([null, null]);
  });

  it('goes out at the time it was moved to', async () => {
    const node = await start();
    const id = await node.enqueue({ sendAt: later() });
    let sendAt = later();
    // A time that has passed meanwhile is refused.
    for (let code: string | null = 'invalid_send_at'; code !== null;) {
      sendAt = later(1200);
      code = await codeOf(node.change(id, { sendAt }));
      expect([null, 'invalid_send_at']).toContain(code);
    }
    await waitUntil('it is sent', async () => (await node.read(id)).state === 'sent');
    const [attempt] = (await node.read(id)).attempts;
    expect(attempt!.startedAt.getTime()).toBeGreaterThanOrEqual(sendAt.getTime());
  });

  it('says something else, to others, under the same Message-ID', async () => {
    const node = await start({ work: false });
    const id = await node.enqueue({
      sendAt: later(),
      subject: 'Altes Angebot',
      to: ['Ann <ann@example.org>'],
      cc: ['old@example.org'],
      replyTo: ['"Team, Vertrieb" <team@example.com>'],
      headers: { 'X-Ref': '7' },
      tags: ['angebot'],
      metadata: { order: 17 },
    });
    const before = await node.read(id);
    const after = await node.change(id, {
      subject: 'Neues Angebot',
      to: ['Bob <bob@example.org>', 'cleo@example.org'],
      cc: [],
      bcc: ['dan@example.org'],
      body: { textBody: null, htmlBody: '<p>Neuer <b>Preis</b></p>' },
    });
    expect(after).toMatchObject({
      subject: 'Neues Angebot',
      textBody: expect.stringContaining('Neuer Preis'),
      htmlBody: '<p>Neuer <b>Preis</b></p>',
      tags: ['angebot'],
      metadata: { order: 17 },
      messageId: before.messageId,
      date: before.date,
      to: [
        { name: 'Bob', address: 'bob@example.org' },
        { name: '', address: 'cleo@example.org' },
      ],
      cc: [],
      deliveries: ['bob', 'cleo', 'dan'].map((name) => ({
        address: `${name}@example.org`,
        state: 'pending',
      })),
    });
    const { raw, rcptTo, mail } = await sent(node, id);
    expect(rcptTo).toEqual(['bob@example.org', 'cleo@example.org', 'dan@example.org']);
    expect(mail.subject).toBe('Neues Angebot');
    expect(mail.text).toContain('Neuer Preis');
    expect(mail.replyTo?.value).toEqual([{ name: 'Team, Vertrieb', address: 'team@example.com' }]);
    expect(mail.headers.get('x-ref')).toBe('7');
    expect(raw).not.toMatch(/Altes|Hallo|ann@|old@|dan@/);
  });

  it('keeps its text where only the time changes, and loses its HTML only where that is named', async () => {
    const node = await start({ work: false });
    const both = { textBody: 'Ein Text', htmlBody: '<p>Ein HTML</p>' };
    const id = await node.enqueue({ sendAt: later(), ...both });
    expect(await node.change(id, { sendAt: later(2 * HOUR_MS) })).toMatchObject(both);
    await expect(node.change(id, { body: { textBody: 'Nur Text' } })).rejects.toMatchObject({
      code: 'invalid_request',
      text: expect.stringContaining('html_body') as string,
    });
    await expect(node.change(id, { body: { htmlBody: '<p>Neu</p>' } })).rejects.toMatchObject({
      code: 'invalid_request',
      text: expect.stringContaining('text_body') as string,
    });
    const read = await node.read(id);
    expect(await node.change(id, { body: both, subject: read.subject })).toMatchObject({
      ...both,
      sendVersion: read.sendVersion,
    });
    expect(await node.change(id, { body: { textBody: 'Nur Text', htmlBody: null } })).toMatchObject({
      textBody: 'Nur Text',
      htmlBody: null,
    });
    expect((await sent(node, id)).raw).not.toMatch(/Ein|html/i);
  });

  it('keeps the references of the email it answers', async () => {
    const node = await start({ work: false });
    const first = await node.read(await node.enqueue({ sendAt: later() }));
    const id = await node.enqueue({
      sendAt: later(),
      inReplyTo: `<${first.messageId}>`,
      subject: 'Re: Test',
    });
    const before = await node.read(id);
    expect(before.inReplyTo).toEqual([first.messageId]);
    const after = await node.change(id, { subject: 'Re: anders' });
    expect(after).toMatchObject({
      inReplyTo: before.inReplyTo,
      references: before.references,
      threadId: first.threadId,
      placement: before.placement,
    });
    const { mail } = await sent(node, id);
    expect([mail.inReplyTo, mail.references]).toEqual([`<${first.messageId}>`, `<${first.messageId}>`]);
  });

  it('keeps files by their identifiers, gets others, and leaves none behind in storage', async () => {
    const node = await start({ work: false });
    const id = await node.enqueue({
      sendAt: later(),
      htmlBody: '<img src="cid:logo@x">',
      attachments: [
        file('a.txt', 'aaa'),
        file('logo.png', 'png', 'logo@x'),
        file('b.txt', 'b'.repeat(300_000)),
      ],
    });
    const before = (await node.read(id)).attachments;
    const moved = await node.change(id, { sendAt: later(2 * HOUR_MS) });
    expect(moved.attachments).toEqual(before);
    const [a, logo] = before;
    const after = await node.change(id, {
      attachments: [
        { filename: null, contentType: null, content: { kind: 'attachment', id: a!.id } },
        { filename: null, contentType: null, content: { kind: 'attachment', id: logo!.id } },
        file('a.txt', 'c'.repeat(300_000)),
      ],
    });
    expect(after.attachments.map(({ filename, inline, sizeBytes }) => [filename, inline, sizeBytes])).toEqual(
      [
        ['a.txt', false, 3],
        ['logo.png', true, 3],
        ['a.txt', false, 300_000],
      ],
    );
    // The message, which is too large for the database, and its three files
    await waitUntil('the files of before are gone', async () => (await filesOf(node)).length === 4);
    const { mail } = await sent(node, id);
    expect(mail.attachments.map(({ content }) => content.toString().slice(0, 3)).toSorted()).toEqual([
      'aaa',
      'ccc',
      'png',
    ]);
  });

  it('is found by what it says now, tells readers of the feed, and who did it', async () => {
    const node = await start({ work: false });
    const id = await node.enqueue({ sendAt: later(), bcc: ['x@example.org'] });
    await sql('truncate event_inbox, search_queue');
    const key = 'k'.repeat(12);
    await node.change(id, { bcc: [] }, null, key);
    await node.change(id, { sendAt: later(2 * HOUR_MS) });
    const events = await sql(
      `select b.type, b.email_id, b.data::json -> 'changes' as changes, b.author::json ->> 'id' as author
      from event_inbox i, unnest(i.bodies) b order by i.ordinal`,
    );
    expect(events).toEqual([
      { type: 'email.updated', email_id: id, changes: ['content'], author: key },
      { type: 'email.updated', email_id: id, changes: ['content'], author: null },
    ]);
    expect(await sql('select email_id from customer_relinks where email_id = $1', [id])).toEqual([
      { email_id: id },
    ]);
    expect(await sql('select from search_queue where $1 = any (email_ids)', [id])).not.toEqual([]);
  });
});

describe('a change is refused', () => {
  const CHANGE: SendChange = { subject: 'anders' };

  it('of another version than the one it names, and says which one it has', async () => {
    const node = await start({ work: false });
    const id = await node.enqueue({ sendAt: later() });
    const all = await Promise.allSettled(
      Array.from({ length: 8 }, (_, n) =>
        node.change(id, { subject: `s${n}`, attachments: [file('a', `${n}`)] }, 1),
      ),
    );
    const done = all.filter(({ status }) => status === 'fulfilled');
    expect(done).toHaveLength(1);
    const refusals = all.flatMap((result): unknown[] =>
      result.status === 'rejected' ? [result.reason] : [],
    );
    expect(refusals).toEqual(
      Array.from({ length: 7 }, () => expect.objectContaining({ code: 'email_changed', details: '2' })),
    );
    const { subject } = await node.read(id);
    expect(subject).toBe(`s${all.findIndex(({ status }) => status === 'fulfilled')}`);
    // Nothing is left of the changes that came too late.
    await waitUntil('one file is there', async () => (await filesOf(node)).length === 1);
    expect((await sent(node, id)).mail.attachments[0]?.content.toString()).toBe(subject.slice(1));
  });

  it('of what is sent, cancelled, taken or unknown', async () => {
    const node = await start({ work: false });
    const [gone, cancelled, taken] = await Promise.all(
      [1, 2, 3].map(() => node.enqueue({ sendAt: later() })),
    );
    await sent(node, gone!);
    await node.cancelSend(cancelled!);
    await sql(
      `update send_queue set owner = gen_random_uuid(), claim_id = gen_random_uuid(), claimed_at = now(),
        lease_until = now() + interval '1 hour' where email_id = $1`,
      [taken],
    );
    for (const id of [gone, cancelled, taken]) {
      await expect(node.change(id!, CHANGE, 1)).rejects.toMatchObject({ code: 'not_editable' });
    }
    await expect(
      node.change(randomUUID(), CHANGE, 1).catch((error: unknown) => Promise.reject(error)),
    ).rejects.toMatchObject({
      code: 'email_not_found',
    });
    await sql('delete from send_queue where email_id = $1', [taken]);
    // When an operator puts it back, it has a version that it never had before.
    await node.retrySend(cancelled!);
    await expect(node.change(cancelled!, CHANGE, 1)).rejects.toMatchObject({
      code: /not_editable|email_changed/,
    });
  });

  it.each<[SendChange, string]>([
    [{ sendAt: new Date(0) }, 'invalid_send_at'],
    [{ to: ['nobody'] }, 'invalid_address'],
    [{ body: { textBody: null } }, 'missing_body'],
    [{ subject: ' ' }, 'missing_recipient_or_subject'],
    [{ subject: 'a\r\nBcc: x@example.org' }, 'header_injection'],
    [
      {
        attachments: [
          { filename: null, contentType: null, content: { kind: 'attachment', id: randomUUID() } },
        ],
      },
      'attachment_not_found',
    ],
  ])('when it is wrong: %j', async (change, code) => {
    const node = await start({ work: false });
    const id = await node.enqueue({ sendAt: later(), subject: 'bleibt' });
    await expect(node.change(id, change)).rejects.toMatchObject({ code });
    expect(await node.read(id)).toMatchObject({ subject: 'bleibt', sendVersion: 1 });
  });
});

/** The error code; null if the work succeeded. */
const codeOf = (work: Promise<unknown>): Promise<string | null> =>
  work.then(
    () => null,
    (error: { readonly code?: string }) => error.code ?? String(error),
  );

it('never goes out twice, nor as it was before a change that was answered, nor mixed, however claims and changes meet', async () => {
  const [one, two, editor] = await Promise.all([start(), start(), start({ work: false })]);
  const emails = runs(200);
  const codes = new Set<string | null>();
  const known = await Promise.all(
    Array.from({ length: emails }, async (_, n) => {
      const id = await editor.enqueue({
        sendAt: later(),
        subject: `0 von ${n}`,
        to: [`r0@e${n}.test`],
      });
      let last = 0;
      let isCancelled = false;
      for (let next = 1; ; next += 1) {
        const change: SendChange = {
          subject: `${next} von ${n}`,
          to: [`r${next}@e${n}.test`],
          body: { textBody: `Text ${next}`, htmlBody: null },
          // At first no process can claim it, so each email has at least one change.
          ...(last === 0 || Math.random() < 0.2 ? { sendAt: later(50 + Math.random() * 1000) } : {}),
        };
        const code = await codeOf(editor.change(id, change));
        // Try again if the time has passed meanwhile.
        if (code === 'invalid_send_at') continue;
        codes.add(code);
        if (code !== null) break;
        last = next;
        if (next > 3 && Math.random() < 0.05) {
          const refused = await codeOf(editor.cancelSend(id));
          codes.add(refused);
          isCancelled = refused === null;
        }
      }
      expect(last).toBeGreaterThan(0);
      return { id, n, last, isCancelled };
    }),
  );
  expect([null, 'not_editable', 'not_cancellable']).toEqual(expect.arrayContaining([...codes]));
  for (const { id, n, last, isCancelled } of known) {
    const state = isCancelled ? 'cancelled' : 'sent';
    await waitUntil(`${id} is ${state}`, async () => (await one.read(id)).state === state);
    const { messageId, deliveries } = await two.read(id);
    const copies = sink.byMessageId(`<${messageId}>`);
    expect(copies).toHaveLength(isCancelled ? 0 : 1);
    for (const { raw, rcptTo } of copies) {
      expect(rcptTo).toEqual([`r${last}@e${n}.test`]);
      expect(raw.toString('latin1')).toMatch(
        new RegExp(`^Subject: ${last} von ${n}\\r$[^]*^Text ${last}\\r$`, 'm'),
      );
    }
    expect(deliveries.map(({ address }) => address)).toEqual([`r${last}@e${n}.test`]);
  }
});

it('is not claimed by a statement that began before a change, since that would mix what was with what is', async () => {
  const own = await createTestDatabase();
  const pool = createTestPool(own);
  const [gate, claimer] = await Promise.all([pool.connect(), pool.connect()]);
  const editor = await startQueueNode({ database: own.connectionString, smtpUrl: sink.url, work: false });
  const request = {
    accountId: 'default',
    owner: randomUUID(),
    limit: 10,
    leaseMs: HOUR_MS,
    afterLane: '',
    rate: { perMinute: null, perDay: null },
  };
  const claim = () => claimSends(claimer, request, request.limit, alwaysCertain());
  try {
    const id = await editor.enqueue({ sendAt: later(), subject: 'Alt', to: ['old@e.test'] });
    // A statement of the claimer reads no row before the gate is open; its snapshot was taken when it began.
    await query(
      own.connectionString,
      `create function may_look() returns boolean language plpgsql as $$ begin
        if current_setting('test.waits', true) = 'on' then perform pg_advisory_xact_lock_shared(7301); end if;
        return true;
      end $$;
      update send_queue set due_at = now(), send_at = null;
      alter table send_queue rename to send_queue_rows;
      create view send_queue as select * from send_queue_rows where may_look()`,
    );
    await claimer.query(`set test.waits = 'on'`);
    await gate.query('select pg_advisory_lock(7301)');
    const began = claim();
    await waitUntil('the claim has begun', async () => {
      const waiting = await query(
        own.connectionString,
        `select from pg_locks where locktype = 'advisory' and objid = 7301 and not granted`,
      );
      return waiting.length === 1;
    });
    // Its time is not changed: a later one would prevent the claim in any case.
    await editor.change(id, { subject: 'Neu', to: ['new@e.test'] });
    await gate.query('select pg_advisory_unlock(7301)');
    expect((await began).claims).toEqual([]);

    const [claimed] = (await claim()).claims;
    expect([claimed?.emailId, claimed?.envelope.rcptTo]).toEqual([id, ['new@e.test']]);
    expect(claimed?.raw?.toString('latin1')).toContain('\r\nSubject: Neu\r\n');
  } finally {
    // Including the locks that they still wait for or hold.
    gate.release(true);
    claimer.release(true);
    await editor.stop();
    await editor.folder.remove();
    await pool.end();
    await own.drop();
  }
});
