/**
 * Backups, restores and moves whose process is killed at random moments and which are then run again: nothing is lost or doubled, half-done
 * results are never used, and the old data stays until the switch. A kill that comes too late, after the end, is a case like any other.
 * Run by hand, since it takes minutes: `RUN_ALL=1 KILL_SEED=7 npx vitest run --config vitest.long.config.ts test/backup/killed.long.test.ts`.
 */
import { randomInt } from 'node:crypto';
import { mkdir } from 'node:fs/promises';
import path from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { startEmbeddedPostgres } from '../../src/connectors/embedded-postgres/server.ts';
import { createRandom } from '../crash/random.ts';
import { runCommandInProcess } from '../helpers/command-in-process.ts';
import { startCommand } from '../helpers/command-process.ts';
import { readEverything } from '../helpers/compare-databases.ts';
import { mailOf, writeMails } from '../helpers/mail-folders.ts';
import { addressForService, createEmptyDatabase, type TestDatabase } from '../helpers/postgres.ts';
import { query } from '../helpers/query.ts';
import { getJson } from '../helpers/running-service.ts';
import { startS3Server, type S3Server } from '../helpers/s3-server.ts';
import { startServiceProcess } from '../helpers/service-process.ts';
import { silentLogger } from '../helpers/silent-logger.ts';
import { makeTempFolder, type TempFolder } from '../helpers/temp-folder.ts';
import { waitUntil } from '../helpers/wait-until.ts';

const CONVERSATIONS = 250;
const EMAILS = CONVERSATIONS * 4;
/** Per command, besides one run that is left to finish. */
const KILLS = 2;
/** About how long a program takes until its work begins, in ms. */
const STARTING_MS = 500;
/** Far longer than the tests take. */
const TIMEOUT_MS = 900_000;
/** Tables that commands write by themselves, that a restore has to change, or that note refused imports. */
const CHANGED = ['audit_log', 'audit_outcomes', 'event_clock'];
/** The message of a program for each mark. */
const REFUSALS: readonly (readonly [string, RegExp])[] = [
  ['unfinished_restore', /A restore into the database was cut off\. Run it again/],
  ['moving', /The database is being moved, or that was cut off\. Run `email-worker move` again/],
  ['moved', /The database was moved to another server/],
];

const seed = Number(process.env['KILL_SEED'] ?? randomInt(2 ** 31));
const random = createRandom(seed);

/** A DATA_DIR, with the location of its database and files. */
interface Place {
  readonly dataDir: string;
  readonly env: Readonly<Record<string, string>>;
  /** null: the embedded server. */
  readonly database: TestDatabase | null;
}
type Rows = Readonly<Record<string, readonly string[]>>;

let folder: TempFolder;
let s3: S3Server;
let source: Place;
let before: Rows;
/** How long each command takes when it is not killed, in ms. */
const taken = new Map<string, number>();
const cleanups: (() => Promise<void>)[] = [];
afterAll(async () => {
  for (const cleanup of cleanups.toReversed()) await cleanup();
});

beforeAll(async () => {
  process.stderr.write(`KILL_SEED=${seed} repeats the moments as far as the machine lets it\n`);
  folder = await makeTempFolder();
  cleanups.push(() => folder.remove());
  s3 = await startS3Server();
  cleanups.push(() => s3.close());
  source = await makePlace('source', 'embedded');
  const mails = Array.from({ length: EMAILS }, (_, index) => {
    const mail = mailOf(
      Math.floor(index / 4),
      index % 4,
      index % 20 === 0 ? `${index} `.repeat(20_000) : 'Hello',
    );
    // Every other email is a file with a name.
    return index % 2 === 0
      ? mail
      : mail.replace('\n\n', `\nContent-Type: application/pdf; name="${index}.pdf"\n\n`);
  });
  const made = await run(source, 'import', await writeMails(path.join(folder.path, 'mails'), mails));
  if (!made.stdout.includes(`imported ${EMAILS},`)) throw new Error(made.stderr);
  before = await readAll(source);
  for (const kind of ['folder', 's3'] as const) {
    const { exitCode, stderr } = await whole(source, `backup ${kind}`, ['backup', placeOf(kind)]);
    if (exitCode !== 0) throw new Error(stderr);
  }
}, TIMEOUT_MS);

const placeOf = (kind: 'folder' | 's3'): string =>
  kind === 'folder' ? path.join(folder.path, 'backups') : s3.url.replace('prefix', 'backups');

async function makePlace(
  name: string,
  where: 'embedded' | 'external',
  files: 'folder' | 's3' = 'folder',
): Promise<Place> {
  const dataDir = path.join(folder.path, name);
  await mkdir(dataDir);
  const database = where === 'external' ? await createEmptyDatabase() : null;
  if (database !== null) cleanups.push(() => database.drop());
  return {
    dataDir,
    database,
    env: {
      ...(database === null ? {} : { DATABASE_URL: addressForService(database.connectionString) }),
      ...(files === 'folder' ? {} : { BLOB_URL: s3.url.replace('prefix', name) }),
      AWS_ACCESS_KEY_ID: s3.credentials.accessKeyId,
      AWS_SECRET_ACCESS_KEY: s3.credentials.secretAccessKey,
    },
  };
}

/** Runs without a process of its own, unlike the commands that are killed. */
const run = ({ dataDir, env }: Place, ...args: readonly string[]) =>
  runCommandInProcess(args, { dataDir, env });

/** For the embedded server, starts a server just for this. */
async function onDatabase<T>({ dataDir, database }: Place, work: (url: string) => Promise<T>): Promise<T> {
  if (database !== null) return await work(database.connectionString);
  const server = await startEmbeddedPostgres({ dataDir, logger: silentLogger });
  const { host, port, user, database: name } = server.connection;
  try {
    return await work(`postgresql://${user}@localhost:${port}/${name}?host=${encodeURIComponent(host)}`);
  } finally {
    await server.stop();
  }
}

const readAll = (place: Place): Promise<Rows> => onDatabase(place, (url) => readEverything(url, CHANGED));

interface State {
  readonly mark: string | null;
  readonly emails: number;
}

/** The number of emails in the database, and the mark that keeps programs from it. */
const stateOf = (place: Place): Promise<State> =>
  onDatabase(place, async (url) => {
    const [there] = await query(
      url,
      `select to_regclass('email_worker.schema_migrations') is not null as marks,
      to_regclass('email_worker.emails') is not null as emails`,
    );
    const marks =
      there?.['marks'] === true
        ? await query(url, `select name from email_worker.schema_migrations where name !~ '^[0-9]'`)
        : [];
    const [row] =
      there?.['emails'] === true
        ? await query(url, 'select count(*)::int as emails from email_worker.emails')
        : [];
    const name = marks[0]?.['name'];
    return { mark: name === undefined ? null : String(name), emails: Number(row?.['emails'] ?? 0) };
  });

/** Kills the command at a random moment of its work. Returns its exit code; null if it was killed. */
async function killed(place: Place, kind: string, args: readonly string[]): Promise<number | null> {
  const command = startCommand(args, place);
  const ended = command.ended();
  // Half of the kills come during the last part of the work, where most can go wrong.
  const share = random.chance(0.5) ? random.next() : 0.5 + random.next() / 2;
  await Promise.race([ended, wait(STARTING_MS + share * (taken.get(kind) ?? 5000))]);
  command.process.kill('SIGKILL');
  const exitCode = await ended;
  const { database } = place;
  // The embedded server is taken over by the next program, which ends the work that the server was doing.
  if (database !== null)
    await waitUntil('the server has given it up', async () => (await sessionsOf(database)) === 0);
  return exitCode;
}

/** Sessions of our programs. */
const sessionsOf = async ({ connectionString }: TestDatabase): Promise<number> =>
  (
    await query(
      connectionString,
      `select from pg_stat_activity
      where application_name = 'email-worker' and datname = current_database()`,
    )
  ).length;

/** Whether programs use the database, its mark, and its number of emails. A program that refuses names the mark that is set. */
async function lookAt(place: Place): Promise<readonly [use: string, mark: string | null, emails: number]> {
  const { mark, emails } = await stateOf(place);
  const { exitCode, stderr } = await run(place, 'verify');
  const refusal = REFUSALS.find(([, pattern]) => pattern.test(stderr))?.[0] ?? stderr;
  return [exitCode === 0 ? 'used' : refusal, mark, emails];
}

/** Runs the command to its end, and notes how long that takes. */
async function whole(place: Place, kind: string, args: readonly string[]) {
  const started = performance.now();
  const result = await run(place, ...args);
  if (result.exitCode === 0) taken.set(kind, performance.now() - started);
  return result;
}

/** Uses the place as a user would. */
async function expectToWork(place: Place): Promise<void> {
  const verified = await run(place, 'verify');
  expect(verified.stdout).toMatch(/ 0 faults; 0 files/);
  const service = await startServiceProcess({
    env: { ...place.env, MAIL_FROM: 'sales@example.com' },
    dataDir: place.dataDir,
  });
  try {
    const { emails } = await getJson<{ emails: readonly { id: string; thread_id: string }[] }>(
      service,
      '/api/emails?limit=1',
    );
    const thread = await getJson<{ emails: readonly unknown[] }>(
      service,
      `/api/thread/${emails[0]?.thread_id}`,
    );
    expect(thread.emails).toHaveLength(4);
  } finally {
    await service.stop();
  }
}

it.each(['folder', 's3'] as const)(
  'a backup into a %s that was killed is no backup, and hinders no other',
  async (kind) => {
    const place = placeOf(kind);
    const args = ['backup', place, '--keep', '2'];
    for (let kill = 0; kill < KILLS; kill += 1) {
      await killed(source, `backup ${kind}`, args);
      // Also while old backups are deleted: the remaining ones are whole.
      const { stdout } = await run(source, 'backup', '--list', place);
      const ids = stdout.split('\n').filter((line) => line.endsWith(' whole'));
      expect(ids.length).toBeGreaterThan(0);
      for (const id of ids) {
        const verified = await run(source, 'verify', place, '--at', id.split(' ')[0] ?? '');
        expect(verified).toMatchObject({ exitCode: 0, stderr: '' });
      }
    }
    expect(await run(source, ...args)).toMatchObject({ exitCode: 0, stderr: '' });
    const { stdout } = await run(source, 'backup', '--list', place);
    expect(stdout).toMatch(/^\S+ whole\n\S+ whole\n$/);
    expect(await readAll(source)).toEqual(before);
  },
  TIMEOUT_MS,
);

it.each([
  ['external', 'folder', 's3'],
  ['embedded', 's3', 'folder'],
] as const)(
  'a restore into the %s server, from a %s, with files in a %s, that was killed is repeated',
  async (where, from, files) => {
    const place = placeOf(from);
    const kind = `restore ${where} ${files}`;
    expect(
      await whole(await makePlace(`${kind} whole`.replaceAll(' ', '-'), where, files), kind, [
        'restore',
        place,
      ]),
    ).toMatchObject({
      exitCode: 0,
      stderr: '',
    });
    const target = await makePlace(kind.replaceAll(' ', '-'), where, files);
    let isDone = false;
    for (let kill = 0; kill < KILLS && !isDone; kill += 1) {
      await killed(target, kind, ['restore', place]);
      const seen = await lookAt(target);
      expect([
        ['used', null, 0],
        ['unfinished_restore', 'unfinished_restore', 0],
        ['used', null, EMAILS],
      ]).toContainEqual(seen);
      isDone = seen[2] === EMAILS;
    }
    const restored = await run(target, 'restore', place);
    expect([restored.exitCode, restored.stderr.includes(`holds ${EMAILS} emails`)]).toEqual(
      isDone ? [1, true] : [0, false],
    );
    expect(await readAll(target)).toEqual(before);
    await expectToWork(target);
  },
  TIMEOUT_MS,
);

it(
  'a restore in place of mail that was killed leaves the mail, or has put the other in its place',
  async () => {
    const place = path.join(folder.path, 'backups');
    const target = await makePlace('replaced', 'external');
    const mails = await writeMails(path.join(folder.path, 'others'), [
      mailOf(9001, 0).replace('\n\n', '\nContent-Type: application/pdf; name="old.pdf"\n\n'),
    ]);
    expect(await run(target, 'import', mails)).toMatchObject({ exitCode: 0 });
    const old = await readAll(target);
    let isDone = false;
    for (let kill = 0; kill < KILLS && !isDone; kill += 1) {
      await killed(target, 'backup folder', ['restore', place, '--replace']);
      const verified = await run(target, 'verify');
      expect(verified, verified.stderr).toMatchObject({ exitCode: 0, stderr: '' });
      isDone = (await stateOf(target)).emails === EMAILS;
      expect(await readAll(target)).toEqual(isDone ? before : old);
    }
    expect(await run(target, 'restore', place, '--replace')).toMatchObject({ exitCode: 0, stderr: '' });
    expect(await readAll(target)).toEqual(before);
    await expectToWork(target);
  },
  TIMEOUT_MS,
);

it(
  'a move that was killed goes on by the same command, there and back, and one database at most is used',
  async () => {
    const there = await makePlace('there', 'external');
    const moves = [
      {
        kind: 'move there',
        from: source,
        to: { ...there, dataDir: source.dataDir },
        target: there.env['DATABASE_URL'] ?? '',
      },
      { kind: 'move back', from: { ...there, dataDir: source.dataDir }, to: source, target: 'embedded' },
    ];
    for (const { kind, from, to, target } of moves) {
      taken.set(kind, taken.get('backup folder') ?? 5000);
      let isDone = false;
      const [, markBefore] = await lookAt(to);
      for (let kill = 0; kill < 2 * KILLS && !isDone; kill += 1) {
        isDone = (await killed(from, kind, ['move', '--to', target])) === 0;
        const [here, there] = [await lookAt(from), await lookAt(to)];
        const other = [there[1], there[0] === 'used' ? there[2] : 0];
        expect([
          // In order: not begun; being moved, so neither is used; whole at the target, where it may be used, and refused here; done.
          [
            ['used', null, EMAILS],
            [markBefore, 0],
          ],
          [
            ['moving', 'moving', EMAILS],
            [markBefore, 0],
          ],
          [
            ['moving', 'moving', EMAILS],
            ['unfinished_restore', 0],
          ],
          [
            ['moving', 'moving', EMAILS],
            [null, EMAILS],
          ],
          [
            ['moved', 'moved', EMAILS],
            [null, EMAILS],
          ],
        ]).toContainEqual([here, other]);
      }
      const again = await run(from, 'move', '--to', target);
      expect([again.exitCode, again.stderr.includes('moved away already')]).toEqual(
        isDone ? [1, true] : [0, false],
      );
      expect(await readAll(to)).toEqual(before);
      expect(await lookAt(from)).toEqual(['moved', 'moved', EMAILS]);
    }
    await expectToWork(source);
  },
  TIMEOUT_MS,
);
