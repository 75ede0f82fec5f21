/** The service is killed while programs submit, and between its 250 and the delivery. */
import { randomUUID } from 'node:crypto';
import { setTimeout as wait } from 'node:timers/promises';
import { expect, it } from 'vitest';
import { startSubmissionService } from '../helpers/submission-service.ts';

const COUNT = 15;

it('loses nothing and sends nothing twice, when programs repeat what got no reply', async () => {
  // Keys of submissions that were cut off before they were recorded are free again soon.
  const shop = await startSubmissionService({ DATABASE_STATEMENT_TIMEOUT_MS: '1000' });
  try {
    await shop.makeAccount('erp');
    // Its queue waits, so nothing is handed over before the last kill.
    await shop.pause('erp');
    const { secret } = await shop.makeKey({ account_ids: ['erp'] });
    const ids = Array.from({ length: COUNT }, () => `<${randomUUID()}@erp.company.test>`);
    /** As a program with a queue of its own: until there is a 250. */
    const submit = async (messageId: string): Promise<string> => {
      for (;;) {
        try {
          return await shop.send(secret, {
            from: 'erp@company.test',
            to: 'ada@customer.test',
            subject: messageId,
            text: messageId,
            messageId,
            attachments: [{ filename: 'large.bin', content: Buffer.alloc(100_000, 'x') }],
          });
        } catch (error) {
          const { responseCode = 0 } = error as { responseCode?: number };
          // A lost connection, a service that is away, or one that puts the program off.
          if (responseCode >= 500) throw error;
          await wait(100);
        }
      }
    };
    const all = Promise.all(ids.map(submit));
    await wait(400);
    await shop.restart();
    await all;
    // All have their 250, and none was delivered.
    expect(shop.sink.messages).toEqual([]);
    await shop.restart();
    await shop.resume('erp');
    await expect.poll(() => shop.sink.messages.length).toBeGreaterThanOrEqual(COUNT);
    await expect
      .poll(async () => await shop.query('select state, count(*)::int from emails group by state'))
      .toEqual([{ state: 'sent', count: COUNT }]);
    for (const messageId of ids) expect(shop.sink.byMessageId(messageId)).toHaveLength(1);
  } finally {
    await shop.dispose();
  }
});
