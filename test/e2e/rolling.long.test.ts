/**
 * Several instances behind nginx, as described in docs/hosting/several.md: each is restarted in turn while requests come, and none fails.
 */
import { randomUUID } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { Starver } from '../crash/starver.ts';
import { findFreePort } from '../helpers/free-port.ts';
import { skipWithoutNginx, startNginxWith, type Nginx } from '../helpers/nginx.ts';
import { createTestDatabase, type TestDatabase } from '../helpers/postgres.ts';
import { query } from '../helpers/query.ts';
import {
  disposeService,
  startServiceProcess,
  TEST_SECRET,
  type ServiceProcess,
} from '../helpers/service-process.ts';
import { startSmtpSink, type SmtpSink } from '../helpers/smtp-sink.ts';
import { waitUntil } from '../helpers/wait-until.ts';

const NODES = 2;
const SENDERS = 3;
const READERS = 3;
const STARVER_SEED = 29;
/** Number of answers that show that a node serves, or that the load goes on. */
const SOME = 20;

describe.skipIf(skipWithoutNginx())('instances behind nginx', () => {
  let database: TestDatabase;
  let sink: SmtpSink;
  let nginx: Nginx;
  let starver: Starver | null;
  const nodes: ServiceProcess[] = [];

  async function start(port: number, dataDir?: string): Promise<ServiceProcess> {
    return await startServiceProcess({
      ...(dataDir === undefined ? {} : { dataDir }),
      onSpawn: (pid) => starver?.add(pid),
      env: {
        DATABASE_URL: database.connectionString,
        SMTP_URL: sink.url,
        PORT: String(port),
        SHUTDOWN_DRAIN_MS: '500',
        SHUTDOWN_TIMEOUT_MS: '60000',
        ACCESS_LOG: 'routes',
      },
    });
  }

  /** The `nginx` block of the guide, in front of these ports. */
  async function startGuidesNginx(ports: readonly number[]): Promise<Nginx> {
    const guide = await readFile(new URL('../../docs/hosting/several.md', import.meta.url), 'utf8');
    const [, block = ''] = /```nginx\n(.*?)```/s.exec(guide) ?? [];
    let index = 0;
    const upstreams = block.replaceAll(/10\.0\.0\.\d:3000/g, () => `127.0.0.1:${ports[index++]}`);
    expect(index).toBe(ports.length);
    return await startNginxWith((port) => upstreams.replace('127.0.0.1:8080', `127.0.0.1:${port}`));
  }

  beforeEach(async () => {
    starver = null;
    [database, sink] = await Promise.all([createTestDatabase(), startSmtpSink()]);
    const ports: number[] = [];
    for (let index = 0; index < NODES; index += 1) {
      ports.push(await findFreePort());
      nodes.push(await start(ports[index]!));
    }
    nginx = await startGuidesNginx(ports);
  });
  afterEach(async () => {
    starver?.stop();
    await nginx.stop();
    await Promise.all(nodes.splice(0).map(disposeService));
    await sink.stop();
    await database.drop();
  });

  const ask = (path: string, json?: unknown) =>
    fetch(`http://127.0.0.1:${nginx.port}${path}`, {
      ...(json === undefined ? {} : { method: 'POST', body: JSON.stringify(json) }),
      headers: { authorization: `Bearer ${TEST_SECRET}`, 'content-type': 'application/json' },
    });

  it.each([
    ['answer every request while each is restarted, and lose or double no send', false],
    ['do so while each gets little of the machine and is stopped for moments, at its start too', true],
  ])('%s', async (_, isStarved) => {
    if (isStarved) {
      starver = new Starver(STARVER_SEED);
      for (const { process } of nodes) starver.add(process.pid!);
      starver.begin();
    }
    const failed: string[] = [];
    const sent: string[] = [];
    let read = 0;
    const over = new AbortController();
    const note = async (response: Response, what: string): Promise<unknown> => {
      if (response.status === 200) return await response.json();
      failed.push(`${what}: ${response.status} ${await response.text()}`);
      return null;
    };
    const { threadId } = (await (
      await ask('/api/send', { to: 'ada@example.org', subject: 'Hallo', text_body: 'Guten Tag' })
    ).json()) as { threadId: string };

    const sender = async () => {
      while (!over.signal.aborted) {
        const mail = { to: 'ada@example.org', subject: randomUUID(), text_body: 'Guten Tag' };
        const answer = (await note(await ask('/api/send', mail), 'send')) as { messageId: string } | null;
        if (answer !== null) sent.push(answer.messageId);
      }
    };
    const reader = async () => {
      while (!over.signal.aborted) {
        const answer = (await note(await ask(`/api/thread/${threadId}`), 'read')) as {
          emails: unknown[];
        } | null;
        if (answer !== null) read += answer.emails.length;
      }
    };
    const load = [...Array.from({ length: SENDERS }, sender), ...Array.from({ length: READERS }, reader)].map(
      (one) => one.catch((error: unknown) => failed.push(String(error))),
    );
    const goesOn = async () => {
      const [sentBefore, readBefore] = [sent.length, read];
      await waitUntil(
        'requests are answered',
        () => sent.length > sentBefore + SOME && read > readBefore + SOME,
      );
    };

    await goesOn();
    for (const [index, node] of nodes.entries()) {
      expect(await node.stop()).toBe(0);
      starver?.remove(node.process.pid!);
      await goesOn();
      const again = await start(Number(new URL(node.url).port), node.dataDir);
      nodes[index] = again;
      // Before the next node stops, nginx sends requests to this one again.
      await waitUntil(
        'the node serves again',
        () => again.log.filter((line) => line.includes('"/api/send"')).length > SOME,
      );
    }
    await starver?.end();
    over.abort();
    await Promise.all(load);

    expect(failed).toEqual([]);
    expect(new Set(sent).size).toBe(sent.length);
    const [stored] = await query(
      database.connectionString,
      `select count(*)::int as emails, count(*) filter (where state = 'sent')::int as sent from emails`,
    );
    // Including the one that began the thread.
    expect(stored).toEqual({ emails: sent.length + 1, sent: sent.length + 1 });
    expect(sink.messages).toHaveLength(sent.length + 1);
    for (const messageId of sent) expect(sink.byMessageId(messageId)).toHaveLength(1);
  });
});
