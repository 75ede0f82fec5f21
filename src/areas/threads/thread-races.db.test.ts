/** Emails that join a thread at the very moment when it is merged away: an ended thread never comes to life again. */
import { setTimeout as sleep } from 'node:timers/promises';
import type pg from 'pg';
import { v7 as uuidv7 } from 'uuid';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { parseEmailsJson } from '../../../test/helpers/emails-json.ts';
import { answerTo, newMessageId, outboundRecord } from '../../../test/helpers/outbound-record.ts';
import { createTestDatabase, type TestDatabase } from '../../../test/helpers/postgres.ts';
import { createTestPool } from '../../../test/helpers/test-pool.ts';
import { waitUntil } from '../../../test/helpers/wait-until.ts';
import type { OutboundRecord } from '../send/outbound-ports.ts';
import { lockLinks } from './link-thread.ts';
import { createMessageStore, type MessageStore } from '../../../test/helpers/mail-stores.ts';
import { absorbThreads } from './move-threads.ts';
import { inTransaction } from '../../platform/db/transaction.ts';
import { createThreadDecisions } from './decide-in-transaction.ts';

interface Node {
  readonly pool: pg.Pool;
  readonly store: MessageStore;
}

let database: TestDatabase;
let nodes: readonly [Node, Node];

function startNode(): Node {
  const pool = createTestPool(database, 8);
  return { pool, store: createMessageStore(pool) };
}

beforeAll(async () => {
  database = await createTestDatabase();
  nodes = [startNode(), startNode()];
});
afterAll(async () => {
  await Promise.all(nodes.map(({ pool }) => pool.end()));
  await database.drop();
});

/** A send into a thread that its caller chose. */
const sendInto = (threadId: string, fields: Partial<OutboundRecord> = {}) =>
  outboundRecord({ threadId, placement: { rule: 'thread_id', matchedMessageId: null }, ...fields });

async function expectNoneAlive(): Promise<void> {
  const { rows } = await nodes[0].pool.query('select id from email_threads join thread_aliases using (id)');
  expect(rows).toEqual([]);
}

const idsIn = async (threadId: string) =>
  (await parseEmailsJson(await nodes[0].store.readThread(threadId))).map(({ id }) => id).sort();

async function twoThreads(): Promise<readonly [OutboundRecord, OutboundRecord]> {
  const [left, right] = [outboundRecord(), outboundRecord()];
  await nodes[0].store.recordOutbound(left);
  await nodes[0].store.recordOutbound(right);
  return [left, right];
}

const JOINS: Readonly<Record<string, (threadId: string, parent: OutboundRecord) => OutboundRecord>> = {
  'with its thread chosen by hand': (threadId) => sendInto(threadId),
  'of the queue': (threadId) =>
    sendInto(threadId, {
      state: 'queued',
      queue: {
        lane: 'default',
        priority: 'normal',
        dueAt: null,
        dueInMs: 0,
        timedFrom: new Date(),
        giveUpAfterMs: 86_400_000,
      },
    }),
  'that answers an email of it': (threadId, parent) =>
    answerTo(parent.messageId, {
      threadId,
      placement: { rule: 'in_reply_to', matchedMessageId: parent.messageId },
    }),
};

it.each(Object.keys(JOINS))('a send %s waits for a merge that is not committed', async (name) => {
  const [left, right] = await twoThreads();
  const send = JOINS[name]!(right.threadId, right);
  let recorded: Promise<unknown> = Promise.resolve();
  await inTransaction(nodes[0].pool, async (trx) => {
    await lockLinks(trx, 'default');
    await trx.query('select from email_threads where id = $1 for update', [right.threadId]);
    await absorbThreads(trx, left.threadId, [right.threadId]);
    recorded = nodes[1].store.recordOutbound(send);
    await waitUntil('the send waits', async () => {
      const { rows } = await nodes[0].pool.query('select from pg_locks where not granted');
      return rows.length > 0;
    });
  });
  await recorded;
  await expectNoneAlive();
  expect(await idsIn(right.threadId)).toEqual([left.id, right.id, send.id].sort());
});

it('a send into a thread that is gone, as after a restored backup, is recorded', async () => {
  const send = sendInto(uuidv7());
  await nodes[0].store.recordOutbound(send);
  expect(await idsIn(send.threadId)).toEqual([send.id]);
});

it(
  'sends into threads that are merged and taken apart meanwhile all end in a living thread',
  { tags: ['long'] },
  async () => {
    const decisions = createThreadDecisions(nodes[0].pool);
    for (let round = 0; round < 30; round += 1) {
      const [left, right] = await twoThreads();
      const joining = [
        sendInto(right.threadId),
        sendInto(right.threadId, { references: [right.messageId], inReplyTo: [right.messageId] }),
        answerTo(newMessageId(), {
          threadId: right.threadId,
          placement: { rule: 'thread_id', matchedMessageId: null },
        }),
        JOINS['of the queue']!(right.threadId, right),
      ];
      const splitOff = uuidv7();
      const change = async () => {
        await sleep(round % 6);
        const merge = { threadId: left.threadId, otherThreadId: right.threadId, reason: null };
        await decisions.merge(merge, { decisionId: uuidv7(), newThreadId: uuidv7() });
        if (round % 3 > 0) return;
        const split = { threadId: left.threadId, emailIds: [right.id], reason: null };
        await decisions.split(split, { decisionId: uuidv7(), newThreadId: splitOff });
      };
      await Promise.all([
        change(),
        ...joining.map(async (send, index) => {
          await sleep((round + index) % 5);
          await nodes[index % 2]!.store.recordOutbound(send);
        }),
      ]);
      await expectNoneAlive();
      const placed = [...(await idsIn(left.threadId)), ...(round % 3 > 0 ? [] : await idsIn(splitOff))];
      expect(placed.sort()).toEqual([left, right, ...joining].map(({ id }) => id).sort());
    }
  },
);
