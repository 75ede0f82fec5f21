/** A law of deletion: whatever was decided about threads, and whatever comes later, rethreading finds nothing to change. */
import fc from 'fast-check';
import { randomUUID } from 'node:crypto';
import type pg from 'pg';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { dryRethread } from '../helpers/dry-rethread.ts';
import { mail, newId, post, type Received } from '../helpers/inbound-mail.ts';
import { createTestDatabase, type TestDatabase } from '../helpers/postgres.ts';
import { sendJson } from '../helpers/running-service.ts';
import { runs } from '../helpers/runs.ts';
import { disposeService, startServiceProcess, type ServiceProcess } from '../helpers/service-process.ts';
import { createTestPool } from '../helpers/test-pool.ts';

let database: TestDatabase;
let service: ServiceProcess;
let pool: pg.Pool;

beforeAll(async () => {
  database = await createTestDatabase();
  service = await startServiceProcess({ env: { DATABASE_URL: database.connectionString } });
  pool = createTestPool(database);
});
afterAll(async () => {
  await pool.end();
  await disposeService(service);
  await database.drop();
});

/** Message-IDs; some belong to no email. */
const IDS = 10;
const id = fc.nat(IDS - 1);
/** Strangers, unless each has the other among the recipients. */
const PEOPLE = ['ada@customer.test', 'bob@customer.test', 'cy@customer.test'];
/** Sends that name different customers keep their threads apart. */
const CUSTOMERS = [randomUUID(), randomUUID()];
const step = fc.oneof(
  {
    weight: 4,
    arbitrary: fc.record(
      {
        act: fc.constant('mail' as const),
        references: fc.array(id, { maxLength: 3 }),
        from: fc.constantFrom(...PEOPLE),
        cc: fc.constantFrom(...PEOPLE),
        /** Its Message-ID, which other emails may have as well. */
        own: id,
      },
      { requiredKeys: ['act', 'references'] },
    ),
  },
  {
    weight: 2,
    arbitrary: fc.record({
      act: fc.constantFrom('split' as const, 'move' as const, 'merge' as const),
      at: id,
      other: id,
    }),
  },
  { weight: 2, arbitrary: fc.record({ act: fc.constant('delete' as const), at: id }) },
  {
    weight: 2,
    arbitrary: fc.record({
      act: fc.constantFrom('sendInto' as const, 'sendAnswering' as const),
      at: id,
      customer: fc.constantFrom(null, ...CUSTOMERS),
    }),
  },
  { weight: 1, arbitrary: fc.record({ act: fc.constant('deleteThread' as const), at: id }) },
);

type EmailRef = Pick<Received, 'id' | 'messageId'>;
type Step = typeof step extends fc.Arbitrary<infer T> ? T : never;

async function threadOf(email: EmailRef): Promise<string | null> {
  const { rows } = await pool.query<{ thread_id: string }>('select thread_id from emails where id = $1', [
    email.id,
  ]);
  return rows[0]?.thread_id ?? null;
}

const SEND = { to: 'ada@customer.test', subject: 'Re: Angebot', text_body: 'ja' };

async function remove(path: string): Promise<void> {
  const { status } = await service.request(path, { method: 'DELETE' });
  if (status !== 200 && status !== 404) throw new Error(`${status}`);
}

/** Decisions about deleted emails, and those that change nothing, are refused; that does not matter here. */
async function decide(kind: 'split' | 'move' | 'merge', email: EmailRef, other: EmailRef): Promise<void> {
  const [thread, another] = [await threadOf(email), await threadOf(other)];
  if (thread === null || another === null) return;
  const body =
    kind === 'merge' ? { thread_id: another } : { email_ids: [kind === 'split' ? email.id : other.id] };
  const { status } = await service.request(`/api/thread/${thread}/${kind}`, { json: body });
  if (status >= 500) throw new Error(`${status}`);
}

/** This history once left a Message-ID in two threads at once: each mail that named it failed. */
const NAMED_AGAIN: Step[] = [
  { act: 'mail', references: [9, 4, 0] },
  { act: 'mail', references: [9] },
  { act: 'mail', references: [2] },
  { act: 'merge', at: 2, other: 7 },
  { act: 'delete', at: 0 },
  { act: 'split', at: 7, other: 1 },
  { act: 'mail', references: [8, 4, 0] },
  { act: 'split', at: 3, other: 5 },
  { act: 'delete', at: 5 },
  { act: 'mail', references: [] },
  { act: 'delete', at: 6 },
  { act: 'move', at: 6, other: 9 },
  { act: 'delete', at: 1 },
  { act: 'mail', references: [8] },
  { act: 'mail', references: [5, 0, 2] },
];

/** The Message-ID of the deleted email once got into a thread that was separated from it by decision. */
const SPLIT_OFF: Step[] = [
  { act: 'mail', references: [2] },
  { act: 'sendInto', at: 0, customer: null },
  { act: 'mail', references: [9] },
  { act: 'split', at: 1, other: 5 },
  { act: 'mail', references: [1, 9] },
  { act: 'delete', at: 1 },
  { act: 'sendAnswering', at: 1, customer: null },
];

/** A Message-ID that a deleted email had named came at last; the email once got a thread of its own, away from those it had been with. */
const COMES_LATER: Step[] = [
  { act: 'mail', references: [] },
  { act: 'mail', references: [0] },
  { act: 'split', at: 1, other: 0 },
  { act: 'mail', references: [4, 0] },
  { act: 'delete', at: 2 },
  { act: 'mail', references: [], own: 4 },
];

let histories = 0;

it('leaves threads as rethreading would make them', async () => {
  const property = fc.asyncProperty(fc.array(step, { minLength: 8, maxLength: 24 }), async (steps) => {
    const history = (histories += 1);
    const ids = Array.from({ length: IDS }, (_, index) =>
      index % 4 === 3 ? `<form${index}.${history}@shop.test>` : newId(),
    );
    const emails: EmailRef[] = [];
    for (const one of steps) {
      if (one.act === 'mail') {
        if (emails.length === IDS - 2) continue;
        const references = one.references.map((index) => ids[index]!);
        const messageId = ids[one.own ?? emails.length]!;
        const raw = mail({
          messageId,
          from: one.from ?? PEOPLE[0]!,
          headers: one.cc === undefined ? [] : [`Cc: ${one.cc}`],
          subject: `Hallo ${emails.length}`,
          ...(references.length === 0 ? {} : { references }),
        });
        const response = await post(service, raw);
        if (response.status !== 200) throw new Error(`${response.status} ${await response.text()}`);
        emails.push((await response.json()) as Received);
        continue;
      }
      const email = emails[one.at % Math.max(emails.length, 1)];
      if (email === undefined) continue;
      switch (one.act) {
        case 'delete':
          await remove(`/api/emails/${email.id}`);
          break;
        case 'deleteThread':
          await remove(`/api/threads/${(await threadOf(email)) ?? email.id}`);
          break;
        case 'sendInto':
        case 'sendAnswering': {
          const thread = await threadOf(email);
          if (emails.length === IDS - 2 || (one.act === 'sendInto' && thread === null)) break;
          const place = one.act === 'sendInto' ? { thread_id: thread } : { in_reply_to: email.messageId };
          const sent = await sendJson(service, { ...SEND, ...place, customer_id: one.customer ?? undefined });
          ids[emails.length] = sent.messageId;
          emails.push(sent);
          break;
        }
        default:
          await decide(one.act, email, emails[one.other % emails.length]!);
      }
      expect(await dryRethread(pool)).toEqual([]);
    }
    expect(await dryRethread(pool)).toEqual([]);
  });
  await fc.assert(property, {
    numRuns: runs(20),
    examples: [[NAMED_AGAIN], [SPLIT_OFF], [COMES_LATER]],
    endOnFailure: true,
  });
}, 600_000);
