/**
 * Counts the files and functions that each operation passes through in the service, with V8 while it runs: the amount of code to understand
 * in order to follow the operation. An operation may not quietly grow.
 */
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startDovecot, type DovecotServer } from '../helpers/dovecot-server.ts';
import { mail, receive } from '../helpers/inbound-mail.ts';
import { skipWithoutMailServers } from '../helpers/mail-servers.ts';
import { fillMaildir } from '../helpers/maildir.ts';
import { createTestDatabase, type TestDatabase } from '../helpers/postgres.ts';
import { query } from '../helpers/query.ts';
import { getJson, sendJson } from '../helpers/running-service.ts';
import { disposeService, startServiceProcess, type ServiceProcess } from '../helpers/service-process.ts';
import { startSmtpSink, type SmtpSink } from '../helpers/smtp-sink.ts';
import { waitUntil } from '../helpers/wait-until.ts';

const PROBE = fileURLToPath(new URL('../helpers/passed-functions.mjs', import.meta.url));
/** The program in its compiled modules; users run a bundle of them. */
const MODULES = fileURLToPath(new URL('../../dist/main.js', import.meta.url));
/** Code that runs beside the operation by chance does not run in every repeat. A busy machine needs more repeats until that holds. */
const REPEATS = 5;
const MAX_REPEATS = 30;
const WITHOUT_MAIL_SERVERS = skipWithoutMailServers();

// Two files of each operation are the rights of the caller and its view of the application. Eight are the parts of a send beside its texts
// (fields, images of its HTML, files by reference, lists to leave, a template); three read its body: fields, files and the rest. The
// recipients that it did not reach are one, and the framing of a request is one of each. The name of a request is four: the check that it
// is safe, the code that makes it, the hook for it and, on Node.js 24, its carrier. Schemas that are compiled late are one. The duration of
// a send is one of each. Rights of which one is enough are one function of each request. The place where a trace would begin, or go on, is
// one file and four functions; two of them keep the work of loops apart from requests. A received mail passes through one file for its line
// ends, one file and two functions for its List-Id, and two functions for what From shows. Choosing the parts of the statement of a send or
// of a received mail is three functions. Passing over lines that need no dot is one file and four functions; counting the work under way is
// one file. Messages beside the JSON of their emails are two functions.
/** The largest counts allowed, a few functions above what a calm machine shows. Raise a figure only with a reason for each added file. */
const LIMITS = {
  'a send': { files: 110, functions: 388 },
  'a send into a thread': { files: 119, functions: 430 },
  'a received mail': { files: 81, functions: 289 },
  'a thread read': { files: 29, functions: 71 },
  // This includes its way into the search index, which is 48 of the functions. It takes more than a second, so on a busy machine some
  // fifteen functions, from two more files, of the loops that look each second run beside every repeat.
  'a mail taken from a mailbox': { files: 99, functions: 474 },
} as const;

let database: TestDatabase;
let sink: SmtpSink;
let service: ServiceProcess;
let dovecot: DovecotServer | null = null;

beforeAll(async () => {
  [database, sink] = await Promise.all([createTestDatabase(), startSmtpSink()]);
  dovecot = WITHOUT_MAIL_SERVERS ? null : await startDovecot();
  service = await startServiceProcess({
    program: MODULES,
    env: {
      DATABASE_URL: database.connectionString,
      SMTP_URL: sink.url,
      MAIL_FROM: 'Sales <sales@example.com>',
      NODE_OPTIONS: `--import ${PROBE}`,
      ...(dovecot === null ? {} : { IMAP_URL: dovecot.urlOf('alice'), IMAP_POLL_MS: '1000' }),
    },
  });
});

afterAll(async () => {
  await disposeService(service);
  await Promise.all([sink.stop(), dovecot?.stop()]);
  await database.drop();
});

/** The functions that ran since the last call. */
async function takePassed(): Promise<ReadonlySet<string>> {
  const from = service.log.length;
  service.process.kill('SIGUSR2');
  let line: string | undefined;
  await waitUntil('the functions are printed', async () => {
    line = service.log
      .slice(from)
      .join('')
      .split('\n')
      .find((text) => text.startsWith('{"passed"') && text.endsWith('}'));
    return line !== undefined;
  });
  return new Set((JSON.parse(line ?? '') as { passed: string[] }).passed);
}

const countFiles = (passed: readonly string[]): number =>
  new Set(passed.map((name) => name.slice(0, name.indexOf(':')))).size;

async function expectWithin(operation: keyof typeof LIMITS, operate: () => Promise<unknown>): Promise<void> {
  const limit = LIMITS[operation];
  let passed: readonly string[] | null = null;
  const isWithin = () =>
    passed !== null && countFiles(passed) <= limit.files && passed.length <= limit.functions;
  await operate();
  for (let repeat = 0; repeat < REPEATS || (repeat < MAX_REPEATS && !isWithin()); repeat += 1) {
    await takePassed();
    await operate();
    const now = await takePassed();
    passed = passed === null ? [...now] : passed.filter((name) => now.has(name));
  }
  const [files, functions] = [countFiles(passed ?? []), passed?.length ?? 0];
  process.stdout.write(`${operation}: ${files} files, ${functions} functions\n`);
  expect(files).toBeGreaterThan(5);
  expect({ files, functions }).toEqual({
    files: Math.min(files, limit.files),
    functions: Math.min(functions, limit.functions),
  });
}

const SEND = { to: 'customer@example.org', subject: 'Hello', text_body: 'Hello' };

describe('an operation passes a bounded part of the program', () => {
  it('a send', () => expectWithin('a send', () => sendJson(service, SEND)));

  it('a send into a thread, and reading it', async () => {
    const { threadId } = await sendJson(service, SEND);
    await expectWithin('a send into a thread', () => sendJson(service, { ...SEND, thread_id: threadId }));
    await expectWithin('a thread read', () => getJson(service, `/api/thread/${threadId}`));
  });

  it('a received mail', () => expectWithin('a received mail', () => receive(service, mail())));

  it.skipIf(WITHOUT_MAIL_SERVERS)('a mail taken from a mailbox', async () => {
    const count = async () =>
      Number((await query(database.connectionString, 'select count(*) as n from emails'))[0]?.n);
    await expectWithin('a mail taken from a mailbox', async () => {
      const before = await count();
      await fillMaildir(dovecot as DovecotServer, 'alice', null, [mail()]);
      await waitUntil('it is recorded', async () => (await count()) > before);
      await waitUntil(
        'it can be found by search, with the addresses in it',
        async () => (await query(database.connectionString, 'select from search_queue')).length === 0,
      );
    });
  });
});
