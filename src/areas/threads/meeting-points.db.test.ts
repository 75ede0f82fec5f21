/** Meeting points in the stores: whatever comes first, or at the same moment, the threads are what the law says. */
import type pg from 'pg';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { dryRethread } from '../../../test/helpers/dry-rethread.ts';
import { parseEmailsJson } from '../../../test/helpers/emails-json.ts';
import { inboundRecord } from '../../../test/helpers/inbound-record.ts';
import { openMailStores, type MailStores } from '../../../test/helpers/mail-stores.ts';
import { addressOf, newMessageId, outboundRecord } from '../../../test/helpers/outbound-record.ts';
import { waitUntil } from '../../../test/helpers/wait-until.ts';
import type { InboundRecord } from '../receive/inbound-ports.ts';
import type { OutboundRecord } from '../send/outbound-ports.ts';
import type { Address } from '../../core/address/address.ts';
import { identityKey } from '../../core/message/identity.ts';
import type { MessageId } from '../../core/message/message-id.ts';
import { meetingKeysOf } from '../../core/thread/meeting-points.ts';
import { inTransaction } from '../../platform/db/transaction.ts';
import { createReparseStore } from '../receive/reparse-store.ts';
import { saveRelayMessageId } from '../send/relay-message-ids.ts';
import { tieToThreads } from './message-ids.ts';

let stores: MailStores;
let pool: pg.Pool;

beforeAll(async () => {
  stores = await openMailStores(8);
  ({ pool } = stores);
});
afterAll(() => stores.end());
beforeEach(async () => {
  await pool.query('truncate email_threads, thread_message_ids, thread_summaries cascade');
});

const OURS = addressOf('sales', 'example.com');
const [ADA, BOB] = [addressOf('ada'), addressOf('bob')];
/** No one knows whose it is. */
const UNKNOWN = 'contact@shop.example' as MessageId;
const INTO = { rule: 'thread_id', matchedMessageId: null } as const;

const keysOf = (from: Address, recipients: readonly Address[]) =>
  meetingKeysOf({ suggested: null, from: [from], recipients, messageId: '' }, OURS);

const mailOf = (from: Address, parents: readonly MessageId[], cc: readonly Address[] = []) =>
  inboundRecord({ from, to: [OURS], cc, meetingKeys: keysOf(from, [OURS, ...cc]) }, parents);

/** With a Message-ID that many emails may have. */
function reused(record: InboundRecord, messageId: MessageId): InboundRecord {
  const others = record.links.filter(({ rule }) => rule !== 'message_id');
  return {
    ...record,
    identity: { ...record.identity, messageId },
    links: [...others, { rule: 'message_id', messageId }],
  };
}

/** The send as it comes back, perhaps with the Message-ID of its relay. */
function copyOf(send: OutboundRecord, messageId: MessageId = send.messageId): InboundRecord {
  const { date, subject, from, to } = send;
  const record = inboundRecord(
    { isSentCopy: true, from, to, date, subject, meetingKeys: keysOf(from, to) },
    send.references,
  );
  return {
    ...reused(record, messageId),
    identity: { messageId, date, subject, from: [from], undated: null },
    identityKey: identityKey({ ...send, messageId, from: [from], undated: null }),
  };
}

const receive = async (record: InboundRecord) => (await stores.inbound.recordInbound(record)).id;

/** The number of the first email in the same thread, for each; the threads are what the law says. */
async function threadsOf(ids: readonly string[]): Promise<readonly number[]> {
  const { rows } = await pool.query<{ id: string; thread_id: string }>(
    'select id, thread_id from emails where id = any ($1::uuid[])',
    [ids],
  );
  expect(await dryRethread(pool)).toEqual([]);
  const threads = ids.map((id) => rows.find((row) => row.id === id)?.thread_id);
  return threads.map((thread) => threads.indexOf(thread));
}

describe('a copy that is recorded before its send', () => {
  it.each(['first', 'last'] as const)('ties no more than its send: the copy comes %s', async (order) => {
    const parents = { inReplyTo: [UNKNOWN], references: [UNKNOWN] };
    const send = outboundRecord({ ...parents, from: OURS, to: [ADA, BOB] });
    if (order === 'first') await receive(copyOf(send));
    const ada = await receive(mailOf(ADA, [UNKNOWN]));
    // It met the copy alone, whose recipients are both of them.
    const bob = await receive(mailOf(BOB, [UNKNOWN], [ADA]));
    await stores.store.recordOutbound(send);
    if (order === 'last') await receive(copyOf(send));
    expect(await threadsOf([send.id, ada, bob])).toEqual([0, 0, 2]);
    const emails = await parseEmailsJson(await stores.store.readThread(send.threadId));
    expect(emails.map(({ id }) => id).sort()).toEqual([send.id, ada].sort());
  });

  it('does not bring the thread that the caller chose together with another one', async () => {
    const slot = 'order@shop.example' as MessageId;
    const asked = reused(mailOf(ADA, [UNKNOWN]), slot);
    const [ada, bob] = [await receive(asked), await receive(mailOf(BOB, [UNKNOWN]))];
    const { threadId } = (await stores.store.readEmail(ada))!;
    const references = [UNKNOWN, slot];
    const send = outboundRecord({ threadId, placement: INTO, references, from: OURS, to: [BOB] });
    await receive(copyOf(send));
    await stores.store.recordOutbound(send);
    expect(await threadsOf([ada, send.id, bob])).toEqual([0, 0, 2]);
  });

  it('keeps its answers, and those to the Message-ID of the relay', async () => {
    const relayed = newMessageId();
    const send = outboundRecord({ from: OURS, to: [ADA, BOB], references: [UNKNOWN], inReplyTo: [UNKNOWN] });
    await stores.store.recordOutbound(send);
    await receive(copyOf(send, relayed));
    const bob = await receive(mailOf(BOB, [UNKNOWN], [ADA]));
    const answers = [await receive(mailOf(ADA, [relayed])), await receive(mailOf(BOB, [send.messageId]))];
    await saveRelayMessageId(pool, { emailId: send.id, messageId: relayed });
    expect(await threadsOf([send.id, ...answers, bob])).toEqual([0, 0, 0, 3]);
    const { rows } = await pool.query('select from emails');
    expect(rows).toHaveLength(4);
  });
});

it('a send into a chosen thread that names what becomes known at this moment leaves no point behind', async () => {
  const [left, right] = [outboundRecord(), outboundRecord()];
  await stores.store.recordOutbound(left);
  await stores.store.recordOutbound(right);
  const relayed = newMessageId();
  const send = outboundRecord({ threadId: right.threadId, placement: INTO, references: [relayed] });
  let recorded: Promise<unknown> = Promise.resolve();
  await inTransaction(pool, async (trx) => {
    await trx.query('select from email_threads where id = $1 for no key update', [left.threadId]);
    await trx.query('update emails set relay_message_id = $2 where id = $1', [left.id, relayed]);
    await tieToThreads(trx, [{ accountId: 'default', messageId: relayed, threadId: left.threadId }]);
    recorded = stores.store.recordOutbound(send);
    await waitUntil('the send waits', async () => {
      const { rows } = await pool.query('select from pg_locks where not granted');
      return rows.length > 0;
    });
  });
  await recorded;
  expect(await threadsOf([left.id, right.id, send.id])).toEqual([0, 1, 1]);
});

it('an email that is read again without its account, or for another one, stays with those that it met', async () => {
  const record = mailOf(ADA, [UNKNOWN]);
  const ids = [await receive(record), await receive(mailOf(ADA, [UNKNOWN]))];
  const again = createReparseStore(pool);
  for (const meetingKeys of [[], keysOf(BOB, [])]) {
    const email = (await again.read(ids[0]!))!;
    await again.replace(email, { ...record, meetingKeys }, false);
  }
  expect(await threadsOf(ids)).toEqual([0, 0]);
  expect(await again.replace((await again.read(ids[0]!))!, record, true)).toEqual({ kind: 'unchanged' });
});
