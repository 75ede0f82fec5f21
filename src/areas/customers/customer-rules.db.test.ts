import { randomUUID } from 'node:crypto';
import type pg from 'pg';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { parseEmailsJson } from '../../../test/helpers/emails-json.ts';
import { inboundRecord } from '../../../test/helpers/inbound-record.ts';
import { openMailStores, type MessageStore } from '../../../test/helpers/mail-stores.ts';
import { addressOf, newMessageId, outboundRecord } from '../../../test/helpers/outbound-record.ts';
import type { CustomerLinker, CustomerStore } from './customer-ports.ts';
import type { InboundStore } from '../receive/inbound-ports.ts';
import type { Address } from '../../core/address/address.ts';
import { createCustomerStore } from './customer-rules.ts';
import { createCustomerLinker } from './link-customers.ts';

let pool: pg.Pool;
let store: MessageStore;
let inbound: InboundStore;
let customers: CustomerStore;
let linker: CustomerLinker;
let end: () => Promise<void>;

beforeAll(async () => {
  const stores = await openMailStores(8);
  ({ pool, store, inbound, end } = stores);
  customers = createCustomerStore(pool, pool);
  linker = createCustomerLinker(pool, () => false);
});
afterAll(() => end());

/** A domain of its own for each test. */
const newDomain = () => `${randomUUID()}.test`;
const linkAll = async () => {
  while (await linker.linkSome());
};

async function receive(from: Address, fields: Parameters<typeof inboundRecord>[0] = {}): Promise<string> {
  return (await inbound.recordInbound(inboundRecord({ from, ...fields }))).id;
}

async function send(to: readonly Address[], customerId: string | null = null): Promise<string> {
  const record = outboundRecord({ to, customerId });
  await store.recordOutbound(record);
  return record.id;
}

async function ownerOf(id: string): Promise<string> {
  const email = await store.readEmail(id);
  return `${email!.customerId ?? 'nobody'} ${email!.customerSource ?? '-'}`;
}

const put = (
  customerId: string,
  addresses: string[],
  domains: string[] = [],
  companyId: string | null = null,
) => customers.replaceRegistration(customerId, { addresses, domains }, companyId, undefined);

describe('registered rules', () => {
  it('link past mail of both directions, move it and leave it again', async () => {
    const domain = newDomain();
    const [one, two] = [randomUUID(), randomUUID()];
    const ada = addressOf('Ada', domain);
    const ids = [await receive(ada), await send([ada]), await receive(addressOf('bob', `mail.${domain}`))];

    expect(await put(one, [], [domain, `*.${domain}`])).toEqual({ linked: 3, moved: 0, unlinked: 0 });
    for (const id of ids) expect(await ownerOf(id)).toBe(`${one} domain`);
    expect(await put(one, [], [domain, `*.${domain}`])).toEqual({ linked: 0, moved: 0, unlinked: 0 });

    expect(await put(two, [`ada@${domain}`])).toEqual({ linked: 0, moved: 2, unlinked: 0 });
    expect(await Promise.all(ids.map(ownerOf))).toEqual([
      `${two} address`,
      `${two} address`,
      `${one} domain`,
    ]);

    expect(await put(one, [])).toEqual({ linked: 0, moved: 0, unlinked: 1 });
    expect(await put(two, [])).toEqual({ linked: 0, moved: 0, unlinked: 2 });
    expect(await ownerOf(ids[2]!)).toBe('nobody -');
  });

  it('never touch what a send named, nor its thread', async () => {
    const domain = newDomain();
    const [named, other] = [randomUUID(), randomUUID()];
    const ada = addressOf('ada', domain);
    const sent = outboundRecord({ to: [ada], customerId: named });
    await store.recordOutbound(sent);
    const { links, inReplyTo, references } = inboundRecord({}, [sent.messageId]);
    const answer = await receive(ada, { links, inReplyTo, references });
    expect(await put(other, [`ada@${domain}`])).toEqual({ linked: 0, moved: 0, unlinked: 0 });
    expect(await ownerOf(sent.id)).toBe(`${named} explicit`);
    expect(await ownerOf(answer)).toBe(`${named} thread`);
  });

  it('give the company of their customer where neither send nor thread names one', async () => {
    const domain = newDomain();
    const [customer, company, named] = [randomUUID(), randomUUID(), randomUUID()];
    const received = await receive(addressOf('ada', domain));
    const sent = outboundRecord({ customerId: customer, companyId: named });
    await store.recordOutbound(sent);
    const companyOf = async (id: string) => {
      const email = await store.readEmail(id);
      return [email!.companyId, email!.companySource];
    };
    await put(customer, [], [domain], company);
    expect(await companyOf(received)).toEqual([company, 'registration']);
    expect(await companyOf(sent.id)).toEqual([named, 'explicit']);
    const later = await receive(addressOf('bob', domain));
    expect(await companyOf(later)).toEqual([company, 'registration']);
    await put(customer, [], [domain]);
    expect(await companyOf(received)).toEqual([null, null]);
    expect(await companyOf(sent.id)).toEqual([named, 'explicit']);
  });

  it.each([
    ['quotes and a backslash', 'a"b\\c d', 'a"b\\c d'],
    ['a separator of JSON', 'a", "b', 'a", "b'],
    ['an apostrophe and wildcards', "o'neil:*&!|%_", "o'neil:*&!|%_"],
    ['other letters', 'jürgen用户', 'jürgen用户'],
  ])('find past mail of a local part with %s', async (_, localPart) => {
    const domain = newDomain();
    const customer = randomUUID();
    const address = addressOf(localPart, domain);
    const ids = [await receive(address), await send([addressOf('other', newDomain()), address])];
    const stored = (await store.readEmail(ids[0]!))!.from.address;
    expect(await put(customer, [stored])).toEqual({ linked: 2, moved: 0, unlinked: 0 });
    expect(await put(customer, [], [domain])).toEqual({ linked: 0, moved: 0, unlinked: 0 });
    expect(await ownerOf(ids[0]!)).toBe(`${customer} domain`);
  });

  it('do not exclude mail whose sender is not an address', async () => {
    const before = await pool.query('select from emails');
    await receive(addressOf('x'.repeat(5000), newDomain()));
    await receive({ name: '', localPart: 'no address at all', domain: '' });
    await receive({ name: '', localPart: '@'.repeat(3000), domain: '' });
    await inbound.recordInbound(inboundRecord({ from: null }));
    await receive(addressOf('ada', `${'a.'.repeat(3000)}test`));
    await receive(addressOf('ada', newDomain()), {
      isSentCopy: true,
      to: Array.from({ length: 5000 }, (_, index) =>
        addressOf(`${'y'.repeat(index % 400)}${index}`, newDomain()),
      ),
    });
    expect((await pool.query('select from emails')).rowCount).toBe((before.rowCount ?? 0) + 6);
  });
});

it('records an answer that names a company, to an address that several customers have', async () => {
  const domain = newDomain();
  const company = randomUUID();
  for (const customer of [randomUUID(), randomUUID()]) await put(customer, [`ada@${domain}`]);
  const parents = [newMessageId()];
  const record = outboundRecord({
    to: [addressOf('ada', domain)],
    companyId: company,
    inReplyTo: parents,
    references: parents,
  });
  await store.recordOutbound(record);
  expect(await ownerOf(record.id)).toBe('nobody ambiguous');
  expect((await store.readEmail(record.id))!.companyId).toBe(company);
});

describe('learned addresses', () => {
  it('link past mail, and unlink it when another customer is learned for them', async () => {
    const domain = newDomain();
    const [one, two] = [randomUUID(), randomUUID()];
    const ada = addressOf('ada', domain);
    const past = await receive(ada);
    await send([ada], one);
    await linkAll();
    expect(await ownerOf(past)).toBe(`${one} address`);
    await send([ada], two);
    await linkAll();
    expect(await ownerOf(past)).toBe('nobody ambiguous');
    expect(await ownerOf(await send([ada]))).toBe('nobody ambiguous');
    expect(await ownerOf(await send([ada, addressOf('bob', domain)]))).toBe('nobody ambiguous');

    // A rule that was set by hand decides.
    expect((await put(two, [`ada@${domain}`])).linked).toBe(3);
    expect(await ownerOf(past)).toBe(`${two} address`);
    expect((await customers.readRegistration(one)).addresses).toEqual([
      {
        address: `ada@${domain}`,
        origin: 'learned',
        accountIds: null,
        status: 'overruled',
        otherCustomerIds: [two],
      },
    ]);
  });

  it('are not learned again once they were removed, until they are set by hand', async () => {
    const domain = newDomain();
    const customer = randomUUID();
    const ada = addressOf('ada', domain);
    await send([ada, addressOf('bob', domain)], customer);
    await customers.changeAddress(customer, `ada@${domain}`, 'remove');
    await put(customer, [`bob@${domain}`]);
    await send([ada], customer);
    await linkAll();
    expect(await ownerOf(await receive(ada))).toBe('nobody -');
    expect((await customers.readRegistration(customer)).addresses).toEqual([
      {
        address: `bob@${domain}`,
        origin: 'registered',
        accountIds: null,
        status: 'decides',
        otherCustomerIds: [],
      },
    ]);
    await put(customer, [`ada@${domain}`]);
    expect(await ownerOf(await receive(ada))).toBe(`${customer} address`);
  });
});

describe('an address that several customers claim', () => {
  it(
    'is listed page by page, with the mail that has no customer because of it',
    { tags: ['long'] },
    async () => {
      const domain = newDomain();
      const ids = [randomUUID(), randomUUID()].sort();
      const claimed = [`a@${domain}`, `b@${domain}`];
      for (const id of ids) await put(id, claimed, [`*.${domain}`, `only-${id}.test`]);
      const mails = [
        await receive(addressOf('a', domain), { date: new Date('2026-03-01T12:00:00Z') }),
        await send([addressOf('b', domain), addressOf('a', domain)]),
        await receive(addressOf('x', `deep.mail.${domain}`), { date: new Date('2026-03-02T12:00:00Z') }),
      ];

      const all = await customers.listAmbiguous(null, 1000);
      const ours = all.filter(({ value }) => value.endsWith(domain));
      expect(ours).toEqual([
        { kind: 'address', value: `a@${domain}`, customerIds: ids, customerCount: 2, emailCount: 2 },
        { kind: 'address', value: `b@${domain}`, customerIds: ids, customerCount: 2, emailCount: 1 },
        { kind: 'domain', value: `*.${domain}`, customerIds: ids, customerCount: 2, emailCount: 1 },
      ]);
      const paged = [];
      for (let after = null; ;) {
        const [claim] = await customers.listAmbiguous(after, 1);
        if (claim === undefined) break;
        paged.push(claim);
        after = claim as never;
      }
      expect(paged).toEqual(all);

      const list = async (rule: Parameters<typeof customers.listAmbiguousEmails>[0]['rule']) =>
        (
          await parseEmailsJson(
            (await customers.listAmbiguousEmails({ rule, limit: 1000, after: null })).emails,
          )
        ).map(({ id }) => id);
      expect(await list({ kind: 'address', value: `a@${domain}` })).toEqual(
        [mails[1], mails[0]].sort().reverse(),
      );
      expect(await list({ kind: 'domain', value: `*.${domain}` })).toEqual([mails[2]]);
      expect(await list(null)).toEqual(expect.arrayContaining(mails));

      await put(ids[0]!, []);
      expect(
        (await customers.listAmbiguous(null, 1000)).filter(({ value }) => value.endsWith(domain)),
      ).toEqual([]);
      expect(await list({ kind: 'domain', value: `*.${domain}` })).toEqual([]);
    },
  );
});

it('records mail while rules change, without waiting, and links it by the new rules afterwards', async () => {
  const domain = newDomain();
  const customer = randomUUID();
  const ada = addressOf('ada', domain);
  const past = await receive(ada);
  // A change of rules that has done its work and has not committed yet: it waits for the lock of a thread.
  const blocker = await pool.connect();
  await blocker.query('begin');
  await blocker.query(
    'select from email_threads where id = (select thread_id from emails where id = $1) for update',
    [past],
  );
  const change = put(customer, [`ada@${domain}`]);
  await expect
    .poll(async () => {
      const { rows } = await pool.query(
        `select from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`,
      );
      return rows.length;
    })
    .toBeGreaterThan(0);

  const meanwhile = [await receive(ada), await send([ada]), await send([addressOf('new', domain)], customer)];
  expect(await ownerOf(meanwhile[0]!)).toBe('nobody -');
  await blocker.query('commit');
  blocker.release();
  await change;
  await linkAll();
  expect(await Promise.all([past, ...meanwhile].map(ownerOf))).toEqual([
    `${customer} address`,
    `${customer} address`,
    `${customer} address`,
    `${customer} explicit`,
  ]);
  // The address that the send taught was not lost either.
  expect(await ownerOf(await receive(addressOf('new', domain)))).toBe(`${customer} address`);
});

it('keeps the company of a customer whose addresses are set without naming one', async () => {
  const domain = newDomain();
  const [customer, company] = [randomUUID(), randomUUID()];
  const companyNow = async () => (await customers.readRegistration(customer)).companyId;
  await put(customer, [`ada@${domain}`], [], company);
  await customers.replaceRegistration(
    customer,
    { addresses: [`bob@${domain}`], domains: [] },
    undefined,
    undefined,
  );
  expect(await companyNow()).toBe(company);
  await customers.replaceRegistration(customer, { addresses: [], domains: [] }, null, undefined);
  expect(await companyNow()).toBeNull();
});
