/** Messages set aside: how an operator recognises them, and what becomes of them. Real database, IMAP server in memory. */
import type pg from 'pg';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createMailboxStatusStore } from '../../src/areas/mailboxes/mailbox-status.ts';
import { MailboxError } from '../../src/areas/mailboxes/mailbox-ports.ts';
import type {
  MailboxStatusStore,
  QuarantinedMessage,
} from '../../src/areas/mailboxes/mailbox-status-ports.ts';
import type { ErrorCode } from '../../src/core/error-registry.ts';
import { ServiceError } from '../../src/core/errors.ts';
import { mail } from '../helpers/inbound-mail.ts';
import { letTimePass } from '../helpers/mailbox-rows.ts';
import { useMailboxWorlds } from '../helpers/mailbox-worlds.ts';
import { createTestPool } from '../helpers/test-pool.ts';
import { waitUntil } from '../helpers/wait-until.ts';

const worlds = useMailboxWorlds();
let pool: pg.Pool;
let status: MailboxStatusStore;

beforeAll(() => {
  pool = createTestPool(worlds.database, 2);
  status = createMailboxStatusStore(pool);
});
afterAll(() => pool.end());

function createWorld() {
  const world = worlds.createWorld();
  const list = () => status.listQuarantine({ accountId: world.account, after: null, limit: 10 });
  return {
    ...world,
    list,
    async setAside(tries: number): Promise<QuarantinedMessage> {
      let found: QuarantinedMessage | undefined;
      await waitUntil('it is set aside', async () => {
        [found] = await list();
        return found?.tries === tries;
      });
      return found!;
    },
  };
}

const delayMinutes = async ({ id }: QuarantinedMessage): Promise<number> => {
  const [row] = await worlds.query(
    `select extract(epoch from next_try_at - now())::float8 / 60 as minutes from mailbox_messages where quarantine_id = $1`,
    [id],
  );
  return Math.ceil(row?.['minutes'] as number);
};

describe('a message that is set aside', () => {
  it('shows what its header says, and forgets that when it is taken', async () => {
    const world = createWorld();
    const raw = mail({
      messageId: '<large@customer.test>',
      from: '=?utf-8?q?Anna_M=C3=BCller?= <anna@customer.test>',
      subject: '=?utf-8?q?Pl=C3=A4ne_=00=1B?=',
      date: 'Mon, 1 Jun 2026 12:00:00 +0200',
      body: 'x'.repeat(5000),
    });
    world.inbox.add(raw);
    const node = await world.start({ maxBytes: 4000 });
    const message = await world.setAside(1);
    expect(message).toMatchObject({
      from: { name: 'Anna Müller', address: 'anna@customer.test' },
      date: new Date('2026-06-01T10:00:00Z'),
      sizeBytes: Buffer.byteLength(raw),
      reason: expect.stringContaining('too large'),
    });
    expect(message.subject?.trim()).toBe('Pläne');

    await world.stop(node);
    await world.start();
    await letTimePass(worlds.database, true);
    await waitUntil('it is taken', async () => (await world.emails()).length === 1);
    await waitUntil('it is not listed', async () => (await world.list()).length === 0);
    const rows = await worlds.query(
      `select from mailbox_messages m join mailboxes b on b.id = m.mailbox_id
       where b.account_id = $1 and header_summary is not null`,
      [world.account],
    );
    expect(rows).toEqual([]);
  });

  it('shows what could be read before the server failed at its header', async () => {
    const world = createWorld();
    world.inbox.add(mail({ messageId: '<1@customer.test>', subject: 'Bericht' }));
    world.server.faults.message = () => {
      throw new MailboxError('refused', 'no');
    };
    await world.start();
    await waitUntil('it is set aside', async () => {
      await letTimePass(worlds.database);
      return (await world.list()).length === 1;
    });
    world.server.faults.size = () => {
      throw new MailboxError('refused', 'no header either');
    };
    await letTimePass(worlds.database, true);
    expect(await world.setAside(5)).toMatchObject({ subject: 'Bericht', reason: 'no header either' });
  });

  it('shows nothing of a header that could not be read', async () => {
    const world = createWorld();
    world.inbox.add(mail({ messageId: '<1@customer.test>', subject: 'Bericht' }));
    world.server.faults.size = () => {
      throw new MailboxError('refused', 'no');
    };
    await world.start();
    await waitUntil('it is set aside', async () => {
      await letTimePass(worlds.database);
      return (await world.list()).length === 1;
    });
    expect((await world.list())[0]).toMatchObject({ subject: null, from: null, date: null, sizeBytes: null });
  });

  it('is tried ever more rarely, and after a try that an operator asked for as soon as at first', async () => {
    const world = createWorld();
    world.inbox.add(mail({ messageId: '<1@customer.test>' }));
    await world.start({
      async receive() {
        throw new ServiceError('invalid_text');
      },
    });
    const { id } = await world.setAside(1);
    expect(await delayMinutes(await world.setAside(1))).toBe(15);
    await letTimePass(worlds.database, true);
    expect(await delayMinutes(await world.setAside(2))).toBe(60);
    for (const tries of [3, 4, 5]) {
      expect(await status.retryQuarantined(id)).toMatchObject({ id, tries: tries - 1 });
      expect(await delayMinutes(await world.setAside(tries))).toBe(15);
    }
    await letTimePass(worlds.database, true);
    expect(await delayMinutes(await world.setAside(6))).toBe(60);
  });

  it('stays listed under its id, whatever fails at the next tries', async () => {
    const world = createWorld();
    world.inbox.add(mail({ messageId: '<1@customer.test>' }));
    let code: ErrorCode | null = 'invalid_text';
    let tried = 0;
    await world.start({
      async receive() {
        tried += 1;
        throw code === null ? new TypeError('a fault') : new ServiceError(code);
      },
    });
    const { id } = await world.setAside(1);
    code = null;
    await letTimePass(worlds.database, true);
    expect(await world.setAside(2)).toMatchObject({ id });
    code = 'busy';
    await letTimePass(worlds.database, true);
    await waitUntil('it was put off', async () => {
      const [message] = await world.list();
      expect(message).toMatchObject({ id });
      return tried === 3 && message?.reason !== 'a fault';
    });
    expect(await world.list()).toMatchObject([{ id, tries: 2 }]);
  });
});
