/** What a key that is limited to accounts changes for other accounts, and finds out about them: nothing. */
import { randomUUID } from 'node:crypto';
import { beforeAll, describe, expect, it } from 'vitest';
import { backgroundWorkIsDone } from '../helpers/background-work.ts';
import { deliveryReport } from '../helpers/bounce-mail.ts';
import { mail, newId, receive } from '../helpers/inbound-mail.ts';
import { later, sendBody, useKeyService, type Json, type MadeKey } from '../helpers/key-service.ts';
import { waitUntil } from '../helpers/wait-until.ts';

const keys = useKeyService();
const { ask, makeKey } = keys;

const linked = () => backgroundWorkIsDone(keys.database.connectionString);

async function send(secret: string | null, fields: Json, headers: Record<string, string> = {}) {
  const { status, json } = await ask(secret, '/api/send', { json: sendBody(fields), headers });
  expect([200, 202]).toContain(status);
  return json['id'] as string;
}

/** The customer of a new email of this sender, in each of the three accounts. */
async function customersOf(from: string): Promise<readonly unknown[]> {
  await linked();
  return Promise.all(
    ['sales', 'support', 'billing'].map(async (account) => {
      const { id } = await receive(keys.service, mail({ from }), `?account_id=${account}`);
      return (await ask(null, `/api/emails/${id}`)).json['customer_id'];
    }),
  );
}

const addressesOf = async (customer: string) =>
  (await ask(null, `/api/customer/${customer}/addresses`)).json['addresses'];

const newAddress = () => `max-${randomUUID().slice(0, 8)}@taught.test`;

describe('a send of a key that is limited to accounts', () => {
  let key: MadeKey;
  beforeAll(async () => {
    key = await makeKey({ rights: ['send'], account_ids: ['sales'] });
  });

  it('teaches the address of its customer for these accounts alone', async () => {
    const [address, customer] = [newAddress(), randomUUID()];
    const past = await receive(keys.service, mail({ from: address }), '?account_id=support');
    await send(key.secret, { to: address, customer_id: customer });
    expect(await customersOf(address)).toEqual([customer, null, null]);
    expect((await ask(null, `/api/emails/${past.id}`)).json['customer_id']).toBeNull();
    expect(await addressesOf(customer)).toEqual([
      { address, origin: 'learned', account_ids: ['sales'], status: 'decides', other_customer_ids: [] },
    ]);

    const two = await makeKey({ rights: ['send'], account_ids: ['billing', 'support'] });
    const [other, otherCustomer] = [newAddress(), randomUUID()];
    await send(two.secret, { account_id: 'support', to: other, customer_id: otherCustomer });
    expect(await customersOf(other)).toEqual([null, otherCustomer, otherCustomer]);
  });

  it('neither takes nor blurs what another account knows', async () => {
    const [address, customer, forged] = [newAddress(), randomUUID(), randomUUID()];
    await send(null, { account_id: 'support', to: address, customer_id: customer });
    await send(key.secret, { to: address, customer_id: forged });
    expect(await customersOf(address)).toEqual([null, customer, customer]);
    expect(await addressesOf(customer)).toMatchObject([
      { status: 'ambiguous', other_customer_ids: [forged] },
    ]);
    // What is taught for all accounts is not taught again for one.
    await send(key.secret, { to: address, customer_id: customer });
    expect(await addressesOf(customer)).toMatchObject([{ address, account_ids: null }]);
  });

  it('teaches no more once an operator has removed the address', async () => {
    const [address, customer] = [newAddress(), randomUUID()];
    await send(key.secret, { to: address, customer_id: customer });
    await ask(null, `/api/customer/${customer}/addresses/${address}`, { method: 'DELETE' });
    await send(key.secret, { to: address, customer_id: customer });
    expect(await customersOf(address)).toEqual([null, null, null]);
  });

  it('is unlearned when it is deleted, and what another key taught stays', async () => {
    const [address, customer] = [newAddress(), randomUUID()];
    const billing = await makeKey({ rights: ['send'], account_ids: ['billing'] });
    const first = await send(key.secret, { to: address, customer_id: customer });
    await send(billing.secret, { to: address, customer_id: customer });
    await linked();
    await ask(null, `/api/emails/${first}`, { method: 'DELETE' });
    expect(await customersOf(address)).toEqual([null, null, customer]);
  });
});

describe('a send', () => {
  it('teaches nothing while it waits, nor once it is cancelled', async () => {
    const [address, customer] = [newAddress(), randomUUID()];
    const id = await send(null, { to: address, customer_id: customer, send_at: later() });
    expect(await customersOf(address)).toEqual([null, null, null]);
    expect((await ask(null, `/api/emails/${id}/cancel`, { method: 'POST' })).status).toBe(200);
    expect(await customersOf(address)).toEqual([null, null, null]);
    expect(await addressesOf(customer)).toEqual([]);
  });

  it('teaches once it is accepted, also when that is later', async () => {
    const [address, customer] = [newAddress(), randomUUID()];
    const queued = await send(null, { to: address, customer_id: customer }, { prefer: 'respond-async' });
    await waitUntil('the email is sent', async () => {
      const { json } = await ask(null, `/api/emails/${queued}`);
      return json['state'] === 'sent';
    });
    expect(await customersOf(address)).toEqual([customer, customer, customer]);
  });
});

describe('a delivery report', () => {
  it('that a key of one account hands in suppresses no address for the others', async () => {
    const { secret } = await makeKey({ rights: ['send', 'receive'], account_ids: ['sales'] });
    const address = newAddress();
    const { json } = await ask(secret, '/api/send', { json: sendBody({ to: address }) });
    const report = (by: string | null) =>
      ask(by, '/api/inbound?account_id=sales', {
        method: 'POST',
        body: deliveryReport(String(json['messageId']), [{ address }], { messageId: newId() }),
        headers: { 'content-type': 'message/rfc822' },
      });
    expect((await report(secret)).status).toBe(200);
    const { recipients } = (await ask(null, `/api/emails/${String(json['id'])}`)).json;
    expect(recipients).toMatchObject([{ address, report: { outcome: 'bounced_hard' } }]);
    expect((await ask(null, `/api/suppressions/${address}`)).status).toBe(404);
    await send(null, { account_id: 'support', to: address });
    // Of a mail server, it counts.
    expect((await report(null)).status).toBe(200);
    expect((await ask(null, `/api/suppressions/${address}`)).status).toBe(200);
  });
});

describe('a search for customers', () => {
  it('by addresses that the key may not read finds nothing', async () => {
    const { secret } = await makeKey({ rights: ['read'], account_ids: ['sales'] });
    const customer = randomUUID();
    const name = `Hidden ${customer.slice(0, 8)}`;
    const [address, domain] = [`secret@${customer.slice(0, 8)}.test`, `${customer.slice(9, 18)}.test`];
    const registration = { name, addresses: [address], domains: [domain] };
    await ask(null, `/api/customer/${customer}/addresses`, { method: 'PUT', json: registration });
    await send(null, { account_id: 'sales', to: 'known@else.test', customer_id: customer });
    await linked();
    const find = async (by: string | null, q: string) =>
      ((await ask(by, `/api/customers?q=${encodeURIComponent(q)}`)).json['customers'] as Json[]).length;
    expect(await find(secret, name)).toBe(1);
    for (const q of ['secret@', address, customer.slice(9, 13), domain]) {
      expect([q, await find(null, q), await find(secret, q)]).toEqual([q, 1, 0]);
    }
  });
});
