/**
 * Real mail through the real service: its threads follow from the links alone, in whatever order and by whatever way it comes, and every
 * message can be read. See mail-archive.ts for its origin.
 */
import { writeFile } from 'node:fs/promises';
import path from 'node:path';
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { identityKey, identityOf } from '../../src/core/message/identity.ts';
import { parseMessage } from '../../src/core/mime/parse/parse.ts';
import { runCommandInProcess } from '../helpers/command-in-process.ts';
import { dryRethread } from '../helpers/dry-rethread.ts';
import { countShared, numbered } from '../helpers/groups.ts';
import { receive, type Received } from '../helpers/inbound-mail.ts';
import { firstOfEach, readMailArchive, skipWithoutMailArchive } from '../helpers/mail-archive.ts';
import { joinMbox } from '../helpers/mbox.ts';
import { createTestDatabase, type TestDatabase } from '../helpers/postgres.ts';
import { ourThreads } from '../helpers/pure-threads.ts';
import { query } from '../helpers/query.ts';
import { IS_LONG } from '../helpers/runs.ts';
import { disposeService, startServiceProcess, type ServiceProcess } from '../helpers/service-process.ts';
import { makeTempFolder, type TempFolder } from '../helpers/temp-folder.ts';
import { createTestPool } from '../helpers/test-pool.ts';
import { writeAccounts } from '../helpers/thread-decisions.ts';

/** The same mail in each account: as it was filed, in reverse, in random orders, and from an mbox file. */
const ACCOUNTS = ['filed', 'reversed', 'random-1', 'random-2', 'imported'] as const;
type Account = (typeof ACCOUNTS)[number];
const RANDOM_ORDERS: readonly Account[] = IS_LONG ? ['random-1', 'random-2'] : ['random-1'];

const AT_ONCE = 12;
/** Of one of the accounts; the others have the same domain. */
const ADDRESS = { name: '', localPart: 'filed', domain: 'example.com' };

describe.skipIf(skipWithoutMailArchive())('real mail', () => {
  let raws: readonly Buffer[];
  let expected: { readonly threads: readonly number[]; readonly emails: number };
  let temp: TempFolder;
  let database: TestDatabase;
  let accountsFile: string;
  let services: readonly ServiceProcess[];

  beforeAll(async () => {
    raws = readMailArchive();
    expected = {
      threads: numbered(ourThreads(raws, ADDRESS)),
      // Duplicates are recorded once.
      emails: new Set(raws.map((raw) => identityKey(identityOf(parseMessage(raw))))).size,
    };
    [temp, database, accountsFile] = await Promise.all([
      makeTempFolder(),
      createTestDatabase(),
      writeAccounts(...ACCOUNTS),
    ]);
    const env = { DATABASE_URL: database.connectionString, ACCOUNTS_FILE: accountsFile };
    // Two processes on one database: laws that hold within one must hold between them.
    services = await Promise.all([startServiceProcess({ env }), startServiceProcess({ env })]);
  });
  afterAll(async () => {
    await Promise.all(services.map(disposeService));
    await database.drop();
    await temp.remove();
  });

  /** Submits the messages with these indexes, some at the same moment; repeats are welcome. Returns the last answer of each. */
  async function give(account: Account, order: readonly number[], atOnce: number): Promise<Received[]> {
    const answers: Received[] = [];
    const queue = order.entries();
    const giveSome = async () => {
      for (const [turn, index] of queue) {
        answers[index] = await receive(services[turn % 2]!, raws[index]!, `?account_id=${account}`);
      }
    };
    await Promise.all(Array.from({ length: atOnce }, giveSome));
    return answers;
  }

  let filed: Promise<Received[]> | null = null;
  /** All messages as they were filed, submitted once for the tests that examine the result. */
  const giveFiled = (): Promise<Received[]> => (filed ??= give('filed', [...raws.keys()], AT_ONCE));

  /** The account's state in the database now: the thread of each message, and the number of emails. */
  async function recorded(account: Account, answers: readonly Received[]): Promise<object> {
    const rows = await query(
      database.connectionString,
      'select id, thread_id from emails where account_id = $1',
      [account],
    );
    const threads = new Map(rows.map((row) => [row['id'], row['thread_id']]));
    return { threads: numbered(answers.map(({ id }) => threads.get(id))), emails: rows.length };
  }

  it('is there in quantity', () => {
    expect(firstOfEach(raws).length).toBeGreaterThan(200);
    expect(countShared(expected.threads)).toBeGreaterThan(30);
  });

  it.runIf(IS_LONG)('makes the same threads one after the other and in the reverse order', async () => {
    const filed = [...raws.keys()];
    const [forwards, backwards] = await Promise.all([
      give('filed', filed, 1),
      give('reversed', filed.toReversed(), 1),
    ]);
    expect(await recorded('filed', forwards)).toEqual(expected);
    expect(await recorded('reversed', backwards)).toEqual(expected);
  });

  it.runIf(IS_LONG)('makes the same threads by an import, and is known then', async () => {
    const mbox = path.join(temp.path, 'all.mbox');
    const ended = raws.map((raw) => raw.toString('latin1').replace(/\n?$/, '\n'));
    await writeFile(mbox, joinMbox(ended), 'latin1');
    const result = await runCommandInProcess(['import', mbox, '--account', 'imported'], {
      dataDir: services[0]!.dataDir,
      env: { DATABASE_URL: database.connectionString, ACCOUNTS_FILE: accountsFile },
    });
    expect(result).toMatchObject({ exitCode: 0, stderr: '' });
    const answers = await give('imported', [...raws.keys()], AT_ONCE);
    expect(answers.filter(({ status }) => status === 'received')).toEqual([]);
    expect(await recorded('imported', answers)).toEqual(expected);
  });

  it('makes the same threads in any order, many at the same moment, with repeats', async () => {
    const indexes = [...raws.keys()];
    const orders = fc.sample(
      fc.shuffledSubarray([...indexes, ...indexes], { minLength: 2 * indexes.length }),
      RANDOM_ORDERS.length,
    );
    const answers = await Promise.all(
      RANDOM_ORDERS.map((account, at) => give(account, orders[at]!, AT_ONCE)),
    );
    for (const [at, account] of RANDOM_ORDERS.entries()) {
      expect(await recorded(account, answers[at]!)).toEqual(expected);
    }
  });

  it('can be read, each thread with the text of all its emails', async () => {
    const answers = await giveFiled();
    const texts = new Map<string, string>();
    for (const threadId of new Set(answers.map((answer) => answer.threadId))) {
      const response = await services[0]!.request(`/api/thread/${threadId}`);
      expect(response.status).toBe(200);
      const { emails } = (await response.json()) as { emails: { id: string; text_body: string }[] };
      for (const { id, text_body } of emails) texts.set(id, text_body);
    }
    expect(texts.size).toBe(new Set(answers.map(({ id }) => id)).size);
    const mails = answers.map(({ id }, index) => ({ raw: raws[index]!, text: texts.get(id)! }));
    // Encrypted mail has only attachments, and some mail has no body.
    const empty = mails.filter(({ raw, text }) => text.trim() === '' && bodyOf(raw).trim() !== '');
    expect(
      empty.flatMap(({ raw }) => (parseMessage(raw).attachments.length > 0 ? [] : raw.toString('latin1'))),
    ).toEqual([]);
    const plain = mails.filter(({ raw }) => isPlain(raw));
    expect(plain.length).toBeGreaterThan(mails.length / 4);
    expect(plain.map(({ text }) => inOneForm(text))).toEqual(plain.map(({ raw }) => inOneForm(bodyOf(raw))));
  });

  it('is kept to the byte', async () => {
    const answers = await giveFiled();
    const first = new Map<string, Buffer>();
    for (const [index, { id }] of answers.entries()) if (!first.has(id)) first.set(id, raws[index]!);
    for (const [id, raw] of first) {
      const response = await services[1]!.request(`/api/emails/${id}/raw`);
      expect(Buffer.from(await response.arrayBuffer()).equals(raw)).toBe(true);
    }
  });

  it('leaves rethreading nothing to change', async () => {
    const pool = createTestPool(database);
    await giveFiled();
    expect(await dryRethread(pool).finally(() => pool.end())).toEqual([]);
  });
});

const bodyOf = (raw: Buffer): string => raw.toString('latin1').replace(/^[^]*?\r?\n\r?\n/, '');

/** True if the body is the text: nothing is encoded or flowed, and there are no parts. */
function isPlain(raw: Buffer): boolean {
  const header = raw.toString('latin1').split(/\r?\n\r?\n/, 1)[0]!;
  return (
    /^[\n\r\t -~]*$/.test(raw.toString('latin1')) &&
    !/^content-type:(?!\s*text\/plain)/im.test(header) &&
    !/format="?flowed/i.test(header) &&
    !/^content-transfer-encoding:\s*(?:quoted-printable|base64)/im.test(header)
  );
}

const inOneForm = (text: string): string => text.replaceAll('\r\n', '\n').trimEnd();
