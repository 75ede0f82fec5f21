/** The programs of examples/ run against a running service, with the client as it is packed. */
import { spawn, type ChildProcess } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { Webhook } from 'standardwebhooks';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { makeProject, ROOT, run, type Project } from './client/package.ts';
import { backgroundWorkIsDone } from './helpers/background-work.ts';
import { mail, receive } from './helpers/inbound-mail.ts';
import { createTestDatabase, type TestDatabase } from './helpers/postgres.ts';
import { query } from './helpers/query.ts';
import { getJson, sendJson, startServiceWithDatabase } from './helpers/running-service.ts';
import { TEST_SECRET, type ServiceProcess } from './helpers/service-process.ts';
import { waitUntil } from './helpers/wait-until.ts';

let service: ServiceProcess;
let end: () => Promise<void>;
let database: TestDatabase;
let project: Project;
let crm: TestDatabase;
let env: NodeJS.ProcessEnv;

beforeAll(async () => {
  [{ service, end, database }, project, crm] = await Promise.all([
    startServiceWithDatabase(),
    makeProject(),
    createTestDatabase(),
  ]);
  for (const name of ['send-and-read.mjs', 'mirror-emails.mjs', 'take-webhooks.mjs'])
    await project.write(name, await readFile(path.join(ROOT, 'examples', name), 'utf8'));
  env = {
    ...process.env,
    BASE_URL: service.url,
    API_SECRET: TEST_SECRET,
    CRM_DATABASE_URL: crm.connectionString,
  };
});
afterAll(async () => {
  await Promise.all([end(), project.dispose()]);
  await crm.drop();
});

const started = new Set<ChildProcess>();
afterEach(async () => {
  await Promise.all([...started].map(kill));
});

/** Starts a program that goes on until it is killed. */
function startExample(name: string, more: NodeJS.ProcessEnv = {}) {
  const child = spawn(process.execPath, [name], { cwd: project.folder, env: { ...env, ...more } });
  started.add(child);
  let output = '';
  child.stdout.on('data', (chunk) => (output += String(chunk)));
  child.stderr.on('data', (chunk) => (output += String(chunk)));
  return { child, output: () => output };
}

async function kill(child: ChildProcess): Promise<void> {
  started.delete(child);
  if (child.exitCode !== null || child.signalCode !== null) return;
  const ended = new Promise((resolve) => child.once('exit', resolve));
  child.kill('SIGKILL');
  await ended;
}

it('send-and-read.mjs sends an email and reads its thread', async () => {
  const { stdout } = await run(process.execPath, ['send-and-read.mjs', 'ada@example.org'], {
    cwd: project.folder,
    env,
  });
  expect(stdout).toMatch(/^sent: <[^>]+>\n\S+ outbound Your offer \[offer\.txt \(9 bytes\)\]\n$/);
});

describe('mirror-emails.mjs', () => {
  const SEND = { to: 'bob@example.org', subject: 'Offer', text_body: 'Hello' };
  const readMirror = () =>
    query(
      crm.connectionString,
      'select id, thread_id, direction, state, subject, body from crm_emails order by id',
    );

  it('has every email and every event once, however often it is killed', async () => {
    await sendJson(service, SEND);
    const first = startExample('mirror-emails.mjs');
    await waitUntil('it follows the feed', () => first.output().includes('following'));
    expect(first.output()).toMatch(/^copied \d+ emails\n/);
    await kill(first.child);
    const [begin] = await query(crm.connectionString, 'select position from crm_feed');

    for (let round = 0; round < 5; round += 1) {
      const { child, output } = startExample('mirror-emails.mjs');
      await waitUntil('it follows the feed', () => output().includes('following'));
      const changes = Array.from({ length: 4 }, async () => {
        const { messageId, threadId } = await sendJson(service, SEND);
        await receive(service, mail({ from: 'bob@example.org', inReplyTo: messageId }));
        await service.request(`/api/thread/${threadId}/read`, { method: 'POST' });
      });
      // In the middle of the changes in every other round, else at their end
      if (round % 2 === 0) await Promise.race(changes);
      else await Promise.all(changes);
      await kill(child);
      await Promise.all(changes);
    }

    startExample('mirror-emails.mjs');
    await backgroundWorkIsDone(database.connectionString);
    const { id: latest } = await getJson<{ id: string }>(service, '/api/events/latest');
    await waitUntil('it has read everything', async () => {
      const [feed] = await query(crm.connectionString, 'select position from crm_feed');
      return String(feed?.['position']) >= latest;
    });
    const { events } = await getJson<{ events: { id: string }[] }>(
      service,
      `/api/events?after=${String(begin?.['position'])}&limit=1000`,
    );
    const log = await query(crm.connectionString, 'select event_id from crm_log order by id');
    expect(log.map((row) => row['event_id'])).toEqual(events.map(({ id }) => id));
    const emails = await query(
      database.connectionString,
      `select id, thread_id, direction, state, subject, text_body as body from emails order by id`,
    );
    expect(await readMirror()).toEqual(emails);
  });
});

describe('take-webhooks.mjs', () => {
  const SECRET = `whsec_${Buffer.from('a secret of twenty-four bytes').toString('base64')}`;
  const BODY = JSON.stringify({ id: '0005135c00000001', type: 'email.received', email_id: null, data: {} });
  const post = (url: string, headers: Record<string, string>, body = BODY) =>
    fetch(url, { method: 'POST', body, headers }).then(({ status }) => status);

  it('takes an event once, and refuses what is not signed', async () => {
    const { output } = startExample('take-webhooks.mjs', { WEBHOOK_SECRET: SECRET, PORT: '0' });
    await waitUntil('it listens', () => output().includes('listening'));
    const url = `http://127.0.0.1:${/port (\d+)/.exec(output())?.[1]}/`;
    const now = new Date();
    const headers = {
      'webhook-id': '0005135c00000001',
      'webhook-timestamp': String(Math.floor(now.getTime() / 1000)),
      'webhook-signature': new Webhook(SECRET).sign('0005135c00000001', now, BODY),
    };
    expect(await post(url, headers)).toBe(204);
    expect(await post(url, headers)).toBe(204);
    expect(await post(url, { ...headers, 'webhook-signature': 'v1,AAAA' })).toBe(400);
    expect(await post(url, headers, ' '.repeat(1_000_001))).toBe(413);
    expect(await query(crm.connectionString, 'select event_id, type from crm_events')).toEqual([
      { event_id: '0005135c00000001', type: 'email.received' },
    ]);
    expect(output()).toContain('again: 0005135c00000001');
  });
});
