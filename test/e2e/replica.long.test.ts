/** Several nodes with a streaming replica: callers read their own writes at any node, and every read works there. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import {
  createExternalPostgres,
  skipWithoutExternalPostgres,
  type ExternalPostgres,
} from '../helpers/external-postgres.ts';
import { createPostgresReplica, type PostgresReplica } from '../helpers/postgres-replica.ts';
import { disposeService, startServiceProcess, type ServiceProcess } from '../helpers/service-process.ts';
import { waitUntil } from '../helpers/wait-until.ts';

const CUSTOMER = '0198f000-0000-7000-8000-000000000001';
const MAIL = { to: 'ada@example.org', subject: 'Angebot', text_body: 'Guten Tag', customer_id: CUSTOMER };

interface Emails {
  readonly emails: readonly { readonly id: string; readonly message_id: string }[];
}

describe.skipIf(skipWithoutExternalPostgres())('two nodes with a replica', () => {
  let primary: ExternalPostgres;
  let replica: PostgresReplica;
  const nodes: ServiceProcess[] = [];

  beforeAll(async () => {
    primary = await createExternalPostgres();
    replica = await createPostgresReplica(primary);
    const env = {
      DATABASE_URL: primary.url,
      DATABASE_READ_URL: replica.url,
      // Patient with a slow machine.
      DATABASE_READ_MAX_LAG_MS: '250',
      METRICS_LISTEN: '127.0.0.1:0',
    };
    for (let count = 0; count < 2; count += 1) nodes.push(await startServiceProcess({ env }));
  });
  afterAll(async () => {
    await Promise.all(nodes.map(disposeService));
    await replica.dispose();
    await primary.dispose();
  });

  async function get<T>(node: ServiceProcess, path: string): Promise<T> {
    const response = await node.request(path);
    expect([path, response.status]).toEqual([path, 200]);
    return (await response.json()) as T;
  }

  async function send(node: ServiceProcess, fields: object = {}): Promise<{ id: string; threadId: string }> {
    const response = await node.request('/api/send', { json: { ...MAIL, ...fields } });
    expect(response.status).toBe(200);
    return (await response.json()) as { id: string; threadId: string };
  }

  async function readsOf(node: ServiceProcess, by: 'replica' | 'primary'): Promise<number> {
    const [, port] = /"port":(\d+),"msg":"metrics are at/.exec(node.log.join('\n')) ?? [];
    const text = await (await fetch(`http://127.0.0.1:${port}/metrics`)).text();
    return Number(new RegExp(`replica_reads_total\\{by="${by}"\\} (\\d+)`).exec(text)?.[1]);
  }

  it('show a caller what it sent through the other one, while the replica is behind as well', async () => {
    const [first, second] = nodes as [ServiceProcess, ServiceProcess];
    const { threadId } = await send(first);
    const sent: string[] = [];
    for (let turn = 0; turn < 20; turn += 1) {
      // From here on the replica stands still for a while.
      if (turn === 10) await replica.pause();
      const [at, other] = turn % 2 === 0 ? [first, second] : [second, first];
      sent.push((await send(at, { thread_id: threadId })).id);
      const [thread, ofCustomer, listed] = await Promise.all([
        get<Emails>(other, `/api/thread/${threadId}`),
        get<Emails>(other, `/api/customer/${CUSTOMER}/emails`),
        get<Emails>(other, '/api/emails'),
      ]);
      for (const { emails } of [thread, ofCustomer, listed]) {
        expect(emails.map(({ id }) => id)).toContain(sent.at(-1));
      }
      expect(thread.emails).toHaveLength(sent.length + 1);
    }
    await replica.resume();
    expect(await readsOf(first, 'primary')).toBeGreaterThan(0);
    await waitUntil('the replica serves again', async () => {
      const before = await readsOf(second, 'replica');
      await get(second, `/api/thread/${threadId}`);
      return (await readsOf(second, 'replica')) > before;
    });
  });

  it('never give an older thread for an ETag that one of them gave', async () => {
    const [first, second] = nodes as [ServiceProcess, ServiceProcess];
    const { threadId } = await send(first);
    await replica.pause();
    await send(first, { thread_id: threadId });
    const etag = (await first.request(`/api/thread/${threadId}`)).headers.get('etag');
    await replica.resume();
    for (const node of [second, first, second]) {
      const again = await node.request(`/api/thread/${threadId}`, {
        headers: { 'if-none-match': etag ?? '' },
      });
      expect(again.status).toBe(304);
    }
  });

  it('carry out every list, search and count on the replica', async () => {
    const [node] = nodes as [ServiceProcess];
    const { id, threadId } = await send(node);
    await waitUntil('the replica serves', async () => {
      const before = await readsOf(node, 'replica');
      await get(node, `/api/thread/${threadId}`);
      return (await readsOf(node, 'replica')) > before;
    });
    const before = await readsOf(node, 'replica');
    const paths = [
      `/api/thread/${threadId}`,
      `/api/threads/${threadId}`,
      '/api/threads',
      '/api/threads?q=angebot',
      '/api/threads?status=open&q=angebot',
      '/api/emails',
      '/api/emails?q=angebot',
      `/api/emails/${id}`,
      '/api/folders',
      '/api/customers',
      `/api/customer/${CUSTOMER}`,
      `/api/customer/${CUSTOMER}/emails`,
      '/api/addresses?q=ada',
      '/api/statistics?since=2026-01-01T00:00:00Z&until=2026-01-02T00:00:00Z&step=hour',
    ];
    for (const path of paths) await get(node, path);
    expect((await node.request(`/api/emails/${id}/raw`)).status).toBe(200);
    expect((await readsOf(node, 'replica')) - before).toBeGreaterThanOrEqual(paths.length);
    // If a replica could not run a statement, the log would report the replica as away.
    expect(node.log.join('\n')).not.toContain('"replica":"away"');
  });

  it('are ready without it, and say that it is away', async () => {
    const [node] = nodes as [ServiceProcess];
    const ready = async () => await fetch(`${node.url}/api/health/ready`);
    const checks = async () => ((await (await ready()).json()) as { checks: { replica: string } }).checks;
    await waitUntil('the replica is there', async () => (await checks()).replica === 'ok');
    await replica.stop();
    await waitUntil('the replica is away', async () => (await checks()).replica === 'away');
    expect((await ready()).status).toBe(200);
    const { threadId } = await send(node);
    expect((await get<Emails>(node, `/api/thread/${threadId}`)).emails).toHaveLength(1);
    await replica.start();
    await waitUntil('the replica is back', async () => (await checks()).replica === 'ok');
  });
});
