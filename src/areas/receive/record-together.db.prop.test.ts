/** Law: recording emails at the same moment gives the same result as recording them one after the other. */
import { createHash, randomUUID } from 'node:crypto';
import fc from 'fast-check';
import type pg from 'pg';
import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest';
import { v7 as uuidv7 } from 'uuid';
import { compareCustomerLinks } from '../../../test/helpers/customer-links.ts';
import { inboundRecord } from '../../../test/helpers/inbound-record.ts';
import { addressOf, newMessageId } from '../../../test/helpers/outbound-record.ts';
import { createTestDatabase, type TestDatabase } from '../../../test/helpers/postgres.ts';
import { createTestPool } from '../../../test/helpers/test-pool.ts';
import { compareSummaries } from '../../../test/helpers/thread-summaries.ts';
import type { InboundRecord } from './inbound-ports.ts';
import { createInboundStore } from './record-inbound.ts';
import { runs } from '../../../test/helpers/runs.ts';

const CUSTOMERS = ['11111111-1111-4111-8111-111111111111', '22222222-2222-4222-8222-222222222222'] as const;
/** One belongs to a customer by address, two by domain; one is claimed by two customers, one by none. */
const PEOPLE = [
  addressOf('ada', 'one.test'),
  addressOf('bob', 'two.test'),
  addressOf('cem', 'two.test'),
  addressOf('dora', 'three.test'),
  addressOf('eva', 'four.test'),
] as const;

let database: TestDatabase;
let pool: pg.Pool;

beforeAll(async () => {
  database = await createTestDatabase();
  pool = createTestPool(database, 8);
});
afterAll(async () => {
  await pool.end();
  await database.drop();
});
beforeEach(async () => {
  await pool.query('truncate email_threads, customer_addresses, customer_domains cascade');
  await pool.query('truncate thread_message_ids, thread_summaries cascade');
  await pool.query(
    `insert into customer_addresses (address, customer_id, origin, is_applied) values
      ('ada@one.test', $1, 'registered', true), ('dora@three.test', $1, 'learned', true),
      ('dora@three.test', $2, 'learned', true)`,
    [...CUSTOMERS],
  );
  await pool.query(`insert into customer_domains (domain, customer_id) values ('two.test', $1)`, [
    CUSTOMERS[1],
  ]);
});

interface Plan {
  readonly sender: number;
  readonly recipient: number;
  /** The emails that it answers: any, or only earlier ones. */
  readonly parents: readonly number[];
  readonly isSentCopy: boolean;
  readonly isRead: boolean;
  readonly hasAttachment: boolean;
  /** Number of an earlier email that this one repeats, having come by another path; null for none. */
  readonly repeats: number | null;
}

const plansWith = (maxParents: number) =>
  fc.array(
    fc.record({
      sender: fc.nat(PEOPLE.length - 1),
      recipient: fc.nat(PEOPLE.length - 1),
      parents: fc.array(fc.nat(30), { maxLength: maxParents }),
      isSentCopy: fc.constantFrom(false, false, false, true),
      isRead: fc.boolean(),
      hasAttachment: fc.constantFrom(false, false, true),
      repeats: fc.option(fc.nat(30), { nil: null, freq: 6 }),
    }),
    { minLength: 2, maxLength: 30 },
  );

/** @param allParents emails answer later ones too, so that threads merge */
function toRecords(accountId: string, plans: readonly Plan[], allParents: boolean): readonly InboundRecord[] {
  const ids = plans.map(() => newMessageId());
  const records: InboundRecord[] = [];
  for (const [index, plan] of plans.entries()) {
    const same = plan.repeats === null ? undefined : records[plan.repeats];
    if (same !== undefined) {
      records.push({
        ...same,
        id: uuidv7(),
        newThreadId: uuidv7(),
        attachments: [],
        isSentCopy: plan.isSentCopy,
      });
      continue;
    }
    const among = allParents ? ids : ids.slice(0, index);
    const parents = among.length === 0 ? [] : plan.parents.map((parent) => among[parent % among.length]!);
    const messageId = ids[index]!;
    const person = PEOPLE[plan.sender]!;
    const own = addressOf('sales', 'example.com');
    const from = plan.isSentCopy ? own : person;
    const to = [plan.isSentCopy ? person : own, PEOPLE[plan.recipient]!];
    const base = inboundRecord({}, [...new Set(parents)]);
    records.push({
      ...base,
      accountId,
      identity: { ...base.identity, messageId, from: [from] },
      identityKey: createHash('sha256').update(messageId).digest('hex'),
      links: [
        ...base.links.filter(({ rule, messageId: parent }) => rule !== 'message_id' && parent !== messageId),
        { rule: 'message_id', messageId },
      ],
      from,
      to,
      isSentCopy: plan.isSentCopy,
      isRead: plan.isRead,
      attachments: plan.hasAttachment
        ? [
            {
              id: uuidv7(),
              filename: 'a.pdf',
              contentType: 'application/pdf',
              sizeBytes: 1,
              storagePath: `${accountId}/${base.id}/a.pdf`,
              sha256: '00'.repeat(32),
              contentId: null,
              inline: false,
            },
          ]
        : [],
    });
  }
  return records;
}

/**
 * The records, without values that differ each time; threads by the place of their first email.
 *
 * @param withOrder also the values that depend on which email was recorded first
 */
async function readRecorded(records: readonly InboundRecord[], withOrder: boolean) {
  const { rows } = await pool.query<Record<string, unknown> & { id: string; thread_id: string }>(
    `select e.id, e.thread_id, e.message_id, e.direction, e.state, e.state_detail,
      e.customer_id, e.customer_source, e.placement_rule, e.placement_message_id, e.new_participant, e.in_reply_to, e.from_address, e.to_addresses,
      u.email_id is null as is_read, e.raw,
      array(select filename from email_attachments a where a.email_id = e.id) as files,
      array(select address from email_deliveries d where d.email_id = e.id order by ordinal) as takers
    from emails e left join unread_emails u on u.email_id = e.id
    where e.account_id = $1`,
    [records[0]?.accountId],
  );
  const byId = new Map(rows.map((row) => [row.id, row]));
  const found = records.flatMap(({ id }) => byId.get(id) ?? []);
  const threads = found.map((row) => row.thread_id);
  const places = new Map(records.map(({ identity }, index) => [identity.messageId as string, index]));
  return found.map((row) => ({
    content: [row['direction'], row['state'], row['state_detail'], row['from_address'], row['to_addresses']],
    is_read: row['is_read'],
    raw: row['raw'],
    files: row['files'],
    takers: row['takers'],
    in_reply_to: (row['in_reply_to'] as string[]).map((parent) => places.get(parent)),
    message: places.get(row['message_id'] as string),
    thread: threads.indexOf(row.thread_id),
    place: records.findIndex((record) => record.id === row.id),
    order: withOrder
      ? [
          row['placement_rule'],
          places.get(row['placement_message_id'] as string),
          row['new_participant'],
          row['customer_id'],
          row['customer_source'],
        ]
      : null,
  }));
}

async function requireSame(plans: readonly Plan[], allParents: boolean): Promise<void> {
  const [alone, together] = [randomUUID(), randomUUID()].map((account) =>
    toRecords(account, plans, allParents),
  ) as [readonly InboundRecord[], readonly InboundRecord[]];
  const store = createInboundStore(pool);
  const expected = [];
  for (const record of alone) expected.push(await store.recordInbound(record));
  const results = await Promise.all(together.map((record) => store.recordInbound(record)));

  expect(results.map(({ kind }) => kind).filter((kind) => kind === 'recorded')).toHaveLength(
    expected.filter(({ kind }) => kind === 'recorded').length,
  );
  expect(await readRecorded(together, !allParents)).toEqual(await readRecorded(alone, !allParents));
  const { stored, expected: right } = await compareCustomerLinks(database.connectionString);
  expect(stored).toEqual(right);
  const summaries = await compareSummaries(pool);
  expect(summaries.found).toEqual(summaries.expected);
}

it('in conversations where each email answers earlier ones, down to the reasons', async () => {
  await fc.assert(
    fc.asyncProperty(plansWith(1), (plans) => requireSame(plans, false)),
    { numRuns: runs(25) },
  );
});

it('in any conversations, whose threads merge while they are recorded', async () => {
  await fc.assert(
    fc.asyncProperty(plansWith(3), (plans) => requireSame(plans, true)),
    { numRuns: runs(25) },
  );
});
