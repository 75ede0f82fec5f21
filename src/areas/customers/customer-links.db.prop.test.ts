/**
 * Law: whatever is sent, received, merged and registered, in any order and at the same moment, every email and thread ends with the
 * customer and company that the final rules give it.
 */
import fc from 'fast-check';
import type pg from 'pg';
import { afterAll, afterEach, beforeAll, expect, it } from 'vitest';
import { compareCustomerLinks } from '../../../test/helpers/customer-links.ts';
import { inboundRecord } from '../../../test/helpers/inbound-record.ts';
import { openMailStores, type MessageStore } from '../../../test/helpers/mail-stores.ts';
import { addressOf, newMessageId, outboundRecord } from '../../../test/helpers/outbound-record.ts';
import type { TestDatabase } from '../../../test/helpers/postgres.ts';
import type { CustomerLinker, CustomerStore } from './customer-ports.ts';
import type { InboundStore } from '../receive/inbound-ports.ts';
import type { MessageId } from '../../core/message/message-id.ts';
import { createCustomerStore } from './customer-rules.ts';
import { createCustomerLinker } from './link-customers.ts';
import { runs } from '../../../test/helpers/runs.ts';

let database: TestDatabase;
let pool: pg.Pool;
let store: MessageStore;
let inbound: InboundStore;
let customers: CustomerStore;
let linker: CustomerLinker;
let end: () => Promise<void>;

beforeAll(async () => {
  const stores = await openMailStores(12);
  ({ database, pool, store, inbound, end } = stores);
  customers = createCustomerStore(pool, pool);
  linker = createCustomerLinker(pool, () => false);
});
afterAll(() => end());
afterEach(async () => {
  await pool.query(
    'truncate emails, email_threads, customer_addresses, customer_domains, customer_companies cascade',
  );
});

const uuid = (digit: number) => `00000000-0000-4000-8000-00000000000${digit}`;
const customerId = fc.constantFrom(uuid(1), uuid(2), uuid(3));
const companyId = fc.constantFrom(uuid(8), uuid(9));
const sometimes = <T>(arbitrary: fc.Arbitrary<T>) => fc.option(arbitrary, { nil: null, freq: 1 });

/** Two people of one company, two of its subdomains, two of another company; and the sender itself. */
const PEOPLE = [
  addressOf('ada', 'acme.test'),
  addressOf('Bob', 'acme.test'),
  addressOf('cid', 'mail.acme.test'),
  addressOf('dan', 'de.mail.acme.test'),
  addressOf('eve', 'other.test'),
  addressOf('fay', 'other.test'),
];
const SENDER = addressOf('sales', 'example.com');
const ADDRESSES = PEOPLE.map(({ localPart, domain }) => `${localPart.toLowerCase()}@${domain}`);
const DOMAINS = ['acme.test', '*.acme.test', '*.mail.acme.test', 'other.test', '*.test', 'de.mail.acme.test'];

const person = fc.constantFrom(...PEOPLE);
const recipients = fc.uniqueArray(fc.constantFrom(...PEOPLE, SENDER), { minLength: 1, maxLength: 3 });

/** Emails are named by number; a number that no email has yet is an id that another email refers to. */
const mailNumber = fc.nat(7);

const step = fc.oneof(
  {
    weight: 4,
    arbitrary: fc.record({
      kind: fc.constant('send' as const),
      to: recipients,
      cc: fc.array(person, { maxLength: 1 }),
      customerId: sometimes(customerId),
      companyId: fc.option(companyId, { nil: null, freq: 3 }),
      answers: sometimes(mailNumber),
    }),
  },
  {
    weight: 5,
    arbitrary: fc.record({
      kind: fc.constant('receive' as const),
      from: person,
      answers: fc.uniqueArray(mailNumber, { maxLength: 2 }),
      isSentCopy: fc.boolean(),
    }),
  },
  {
    weight: 3,
    arbitrary: fc.record({
      kind: fc.constant('register' as const),
      customerId,
      addresses: fc.subarray(ADDRESSES),
      domains: fc.subarray(DOMAINS),
      companyId: sometimes(companyId),
    }),
  },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('link' as const) }) },
);
type Step = typeof step extends fc.Arbitrary<infer T> ? T : never;

async function carryOut(step: Step, number: number, ids: readonly MessageId[]): Promise<void> {
  const ownId = ids[number % ids.length]!;
  switch (step.kind) {
    case 'send': {
      const parents = step.answers === null ? [] : [ids[step.answers]!];
      await store.recordOutbound(
        outboundRecord({
          messageId: newMessageId(),
          to: step.to,
          cc: step.cc,
          customerId: step.customerId,
          companyId: step.companyId,
          inReplyTo: parents,
          references: parents,
        }),
      );
      return;
    }
    case 'receive': {
      const parents = step.answers.map((answer) => ids[answer]!);
      const record = inboundRecord(
        { from: step.isSentCopy ? SENDER : step.from, isSentCopy: step.isSentCopy },
        parents,
      );
      await inbound.recordInbound({
        ...record,
        to: step.isSentCopy ? [step.from] : record.to,
        identity: { ...record.identity, messageId: ownId },
        links: [
          ...record.links.filter(({ rule }) => rule !== 'message_id'),
          { rule: 'message_id', messageId: ownId },
        ],
      });
      return;
    }
    case 'register':
      await customers.replaceRegistration(step.customerId, step, step.companyId, undefined);
      return;
    case 'link':
      await linker.linkSome();
  }
}

async function check(): Promise<void> {
  while (await linker.linkSome());
  const { stored, expected } = await compareCustomerLinks(database.connectionString);
  expect(stored).toEqual(expected);
  const { rows } = await pool.query('select from customer_relinks');
  expect(rows).toHaveLength(0);
  await pool.query(
    'truncate emails, email_threads, customer_addresses, customer_domains, customer_companies cascade',
  );
}

it('links as the rules say in the end, one step after the other', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(step, { minLength: 1, maxLength: 14 }), async (steps) => {
      const ids = Array.from({ length: 8 }, newMessageId);
      for (const [number, next] of steps.entries()) await carryOut(next, number, ids);
      await check();
    }),
    { numRuns: runs(60), endOnFailure: true },
  );
});

it('links as the rules say in the end, all at the same moment', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(step, { minLength: 4, maxLength: 24 }), async (steps) => {
      const ids = Array.from({ length: 8 }, newMessageId);
      await Promise.all(steps.map((next, number) => carryOut(next, number, ids)));
      await check();
    }),
    { numRuns: runs(60), endOnFailure: true },
  );
});
