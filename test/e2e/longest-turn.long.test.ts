/** Large mails by every way in: none of them blocks the event loop of the service for long. */
import { setTimeout as wait } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { createTransport } from 'nodemailer';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { startDovecot } from '../helpers/dovecot-server.ts';
import { mail, newId, post } from '../helpers/inbound-mail.ts';
import { LARGE_MAILS } from '../helpers/large-mails.ts';
import { skipWithoutMailServers } from '../helpers/mail-servers.ts';
import { fillMaildir } from '../helpers/maildir.ts';
import { createTestDatabase, type TestDatabase } from '../helpers/postgres.ts';
import { query } from '../helpers/query.ts';
import { disposeService, startServiceProcess, type ServiceProcess } from '../helpers/service-process.ts';
import { waitUntil } from '../helpers/wait-until.ts';

/** How long one message may keep all others waiting, in ms. */
const MAX_TURN_MS = 100;
/** The best try counts: garbage collection and compilation, which run beside the work, affect only some of them. */
const TRIES = 4;
/** Work on a recorded email, such as making it searchable, begins within this time. */
const AFTERWARDS_MS = 1200;
const TIMEOUT_MS = 600_000;
const PROBE = fileURLToPath(new URL('../helpers/longest-turn.mjs', import.meta.url));

let database: TestDatabase;
let service: ServiceProcess | null = null;
beforeEach(async () => {
  database = await createTestDatabase();
});
afterEach(async () => {
  if (service !== null) await disposeService(service);
  service = null;
  await database.drop();
});

async function start(env: Readonly<Record<string, string>> = {}): Promise<ServiceProcess> {
  service = await startServiceProcess({
    env: {
      DATABASE_URL: database.connectionString,
      MAX_INBOUND_BYTES: '60000000',
      READ_TIMEOUT_MS: '60000',
      NODE_OPTIONS: `--import ${PROBE}`,
      ...env,
    },
  });
  return service;
}

/** The longest turn since the previous call, in ms. */
async function longestTurn({ process: { pid }, log }: ServiceProcess): Promise<number> {
  const before = log.length;
  process.kill(pid as number, 'SIGUSR2');
  let found: string | undefined;
  await waitUntil('the longest turn is known', () => {
    found = log
      .slice(before)
      .map((line) => /longest turn: ([\d.]+) ms/.exec(line)?.[1])
      .find((ms) => ms !== undefined);
    return found !== undefined;
  });
  return Number(found);
}

/** @param deliver resolves when the message is recorded */
async function expectShortTurns(
  way: string,
  running: ServiceProcess,
  deliver: (raw: string) => Promise<void>,
  mails: typeof LARGE_MAILS = LARGE_MAILS,
): Promise<void> {
  for (let warming = 0; warming < 3; warming++) await deliver(mail());
  const tooLong: Record<string, number> = {};
  for (const { name, make } of mails) {
    let best = Infinity;
    for (let left = TRIES; left > 0 && best > MAX_TURN_MS; left--) {
      const raw = make(newId());
      await longestTurn(running);
      await deliver(raw);
      await wait(AFTERWARDS_MS);
      best = Math.min(best, await longestTurn(running));
    }
    process.stdout.write(`${way}, ${name}: the longest turn took ${Math.round(best)} ms\n`);
    if (best > MAX_TURN_MS) tooLong[name] = best;
  }
  expect(tooLong).toEqual({});
}

const countEmails = async (): Promise<number> =>
  Number((await query(database.connectionString, 'select count(*) from emails'))[0]?.count);

it(
  'no message that comes by HTTP blocks the event loop for long',
  async () => {
    const running = await start();
    await expectShortTurns('HTTP', running, async (raw) => {
      const response = await post(running, raw);
      expect(response.status).toBe(200);
    });
  },
  TIMEOUT_MS,
);

/** One listener takes mail by both protocols, so each protocol gets every other mail. */
it.each([
  ['lmtp', 0],
  ['smtp', 1],
] as const)(
  'no message that comes by %s blocks the event loop for long',
  async (protocol, remainder) => {
    const running = await start({
      [protocol === 'lmtp' ? 'LMTP_LISTEN' : 'SMTP_LISTEN']: '127.0.0.1:0',
      MAIL_FROM: 'sales@example.com',
    });
    const line = running.log.find((one) => one.includes(`"protocol":"${protocol}"`)) ?? '';
    const port = Number(/"address":"127\.0\.0\.1:(\d+)"/.exec(line)?.[1]);
    const transport = createTransport({
      host: '127.0.0.1',
      port,
      lmtp: protocol === 'lmtp',
      ignoreTLS: true,
    });
    await expectShortTurns(
      protocol.toUpperCase(),
      running,
      async (raw) => {
        await transport.sendMail({ envelope: { from: 'ada@customer.test', to: ['sales@example.com'] }, raw });
      },
      LARGE_MAILS.filter((_, index) => index % 2 === remainder),
    );
  },
  TIMEOUT_MS,
);

describe.skipIf(skipWithoutMailServers())('from a mailbox', () => {
  it(
    'no message blocks the event loop for long',
    async () => {
      const dovecot = await startDovecot();
      try {
        const running = await start({ IMAP_URL: dovecot.urlOf('alice'), IMAP_POLL_MS: '1000' });
        await expectShortTurns('IMAP', running, async (raw) => {
          const before = await countEmails();
          await fillMaildir(dovecot, 'alice', null, [raw]);
          await waitUntil('it is recorded', async () => (await countEmails()) > before, TIMEOUT_MS / 4);
        });
      } finally {
        await dovecot.stop();
      }
    },
    TIMEOUT_MS,
  );
});
