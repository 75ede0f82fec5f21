/** Backups that are taken while a mail server keeps sends waiting, and while sends are in the journal alone; nothing in a restore sends again. */
import path from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { runCommand } from '../helpers/command-process.ts';
import {
  createExternalPostgres,
  skipWithoutExternalPostgres,
  type ExternalPostgres,
} from '../helpers/external-postgres.ts';
import { startGatedSink, type GatedSink } from '../helpers/gated-sink.ts';
import { createEmptyDatabase, type TestDatabase } from '../helpers/postgres.ts';
import { getJson } from '../helpers/running-service.ts';
import { disposeService, startServiceProcess, type ServiceProcess } from '../helpers/service-process.ts';
import { makeTempFolder, type TempFolder } from '../helpers/temp-folder.ts';
import { waitUntil } from '../helpers/wait-until.ts';

const TIMEOUT_MS = 300_000;

let folder: TempFolder;
let sink: GatedSink;
let place: string;
const services: ServiceProcess[] = [];
const databases: TestDatabase[] = [];
beforeEach(async () => {
  [folder, sink] = await Promise.all([makeTempFolder(), startGatedSink()]);
  place = path.join(folder.path, 'place');
});
afterEach(async () => {
  sink.open();
  await Promise.all(services.splice(0).map(disposeService));
  await Promise.all(databases.splice(0).map((database) => database.drop()));
  await sink.stop();
  await folder.remove();
});

/** Two connections, so that some of several sends wait for their turn. */
const envOf = (database: Readonly<Record<string, string>>) => ({
  SMTP_URL: sink.url,
  SMTP_MAX_CONNECTIONS: '2',
  MAIL_FROM: 'Sales <sales@example.com>',
  ...database,
});

async function start(env: Readonly<Record<string, string>>, dataDir?: string): Promise<ServiceProcess> {
  const service = await startServiceProcess({
    env: envOf(env),
    ...(dataDir === undefined ? {} : { dataDir }),
  });
  services.push(service);
  return service;
}

const send = (
  service: ServiceProcess,
  subject: string,
  headers: Readonly<Record<string, string>>,
  more: object = {},
) =>
  service.request('/api/send', {
    json: { to: `${subject}@customer.test`, subject, text_body: 'Text', ...more },
    headers,
  });

/** How often the mail server took each email. */
function countTaken(): Readonly<Record<string, number>> {
  const count: Record<string, number> = {};
  for (const { raw } of sink.messages) {
    const subject = /^Subject: (\S+)/m.exec(raw.toString('latin1'))?.[1] ?? '';
    count[subject] = (count[subject] ?? 0) + 1;
  }
  return count;
}

/** Restores into a new database, with a DATA_DIR of its own, and starts a service on it. */
async function restore(): Promise<ServiceProcess> {
  const database = await createEmptyDatabase();
  databases.push(database);
  const env = { DATABASE_URL: database.connectionString };
  const dataDir = path.join(folder.path, `restored-${databases.length}`);
  const restored = await runCommand(['restore', place], {
    dataDir: folder.path,
    env: { ...envOf(env), DATA_DIR: dataDir },
  });
  expect(restored).toMatchObject({ exitCode: 0, stderr: '' });
  return await start(env, dataDir);
}

/** An email sent now goes out, so the queue has had its turn. */
async function expectOnlyNewToBeSent(service: ServiceProcess): Promise<void> {
  const before = countTaken();
  expect((await send(service, 'fresh', { prefer: 'respond-async' })).status).toBe(202);
  await waitUntil('the queue was gone through', () => countTaken()['fresh'] === 1);
  expect(countTaken()).toEqual({ ...before, fresh: 1 });
}

const stateOf = async (service: ServiceProcess, id: string) => {
  const { state, state_detail: detail } = await getJson<{ state: string; state_detail: string | null }>(
    service,
    `/api/emails/${id}`,
  );
  return { state, detail };
};

it(
  'what was under way and what waited is unknown after a restore, and only an operator sends it again',
  async () => {
    const source = await start({});
    const first = await send(source, 'before', {});
    expect(first.status).toBe(200);
    const { id: sentId } = (await first.json()) as { id: string };

    sink.close();
    const queued: string[] = [];
    for (let number = 1; number <= 6; number += 1) {
      const answer = await send(source, `queued${number}`, { prefer: 'respond-async' });
      expect(answer.status).toBe(202);
      queued.push(((await answer.json()) as { id: string }).id);
    }
    const later = await send(
      source,
      'later',
      {},
      { send_at: new Date(Date.now() + 86_400_000).toISOString() },
    );
    queued.push(((await later.json()) as { id: string }).id);
    // A caller that waits for the answer, which the killed service never gives.
    const waiting = send(source, 'waiting', { 'idempotency-key': 'waiting' }).catch(() => null);
    await sink.reached();
    await waitUntil('the key is taken', async () => {
      const again = await send(source, 'waiting', { 'idempotency-key': 'waiting' });
      return again.status === 409;
    });
    const states = await Promise.all(queued.map((id) => stateOf(source, id)));
    expect(new Set(states.map(({ state }) => state))).toContain('queued');

    const made = await runCommand(['backup', place], { dataDir: source.dataDir, env: envOf({}) });
    expect(made).toMatchObject({ exitCode: 0, stderr: '' });
    // Everything goes out after the backup, except the email scheduled for tomorrow; then the machine is lost.
    sink.open();
    await waitUntil('all were sent', () => sink.messages.length === 8);
    await waiting;
    await source.kill();

    const restored = await restore();
    expect(await stateOf(restored, sentId)).toMatchObject({ state: 'sent' });
    for (const id of queued) {
      expect(await stateOf(restored, id)).toEqual({
        state: 'unknown',
        detail: expect.stringMatching(/^restored from a backup of .*: it may have been sent since$/),
      });
    }
    // The request that had no answer when the backup was taken sends nothing when it is repeated.
    const repeated = await send(restored, 'waiting', { 'idempotency-key': 'waiting' });
    expect(await repeated.json()).toMatchObject({ code: 'send_unknown' });
    await expectOnlyNewToBeSent(restored);
    expect(Object.entries(countTaken()).filter(([, times]) => times > 1)).toEqual([]);

    // The email scheduled for tomorrow was not sent: an operator records that.
    const [scheduled = ''] = queued.slice(-1);
    const retried = await restored.request(`/api/emails/${scheduled}/retry`, { method: 'POST' });
    expect(retried.status).toBe(200);
    await waitUntil('it is sent', () => countTaken()['later'] === 1);
  },
  TIMEOUT_MS,
);

it(
  'what a killed service had begun to send is stored by a backup without the service, as unknown',
  async () => {
    const database = await createEmptyDatabase();
    databases.push(database);
    const env = { DATABASE_URL: database.connectionString };
    const source = await start(env);
    sink.close();
    const waiting = send(source, 'begun', {}).catch(() => null);
    await sink.reached();
    await source.kill();
    await waiting;
    sink.open();

    const made = await runCommand(['backup', place], { dataDir: source.dataDir, env: envOf(env) });
    expect(made).toMatchObject({ exitCode: 0, stderr: '' });
    const restored = await restore();
    const { emails } = await getJson<{ emails: readonly { subject: string; state: string }[] }>(
      restored,
      '/api/emails',
    );
    expect(emails).toEqual([expect.objectContaining({ subject: 'begun', state: 'unknown' })]);
    await expectOnlyNewToBeSent(restored);
    expect(countTaken()['begun'] ?? 0).toBeLessThanOrEqual(1);
  },
  TIMEOUT_MS,
);

describe.skipIf(skipWithoutExternalPostgres())('with a database that goes away', () => {
  let postgres: ExternalPostgres;
  beforeEach(async () => {
    postgres = await createExternalPostgres();
  });
  afterEach(async () => {
    await Promise.all(services.splice(0).map(disposeService));
    await postgres.dispose();
  });

  it(
    'what was sent and is in the journal alone is in a backup that is made when the database is back',
    async () => {
      const env = { DATABASE_URL: postgres.url };
      const source = await start(env);
      expect((await send(source, 'first', {})).status).toBe(200);
      await postgres.stop();
      const partial = await send(source, 'partial', {});
      expect(partial.status).toBe(207);
      await source.kill();
      // Without the database there is no backup, and the command says so.
      const refused = await runCommand(['backup', place], {
        dataDir: source.dataDir,
        env: envOf({ ...env, DATABASE_CONNECT_TIMEOUT_MS: '1000' }),
      });
      expect(refused.exitCode).toBe(1);
      await postgres.start();

      const made = await runCommand(['backup', place], { dataDir: source.dataDir, env: envOf(env) });
      expect(made).toMatchObject({ exitCode: 0, stderr: '' });
      const restored = await restore();
      const { emails } = await getJson<{ emails: readonly { subject: string; state: string }[] }>(
        restored,
        '/api/emails',
      );
      expect(emails.map(({ subject, state }) => `${subject} ${state}`).sort()).toEqual([
        'first sent',
        'partial sent',
      ]);
      await expectOnlyNewToBeSent(restored);
      expect(countTaken()).toEqual({ first: 1, partial: 1, fresh: 1 });
    },
    TIMEOUT_MS,
  );
});
