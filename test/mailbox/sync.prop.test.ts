/**
 * Anything may happen, in any order: arrivals, expunges, new UIDVALIDITYs, cut connections, processes that stop and come back, two at once.
 * In the end the database has every message of the mailbox once, and records which are gone.
 */
import fc from 'fast-check';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { mail } from '../helpers/inbound-mail.ts';
import { startMailboxNode, type MailboxNode } from '../helpers/mailbox-node.ts';
import { letTimePass, readEmails } from '../helpers/mailbox-rows.ts';
import { MemoryMailServer, type MemoryMailbox } from '../helpers/memory-mail-server.ts';
import { createTestDatabase, type TestDatabase } from '../helpers/postgres.ts';
import { query } from '../helpers/query.ts';
import { waitUntil } from '../helpers/wait-until.ts';
import { runs } from '../helpers/runs.ts';

/** Each run takes seconds: processes start and stop in it. */
const RUNS = runs(20);

let database: TestDatabase;

beforeAll(async () => {
  database = await createTestDatabase();
});
afterAll(() => database.drop());

type Step =
  | {
      readonly kind: 'arrive';
      readonly where: 'inbox' | 'sent';
      readonly count: number;
      readonly bare: boolean;
    }
  | { readonly kind: 'repeat'; readonly where: 'inbox' | 'sent'; readonly index: number }
  | { readonly kind: 'expunge'; readonly where: 'inbox' | 'sent'; readonly index: number }
  | { readonly kind: 'renew'; readonly where: 'inbox' | 'sent' }
  | { readonly kind: 'cut' }
  /** Cuts at a later command or message; `after` counts them. */
  | { readonly kind: 'cutLater'; readonly after: number }
  | { readonly kind: 'restart'; readonly node: number }
  | { readonly kind: 'wait'; readonly messages: number };

const where = fc.constantFrom('inbox' as const, 'sent' as const);
const step: fc.Arbitrary<Step> = fc.oneof(
  fc.record({
    kind: fc.constant('arrive' as const),
    where,
    count: fc.integer({ min: 1, max: 12 }),
    bare: fc.boolean(),
  }),
  fc.record({ kind: fc.constant('repeat' as const), where, index: fc.nat(100) }),
  fc.record({ kind: fc.constant('expunge' as const), where, index: fc.nat(100) }),
  fc.record({ kind: fc.constant('renew' as const), where }),
  fc.constant({ kind: 'cut' as const }),
  fc.record({ kind: fc.constant('cutLater' as const), after: fc.integer({ min: 1, max: 15 }) }),
  fc.record({ kind: fc.constant('restart' as const), node: fc.nat(1) }),
  fc.record({ kind: fc.constant('wait' as const), messages: fc.integer({ min: 1, max: 5 }) }),
);

let accounts = 0;

async function check(qresync: boolean, steps: readonly Step[]): Promise<void> {
  const account = `random-${(accounts += 1)}`;
  const server = new MemoryMailServer({ qresync });
  const boxes = server.addAccount(account);
  let cutAfter = Infinity;
  const countDown = () => {
    cutAfter -= 1;
    if (cutAfter > 0) return;
    cutAfter = Infinity;
    server.cut();
  };
  server.faults.command = countDown;
  server.faults.message = async () => {
    countDown();
    await new Promise((resolve) => setTimeout(resolve, 1));
  };
  const options = { database: database.connectionString, source: server, leaseMs: 400, pollMs: 50 };
  const nodes: MailboxNode[] = [await startMailboxNode(options), await startMailboxNode(options)];
  let number = 0;
  const pick = (mailbox: MemoryMailbox, index: number) => {
    const messages = [...mailbox.messages.values()];
    return messages[index % Math.max(messages.length, 1)];
  };
  try {
    for (const one of steps) {
      if (one.kind === 'arrive') {
        for (let index = 0; index < one.count; index += 1) {
          number += 1;
          const messageId = one.bare ? null : `<${number}@${account}.test>`;
          boxes[one.where].add(mail({ messageId, subject: `Nr. ${number}` }));
        }
      } else if (one.kind === 'repeat') {
        const message = pick(boxes[one.where], one.index);
        if (message !== undefined) boxes.inbox.add(message.raw.toString());
      } else if (one.kind === 'expunge') {
        const message = pick(boxes[one.where], one.index);
        if (message !== undefined) boxes[one.where].expunge(message.uid);
      } else if (one.kind === 'renew') boxes[one.where].renew();
      else if (one.kind === 'cut') server.cut();
      else if (one.kind === 'cutLater') cutAfter = one.after;
      else if (one.kind === 'restart') {
        await nodes[one.node]!.stop();
        nodes[one.node] = await startMailboxNode({ ...options, owner: nodes[one.node]!.owner });
      } else {
        const until = server.fetchedUids.length + one.messages;
        await Promise.race([
          waitUntil('some are taken', () => server.fetchedUids.length >= until).catch(() => {}),
          new Promise((resolve) => setTimeout(resolve, 100)),
        ]);
      }
    }
    cutAfter = Infinity;
    const expected = (mailbox: MemoryMailbox) => [...mailbox.messages.keys()].sort((a, b) => a - b);
    await waitUntil('the database holds what the mailboxes hold', async () => {
      await letTimePass(database);
      const inbox = await readUids(account, boxes.inbox);
      const sent = await readUids(account, boxes.sent);
      return `${inbox}|${sent}` === `${expected(boxes.inbox)}|${expected(boxes.sent)}`;
    });
    // As many emails as there are different messages; some were expunged before a process saw them.
    const emails = await readEmails(database, account);
    expect(new Set(emails.map(({ message_id }) => message_id)).size).toBe(emails.length);
    expect(emails.length).toBeLessThanOrEqual(number);
    const subjects = await query(
      database.connectionString,
      'select count(distinct subject)::int as count from emails where account_id = $1',
      [account],
    );
    expect(subjects).toEqual([{ count: emails.length }]);
  } finally {
    await Promise.all(nodes.map((node) => node.stop()));
  }
}

/** UIDs that are recorded and not expunged, each with an existing record. */
async function readUids(account: string, { info, uidValidity }: MemoryMailbox): Promise<readonly number[]> {
  const rows = await query(
    database.connectionString,
    `select m.uid::int from mailboxes b join mailbox_messages m on m.mailbox_id = b.id
     join emails e on e.id = m.email_id and e.account_id = b.account_id
     where b.account_id = $1 and b.path = $2 and b.uid_validity = $3 and m.uid_validity = $3
       and m.expunged_at is null
     order by m.uid`,
    [account, info.path, uidValidity],
  );
  return rows.map(({ uid }) => Number(uid));
}

it.each([true, false])(
  'every message once, whatever happens (QRESYNC: %s)',
  async (qresync) => {
    await fc.assert(
      fc.asyncProperty(fc.array(step, { minLength: 5, maxLength: 25 }), (steps) => check(qresync, steps)),
      { numRuns: RUNS, endOnFailure: true },
    );
  },
  600_000,
);
