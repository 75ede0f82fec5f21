/** Suppressed addresses: their list, and their effect on the send queue. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { deliveryReport } from '../helpers/bounce-mail.ts';
import { BounceService, freshAddress } from '../helpers/bounce-service.ts';
import { receive } from '../helpers/inbound-mail.ts';
import { query } from '../helpers/query.ts';

let bounces: BounceService;

beforeAll(async () => {
  bounces = await BounceService.start();
});
afterAll(() => bounces.end());

describe('the send queue', () => {
  it('does not try a recipient again that bounced meanwhile', async () => {
    const [reached, late] = [freshAddress(), freshAddress('later.test')];
    const sent = await bounces.send({ to: [reached, late] });
    expect((await bounces.emailOf(sent.id)).state).toBe('deferred');
    await receive(bounces.service, deliveryReport(sent.messageId, [{ address: late, status: '5.4.1' }]));
    await expect.poll(async () => (await bounces.emailOf(sent.id)).state).toBe('sent');
    const detail = await bounces.emailOf(sent.id);
    expect(detail.recipients.map(({ state }) => state)).toEqual(['accepted', 'rejected']);
    expect(detail.next_attempt_at).toBeNull();
    expect(detail.state_detail).toContain('1 of 2 recipients were not reached');
  });

  it('hands over nothing to an address that was suppressed meanwhile', async () => {
    const [blocked, fine] = [freshAddress(), freshAddress()];
    const sendAt = new Date(Date.now() + 3_600_000).toISOString();
    const both = await bounces.send({ to: [blocked, fine], send_at: sendAt });
    const alone = await bounces.send({ to: blocked, send_at: sendAt });
    expect((await bounces.suppress(blocked, { note: 'auf Wunsch' })).status).toBe(200);
    await query(
      bounces.database.connectionString,
      `update send_queue set due_at = now(), send_at = null where email_id in ('${both.id}', '${alone.id}')`,
    );
    await expect.poll(async () => (await bounces.emailOf(both.id)).state, { interval: 100 }).toBe('sent');
    await expect.poll(async () => (await bounces.emailOf(alone.id)).state).toBe('failed');
    expect((await bounces.emailOf(both.id)).recipients.map(({ state }) => state)).toEqual([
      'rejected',
      'accepted',
    ]);
    expect((await bounces.emailOf(alone.id)).state_detail).toContain('on the suppression list');
    expect(bounces.sink.messages.flatMap(({ rcptTo }) => rcptTo)).not.toContain(blocked);
    expect(bounces.sink.byMessageId(both.messageId).map(({ rcptTo }) => rcptTo)).toEqual([[fine]]);

    await bounces.lift(blocked);
    const retried = await bounces.service.request(`/api/emails/${alone.id}/retry`, { method: 'POST' });
    expect(retried.status).toBe(200);
    await expect.poll(async () => (await bounces.emailOf(alone.id)).state).toBe('sent');
  });
});

describe('the suppression list', () => {
  it('is known to another process soon, and lifting at once', async () => {
    const address = freshAddress();
    await bounces.suppress(address);
    await expect
      .poll(async () => (await bounces.trySend({ to: address }, bounces.other)).status, { interval: 20 })
      .toBe(422);
    await bounces.lift(address);
    expect((await bounces.trySend({ to: address }, bounces.other)).status).toBe(200);
  });

  it('is read page by page, by address and by reason', async () => {
    const addresses = Array.from({ length: 5 }, () => freshAddress('pages.test'));
    for (const address of addresses) await bounces.suppress(address, { note: `Notiz ${address}` });
    const seen: unknown[] = [];
    let cursor = '';
    do {
      const response = await bounces.service.request(`/api/suppressions?reason=manual&limit=2${cursor}`);
      const page = (await response.json()) as {
        suppressions: { address: string }[];
        next_cursor: string | null;
      };
      seen.push(...page.suppressions.map(({ address }) => address));
      cursor = page.next_cursor === null ? '' : `&cursor=${page.next_cursor}`;
    } while (cursor !== '');
    expect(seen.slice(0, 5)).toEqual(addresses.toReversed());
    expect(new Set(seen).size).toBe(seen.length);
    const one = await bounces.service.request(`/api/suppressions/${encodeURIComponent(addresses[0]!)}`);
    expect(await one.json()).toMatchObject({
      reason: 'manual',
      note: `Notiz ${addresses[0]}`,
      email_id: null,
    });
  });

  it.each([
    ['GET', '/api/suppressions?reason=none', undefined, 400, 'invalid_request'],
    ['GET', '/api/suppressions?cursor=abc', undefined, 400, 'invalid_cursor'],
    ['GET', '/api/suppressions?nonsense=1', undefined, 400, 'unknown_parameter'],
    ['GET', '/api/suppressions?address=nobody', undefined, 400, 'invalid_address'],
    ['GET', '/api/suppressions/nobody%40customer.test', undefined, 404, 'suppression_not_found'],
    ['PUT', '/api/suppressions/nobody', {}, 400, 'invalid_address'],
    ['PUT', '/api/suppressions/a%40b.test%2C%20c%40d.test', {}, 400, 'invalid_address'],
    ['PUT', '/api/suppressions/a%40b.test%0D%0A', {}, 400, 'header_injection'],
    ['PUT', '/api/suppressions/a%40b.test', { note: 'x\u0000' }, 400, 'invalid_text'],
    ['PUT', '/api/suppressions/a%40b.test', { reason: 'complaint' }, 400, 'unknown_field'],
    ['DELETE', '/api/suppressions/nobody%40customer.test', undefined, 404, 'suppression_not_found'],
  ])('answers %s %s with %j by an error', async (method, path, json, status, code) => {
    const response = await bounces.service.request(path, { method, ...(json === undefined ? {} : { json }) });
    expect(response.status).toBe(status);
    expect(await response.json()).toMatchObject({ code });
  });

  it('needs the secret', async () => {
    const response = await fetch(`${bounces.service.url}/api/suppressions`);
    expect(response.status).toBe(401);
  });

  it('gives an idempotency key back', async () => {
    const address = freshAddress();
    await bounces.suppress(address);
    const attempt = () =>
      bounces.service.request('/api/send', {
        json: { to: address, subject: 'A', text_body: 'b' },
        headers: { 'idempotency-key': `key-${address}` },
      });
    expect((await attempt()).status).toBe(422);
    await bounces.lift(address);
    expect((await attempt()).status).toBe(200);
  });
});
