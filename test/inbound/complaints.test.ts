/** Complaints and soft bounces about sent mail, and the addresses they suppress. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { complaint, deliveryReport } from '../helpers/bounce-mail.ts';
import { BounceService, freshAddress } from '../helpers/bounce-service.ts';
import { receive } from '../helpers/inbound-mail.ts';
import { query } from '../helpers/query.ts';

let bounces: BounceService;

beforeAll(async () => {
  bounces = await BounceService.start();
});
afterAll(() => bounces.end());

describe('a complaint', () => {
  it('suppresses its recipient', async () => {
    const address = freshAddress();
    const sent = await bounces.send({ to: address });
    await receive(bounces.service, complaint(sent.messageId, `<${address}>`));
    expect(await bounces.outcomes(sent.id)).toEqual(['complained']);
    const refused = await bounces.trySend({ to: address });
    expect(refused.status).toBe(422);
    expect(((await refused.json()) as { error: string }).error).toContain('als Spam gemeldet');
  });

  it('is tied to the only recipient when it names none, and to neither when there were two', async () => {
    const [one, two, three] = [freshAddress(), freshAddress(), freshAddress()];
    const alone = await bounces.send({ to: one });
    const both = await bounces.send({ to: [two, three] });
    await receive(bounces.service, complaint(alone.messageId, null));
    await receive(bounces.service, complaint(both.messageId, null));
    expect(await bounces.outcomes(alone.id)).toEqual(['complained']);
    expect(await bounces.outcomes(both.id)).toEqual([null, null]);
  });

  it('that is made after the address was lifted suppresses it again, an older one does not', async () => {
    const address = freshAddress();
    const sent = await bounces.send({ to: address });
    await receive(bounces.service, complaint(sent.messageId, address));
    const old = complaint(sent.messageId, address, { date: new Date(Date.now() - 2000).toUTCString() });
    await bounces.lift(address);
    await receive(bounces.service, old);
    expect(await bounces.listed(address)).toEqual([]);
    const later = new Date(Date.now() + 2000);
    await expect.poll(() => Date.now()).toBeGreaterThan(later.getTime());
    await receive(bounces.service, complaint(sent.messageId, address));
    expect(await bounces.listed(address)).toMatchObject([{ reason: 'complaint' }]);
  });
});

describe('soft bounces', () => {
  it('suppress after five emails over a week, unless a delivery is reported between', async () => {
    const [full, recovered] = [freshAddress(), freshAddress()];
    for (let day = 8; day >= 0; day -= 2) {
      const at = new Date(Date.now() - day * 86_400_000);
      for (const address of [full, recovered]) {
        const sent = await bounces.send({ to: address });
        await query(bounces.database.connectionString, 'update emails set created_at = $2 where id = $1', [
          sent.id,
          at,
        ]);
        await query(
          bounces.database.connectionString,
          'update delivery_attempts set started_at = $2 where email_id = $1',
          [sent.id, at],
        );
        const status = { status: '5.2.2', diagnostic: '552 5.2.2 Mailbox full' };
        const date = at.toUTCString();
        if (address === recovered && day === 4) {
          await receive(
            bounces.service,
            deliveryReport(sent.messageId, [{ address, action: 'delivered' }], { date }),
          );
          continue;
        }
        expect(await bounces.listed(address)).toEqual([]);
        await receive(bounces.service, deliveryReport(sent.messageId, [{ address, ...status }], { date }));
      }
    }
    expect(await bounces.listed(full)).toMatchObject([
      { reason: 'repeated_soft_bounces', enhanced_status: '5.2.2' },
    ]);
    expect(await bounces.listed(recovered)).toEqual([]);
  });
});
