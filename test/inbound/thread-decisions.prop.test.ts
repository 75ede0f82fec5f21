/**
 * Laws of decisions: they outlive all later mail, whatever it names; that mail forms the same threads in any order, also when it arrives at
 * two processes at the same moment; and rethreading finds nothing to change.
 */
import fc from 'fast-check';
import type pg from 'pg';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { dryRethread } from '../helpers/dry-rethread.ts';
import { numbered } from '../helpers/groups.ts';
import { mail, newId, post, type Received } from '../helpers/inbound-mail.ts';
import { createTestDatabase, type TestDatabase } from '../helpers/postgres.ts';
import { disposeService, startServiceProcess, type ServiceProcess } from '../helpers/service-process.ts';
import { createTestPool } from '../helpers/test-pool.ts';
import { writeAccounts } from '../helpers/thread-decisions.ts';
import { runs } from '../helpers/runs.ts';

/** The same mail and decisions in each; only the order of the later mail differs. */
const ACCOUNTS = ['one', 'two'] as const;

let database: TestDatabase;
let services: readonly ServiceProcess[];
let pool: pg.Pool;

beforeAll(async () => {
  database = await createTestDatabase();
  const env = {
    DATABASE_URL: database.connectionString,
    ACCOUNTS_FILE: await writeAccounts(...ACCOUNTS),
  };
  services = [await startServiceProcess({ env }), await startServiceProcess({ env })];
  pool = createTestPool(database);
});
afterAll(async () => {
  await pool.end();
  await Promise.all(services.map(disposeService));
  await database.drop();
});

const EARLY = 5;
const LATE = 5;
/** Message-IDs; the last ones belong to no email. */
const IDS = EARLY + LATE + 2;

const links = fc.record({
  inReplyTo: fc.option(fc.nat(IDS - 1), { nil: null }),
  references: fc.array(fc.nat(IDS - 1), { maxLength: 3 }),
  /** Days; equal ones are common. */
  day: fc.integer({ min: 1, max: 3 }),
});
const decision = fc.record({
  kind: fc.constantFrom('split', 'move', 'merge'),
  /** The thread of this email. */
  at: fc.nat(EARLY - 1),
  emails: fc.uniqueArray(fc.nat(EARLY - 1), { minLength: 1, maxLength: 3 }),
});
const histories = fc.record({
  mails: fc.array(links, { minLength: EARLY + LATE, maxLength: EARLY + LATE }),
  decisions: fc.array(decision, { minLength: 1, maxLength: 4 }),
  order: fc.shuffledSubarray(
    Array.from({ length: LATE }, (_, index) => EARLY + index),
    { minLength: LATE },
  ),
  atOnce: fc.boolean(),
});
type History = typeof histories extends fc.Arbitrary<infer T> ? T : never;

async function give(account: string, raw: string, turn: number): Promise<Received> {
  const response = await post(services[turn % 2]!, raw, `?account_id=${account}`);
  if (response.status !== 200) throw new Error(`${response.status} ${await response.text()}`);
  return (await response.json()) as Received;
}

async function threadsOf(emails: readonly Received[]): Promise<readonly string[]> {
  const { rows } = await pool.query<{ id: string; thread_id: string }>(
    'select id, thread_id from emails where id = any($1)',
    [emails.map(({ id }) => id)],
  );
  return emails.map(({ id }) => rows.find((row) => row.id === id)!.thread_id);
}

/** Returns the status of the answer, and the thread of each email afterwards. */
async function decide(
  emails: readonly Received[],
  { kind, at, emails: named }: History['decisions'][number],
  turn: number,
): Promise<{ readonly status: number; readonly threads: readonly number[] }> {
  const now = await threadsOf(emails);
  // A split names only emails of that thread; others would make it an error, which proves nothing.
  const ids = named
    .filter((index) => kind !== 'split' || now[index] === now[at])
    .map((index) => emails[index]!.id);
  const body = kind === 'merge' ? { thread_id: now[named[0]!] } : { email_ids: ids };
  const { status } = await services[turn % 2]!.request(`/api/thread/${now[at]!}/${kind}`, { json: body });
  return { status, threads: numbered(await threadsOf(emails)) };
}

function toMails({ mails }: History): readonly string[] {
  const ids = Array.from({ length: IDS }, newId);
  return mails.map(({ inReplyTo, references, day }, index) =>
    mail({
      messageId: ids[index]!,
      date: `Sun, 0${day} Mar 2026 12:00:00 +0100`,
      ...(inReplyTo === null ? {} : { inReplyTo: ids[inReplyTo]! }),
      ...(references.length === 0 ? {} : { references: references.map((to) => ids[to]!) }),
    }),
  );
}

it('hold for any mail before and after any decisions', async () => {
  const property = fc.asyncProperty(histories, async (history) => {
    const raws = toMails(history);
    const outcomes: unknown[] = [];
    for (const [copy, account] of ACCOUNTS.entries()) {
      const emails: Received[] = [];
      for (const [index, raw] of raws.slice(0, EARLY).entries()) emails.push(await give(account, raw, index));
      const decided: unknown[] = [];
      for (const [turn, made] of history.decisions.entries()) decided.push(await decide(emails, made, turn));
      const before = await threadsOf(emails);

      const order = copy === 0 ? history.order : history.order.toReversed();
      if (history.atOnce && copy === 1) {
        await Promise.all(
          order.map(async (index) => (emails[index] = await give(account, raws[index]!, index))),
        );
      } else {
        for (const index of order) emails[index] = await give(account, raws[index]!, index);
      }
      const after = await threadsOf(emails);
      // The last decision still holds: the emails that it put together, and those that it separated.
      const last = await readLast(account);
      const apart = last.from.flatMap((from, index) => {
        const moved = emails.findIndex(({ id }) => id === last.emails[index]);
        const left = emails.findIndex((_, other) => other < EARLY && before[other] === from);
        return left >= 0 && after[moved] === after[left] ? [[moved, left]] : [];
      });
      expect(apart).toEqual([]);
      const together = last.emails.map((id) => after[emails.findIndex((email) => email.id === id)]);
      expect(new Set(together).size).toBeLessThanOrEqual(1);
      // Every identifier that was given out still leads somewhere.
      for (const { threadId } of emails) {
        expect((await services[0]!.request(`/api/thread/${threadId}`)).status).toBe(200);
      }
      outcomes.push({ decided, threads: numbered(after) });
    }
    expect(outcomes[1]).toEqual(outcomes[0]);

    expect(await dryRethread(pool)).toEqual([]);
  });
  await fc.assert(property, { numRuns: runs(30), endOnFailure: true });
}, 600_000);

/** The emails of the account's last split or move, when nothing was decided after it. */
async function readLast(account: string): Promise<{ emails: string[]; from: string[] }> {
  const { rows } = await pool.query<{ kind: string; email_ids: string[]; from_thread_ids: string[] }>(
    `select kind, email_ids, from_thread_ids from thread_decisions where account_id = $1
    order by decided_at desc, id desc limit 1`,
    [account],
  );
  const [row] = rows;
  return { emails: row?.email_ids ?? [], from: row?.from_thread_ids ?? [] };
}
