/** What one key asks for without end delays neither mail nor another key. Nothing here is measured: every answer comes while the attack goes on. */
import { createTransport } from 'nodemailer';
import { Client } from 'pg';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { FOLLOWING_IS_CHEAP } from '../../src/platform/base/request-scope.ts';
import { mail, newId, receive } from '../helpers/inbound-mail.ts';
import { createTestDatabase, type TestDatabase } from '../helpers/postgres.ts';
import { query } from '../helpers/query.ts';
import { IS_ALL } from '../helpers/runs.ts';
import { disposeService, startServiceProcess, type ServiceProcess } from '../helpers/service-process.ts';
import { waitUntil } from '../helpers/wait-until.ts';

/** Connections of the attacker, each of which asks again as soon as it has its answer. */
const CONNECTIONS = 16;
/** Of a template: as many as the attack from outside had, and fewer where other tests wait for the machine. */
const LINES = IS_ALL ? 20_000 : 5_000;
/** Of a mail that takes a reading process a good part of a second to be made safe. */
const HTML_BLOCKS = 3_000;
/** A machine that has other work to do takes long while both cores are attacked. */
const TIMEOUT_MS = 600_000;

let database: TestDatabase;
let service: ServiceProcess;
const keys: Record<'attacker' | 'reader' | 'receiver', string> = { attacker: '', reader: '', receiver: '' };
let lmtp: ReturnType<typeof createTransport>;

beforeAll(async () => {
  database = await createTestDatabase();
  service = await startServiceProcess({
    env: {
      DATABASE_URL: database.connectionString,
      LMTP_LISTEN: '127.0.0.1:0',
      MAIL_FROM: 'sales@example.com',
      READ_PROCESSES: '2',
    },
  });
  for (const [name, rights] of [
    ['attacker', ['read', 'operate']],
    ['reader', ['read', 'operate']],
    ['receiver', ['receive']],
  ] as const) {
    const response = await service.request('/api/keys', { json: { name, rights, account_ids: ['default'] } });
    keys[name] = ((await response.json()) as { secret: string }).secret;
  }
  const address = service.log
    .map((line) => /"address":"127\.0\.0\.1:(\d+)".*listening for received mail/.exec(line)?.[1])
    .find((port) => port !== undefined);
  lmtp = createTransport({ host: '127.0.0.1', port: Number(address), lmtp: true, ignoreTLS: true } as object);
});
afterAll(async () => {
  lmtp.close();
  await disposeService(service);
  await database.drop();
});

const as = (key: keyof typeof keys, path: string, init: RequestInit & { json?: unknown } = {}) =>
  service.request(path, { ...init, headers: { ...init.headers, authorization: `Bearer ${keys[key]}` } });

async function makeTemplate(textBody: string): Promise<string> {
  const response = await service.request('/api/templates', {
    json: { name: 'a template', subject: 'Hello', text_body: textBody },
  });
  expect(response.status).toBe(201);
  return ((await response.json()) as { id: string }).id;
}

const preview = (key: keyof typeof keys, id: string, variables: object = { a: 'x' }) =>
  as(key, `/api/templates/${id}/preview`, { json: { variables } });

/** Runs `work` while the attacker repeats `attack` on all its connections. Returns the answers that the attacker got, by status. */
async function during(
  attack: (turn: number) => Promise<Response>,
  work: () => Promise<void>,
): Promise<Record<number, number>> {
  const answers: Record<number, number> = {};
  const over = new AbortController();
  let turns = 0;
  const attackers = Array.from({ length: CONNECTIONS }, async () => {
    while (!over.signal.aborted) {
      const response = await attack(turns++);
      await response.arrayBuffer();
      answers[response.status] = (answers[response.status] ?? 0) + 1;
    }
  });
  try {
    await work();
  } finally {
    over.abort();
    await Promise.all(attackers);
  }
  return answers;
}

/** What all others want of the service, at once: each must be answered while the attack goes on. */
async function expectOthersAreServed(): Promise<void> {
  const id = await makeTemplate('Hello {{ a }}');
  await Promise.all([
    receive(service, mail()),
    expectPosted(),
    expectDelivered(),
    expectPreview(id),
    expectList(),
  ]);
}

async function expectPosted(): Promise<void> {
  const posted = await as('receiver', '/api/inbound', {
    method: 'POST',
    body: mail(),
    headers: { 'content-type': 'message/rfc822' },
  });
  expect(posted.status).toBe(200);
}

async function expectDelivered(): Promise<void> {
  const { accepted } = (await lmtp.sendMail({
    envelope: { from: 'ada@customer.test', to: 'sales@example.com' },
    raw: mail(),
  })) as { accepted: readonly unknown[] };
  expect(accepted).toHaveLength(1);
}

async function expectPreview(id: string): Promise<void> {
  const shown = await preview('reader', id);
  expect(shown.status).toBe(200);
  expect(await shown.json()).toMatchObject({ text_body: 'Hello x' });
}

async function expectList(): Promise<void> {
  const listed = await as('reader', '/api/threads');
  expect(listed.status).toBe(200);
}

describe(
  'mail, and what another key asks for, is answered while a key that may read',
  { timeout: TIMEOUT_MS },
  () => {
    it('previews templates whose lists contain themselves twice, again and again', async () => {
      const doubling = `{% assign a = "" | split: "" %}${'{% assign a = a | push: a | push: a %}'.repeat(40)}{{ a }}`;
      const id = await makeTemplate(doubling);
      const answers = await during(() => preview('attacker', id, {}), expectOthersAreServed);
      // The engine's own bound ends them: 400 template_too_complex.
      expect(Object.keys(answers)).toEqual(expect.arrayContaining(['400']));
      expect(Object.keys(answers).filter((status) => !['400', '429'].includes(status))).toEqual([]);
    });

    it('previews templates of thousands of lines, again and again', async () => {
      const long = `{% liquid\n${'echo a\n'.repeat(LINES)}%}`;
      const ids = await Promise.all(Array.from({ length: 6 }, () => makeTemplate(long)));
      const answers = await during(
        (turn) => preview('attacker', ids[turn % ids.length] ?? ''),
        expectOthersAreServed,
      );
      expect(answers[200]).toBeGreaterThan(0);
    });

    it('creates templates of thousands of lines, again and again', async () => {
      const json = {
        name: 'long',
        subject: 'x',
        text_body: '{{ a }}\n'.repeat(LINES),
        account_id: 'default',
      };
      await during(() => as('attacker', '/api/templates', { json }), expectOthersAreServed);
    });

    it('searches, lists and exports all mail, again and again', async () => {
      const body = Array.from({ length: 5000 }, (_, index) => `word${index}`).join(' ');
      for (let index = 0; index < 30; index++)
        await receive(service, mail({ body, subject: `Order ${index}` }));
      const asked = [
        '/api/threads?q=word1',
        '/api/emails?q=word2&limit=200',
        '/api/threads?limit=200',
        '/api/statistics',
      ];
      const answers = await during(
        (turn) => as('attacker', asked[turn % asked.length] ?? ''),
        expectOthersAreServed,
      );
      expect(answers[200]).toBeGreaterThan(0);
    });

    it('opens mail with much HTML, again and again', async () => {
      const html = '<div style="color:red"><a href="https://example.com">x</a></div>'.repeat(HTML_BLOCKS);
      const { id } = await receive(
        service,
        mail({ messageId: newId(), headers: ['Content-Type: text/html'], body: html }),
      );
      await during(() => as('attacker', `/api/emails/${id}/html`), expectOthersAreServed);
    });
  },
);

/** What a key may have under way at once. */
const AT_ONCE = 32;
/** Of a pool of ten connections, callers may hold this many; one of them, where callers are followed. */
const SHARE = FOLLOWING_IS_CHEAP ? 4 : 6;

it('32 reads of one key that do not come to an end leave connections for mail, and for another key', async () => {
  const blocker = new Client({ connectionString: database.connectionString });
  await blocker.connect();
  try {
    await blocker.query('begin; lock table imports in access exclusive mode');
    const reads = Array.from({ length: AT_ONCE }, async () => (await as('attacker', '/api/imports')).status);
    await waitUntil('callers hold their share', async () => {
      const [row] = await query(
        database.connectionString,
        `select count(*)::int as n from pg_stat_activity
        where datname = current_database() and wait_event_type = 'Lock' and query like '%imports%'`,
      );
      return Number(row?.['n']) >= SHARE;
    });

    for (let round = 0; round < 2; round++) {
      await receive(service, mail());
      await expectDelivered();
      // Elsewhere the database's connections are shared without regard to keys.
      if (FOLLOWING_IS_CHEAP) await expectList();
      const queued = await service.request('/api/send', {
        json: { to: 'ada@customer.test', subject: 'Hi', text_body: 'Hi' },
        headers: { prefer: 'respond-async' },
      });
      expect(queued.status).toBe(202);
      const { id } = (await queued.json()) as { id: string };
      await waitUntil('it is sent', async () => {
        const [row] = await query(database.connectionString, 'select state from emails where id = $1', [id]);
        return row?.['state'] === 'sent';
      });
    }
    await blocker.query('rollback');
    // Those that waited for too long are refused, as without a database.
    for (const status of await Promise.all(reads)) expect([200, 503]).toContain(status);
  } finally {
    await blocker.end();
  }
});
