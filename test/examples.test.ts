/** The programs of examples/ run against a running service, with the client as it is packed. */
import { spawn, type ChildProcess } from 'node:child_process';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { Webhook } from 'standardwebhooks';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { EVENT_TYPES } from '../src/core/event/event-types.ts';
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

  it('survives every type of event, of emails that are there, gone or none, and types that are yet to come', async () => {
    const types = [...EVENT_TYPES, 'future.type'];
    const [there, gone, erased] = await Promise.all(
      ['there', 'gone', 'erased'].map((name) => sendJson(service, { ...SEND, to: `${name}@example.org` })),
    );
    const remove = (id: string) => service.request(`/api/emails/${id}`, { method: 'DELETE' });
    expect((await remove(gone!.id)).status).toBe(200);
    const proxy = await startProxy(types, [there!.id, gone!.id, null]);
    const first = startExample('mirror-emails.mjs', { BASE_URL: proxy.url });
    await waitUntil('it follows the feed', () => first.output().includes('following'));

    // Each is in the feed behind the others, and the last ones are about emails that are gone when the program reads of them.
    const post = async (path: string, json: object) =>
      expect((await service.request(path, { json })).ok, path).toBe(true);
    const [one, other, third] = await Promise.all([1, 2, 3].map(() => sendJson(service, SEND)));
    await receive(service, mail({ from: 'bob@example.org', inReplyTo: one!.messageId }));
    await post(`/api/thread/${one!.threadId}/merge`, { thread_id: other!.threadId });
    await post(`/api/thread/${one!.threadId}/split`, { email_ids: [other!.id] });
    await post(`/api/thread/${one!.threadId}/move`, { email_ids: [third!.id] });
    await post('/api/erasures', { address: 'erased@example.org' });
    expect((await remove(third!.id)).status).toBe(200);

    await waitUntil('it has logged every type of event', async () => {
      const log = await query(crm.connectionString, 'select distinct type from crm_log');
      return types.every((type) => log.some((row) => row['type'] === type));
    });
    await waitUntil('the erased email is gone', async () => {
      const left = await query(database.connectionString, 'select id from emails where id = $1', [
        erased!.id,
      ]);
      return left.length === 0;
    });
    await mirrorIsWhole();
    expect(first.child.exitCode).toBeNull();

    // It was away for longer than events are kept, and an email was deleted meanwhile.
    await kill(first.child);
    expect((await remove(one!.id)).status).toBe(200);
    await query(crm.connectionString, `update crm_feed set position = '0000000000000001'`);
    const again = startExample('mirror-emails.mjs');
    await mirrorIsWhole();
    expect(again.child.exitCode).toBeNull();
    await proxy.close();
  });

  const mirrorIsWhole = () =>
    waitUntil('it has all emails as they are, and no others', async () => {
      const emails = await query(
        database.connectionString,
        'select id, thread_id, direction, state, subject, text_body as body from emails order by id',
      );
      return JSON.stringify(emails) === JSON.stringify(await readMirror());
    });
});

/** Hands requests on to the service, and puts events of these types about each of these emails into the first page of events, twice. */
async function startProxy(types: readonly string[], emailIds: readonly (string | null)[]) {
  let isFirst = true;
  const proxy = createServer((request, response) => {
    const answer = async () => {
      const answered = await fetch(new URL(request.url ?? '', service.url), {
        headers: { authorization: String(request.headers.authorization) },
      });
      const body = (await answered.json()) as { events?: object[] };
      if (isFirst && (body.events?.length ?? 0) > 0) {
        isFirst = false;
        const added = types.flatMap((type) =>
          emailIds.map((email_id, index) => ({ id: `${type}-${index}`, type, email_id, data: {} })),
        );
        body.events?.push(...added, ...added);
      }
      response.writeHead(answered.status, { 'content-type': 'application/json' }).end(JSON.stringify(body));
    };
    answer().catch((error: unknown) => response.destroy(error as Error));
  });
  await new Promise<void>((resolve) => proxy.listen(0, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${(proxy.address() as AddressInfo).port}`,
    close: () => {
      proxy.closeAllConnections();
      return new Promise((resolve) => proxy.close(resolve));
    },
  };
}

describe('take-webhooks.mjs', () => {
  const SECRET = `whsec_${Buffer.from('a secret of twenty-four bytes').toString('base64')}`;
  const BODY = JSON.stringify({ id: '0005135c00000001', type: 'email.received', email_id: null, data: {} });
  const sign = (id: string, body: string, now: Date) => ({
    'webhook-id': id,
    'webhook-timestamp': String(Math.floor(now.getTime() / 1000)),
    'webhook-signature': new Webhook(SECRET).sign(id, now, body),
  });
  const post = (url: string, headers: Record<string, string>, body = BODY) =>
    fetch(url, { method: 'POST', body, headers }).then(({ status }) => status);

  it('takes an event once, and refuses what is not signed', async () => {
    const { output } = startExample('take-webhooks.mjs', { WEBHOOK_SECRET: SECRET, PORT: '0' });
    await waitUntil('it listens', () => output().includes('listening'));
    const url = `http://127.0.0.1:${/port (\d+)/.exec(output())?.[1]}/`;
    const headers = sign('0005135c00000001', BODY, new Date());
    expect(await post(url, headers)).toBe(204);
    expect(await post(url, headers)).toBe(204);
    expect(await post(url, { ...headers, 'webhook-signature': 'v1,AAAA' })).toBe(400);
    expect(await post(url, headers, ' '.repeat(1_000_001))).toBe(413);
    expect(await query(crm.connectionString, 'select event_id, type from crm_events')).toEqual([
      { event_id: '0005135c00000001', type: 'email.received' },
    ]);
    expect(output()).toContain('again: 0005135c00000001');
  });

  it('takes every type of event, and types that are yet to come', async () => {
    const { child, output } = startExample('take-webhooks.mjs', { WEBHOOK_SECRET: SECRET, PORT: '0' });
    await waitUntil('it listens', () => output().includes('listening'));
    const url = `http://127.0.0.1:${/port (\d+)/.exec(output())?.[1]}/`;
    for (const type of [...EVENT_TYPES, 'future.type']) {
      for (const email_id of ['0199d3a4-5b1e-7c52-9f0e-2f6a1d3b8c47', null]) {
        const id = `${type}-${email_id}`;
        const body = JSON.stringify({ id, type, email_id, data: {} });
        expect(await post(url, sign(id, body, new Date()), body), id).toBe(204);
      }
    }
    expect(child.exitCode).toBeNull();
  });
});
