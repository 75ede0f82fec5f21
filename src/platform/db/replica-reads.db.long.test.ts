/** Reads on a real streaming replica: the reads that it serves, and those that it must not. */
import type { Pool } from 'pg';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { TcpProxy } from '../../../test/crash/tcp-proxy.ts';
import {
  createExternalPostgres,
  skipWithoutExternalPostgres,
  type ExternalPostgres,
} from '../../../test/helpers/external-postgres.ts';
import { skipWithoutPgBouncer, startPgBouncer, type PgBouncer } from '../../../test/helpers/pgbouncer.ts';
import { createPostgresReplica, type PostgresReplica } from '../../../test/helpers/postgres-replica.ts';
import { query } from '../../../test/helpers/query.ts';
import { silentLogger } from '../../../test/helpers/silent-logger.ts';
import { waitUntil } from '../../../test/helpers/wait-until.ts';
import { migrateToLatest } from './migrate.ts';
import { createPool } from './pool.ts';
import { createReplicaReads, type ReplicaReads } from './replica-reads.ts';

const CONNECTIONS = 6;

describe.skipIf(skipWithoutExternalPostgres() || skipWithoutPgBouncer())('a replica', () => {
  let primary: ExternalPostgres;
  let replica: PostgresReplica;
  const pools: Pool[] = [];
  let pool: Pool;
  /** Tests add rows under keys of their own. */
  let lastKey = 0;

  function open(url: string, statementTimeoutMs = 60_000): Pool {
    const made = createPool({
      connection: url,
      maxConnections: CONNECTIONS,
      connectTimeoutMs: 30_000,
      statementTimeoutMs,
      logger: silentLogger,
    });
    pools.push(made);
    return made;
  }

  /** Reads as a separate process has them. @param maxLagMs long: the test waits for the replica, even on a slow machine */
  const createReads = (url: string, maxLagMs = 1500, replicaPool = open(url)): ReplicaReads =>
    createReplicaReads({
      primary: pool,
      replica: replicaPool,
      maxLagMs,
      now: () => performance.now(),
      logger: silentLogger,
    });

  async function write(): Promise<number> {
    lastKey += 1;
    const key = lastKey;
    await pool.query('insert into written values ($1)', [key]);
    return key;
  }

  /** The number of rows with the key, and the server that counted. */
  async function read(reads: ReplicaReads, key: number): Promise<{ found: number; byReplica: boolean }> {
    const { rows } = await reads.query({
      name: 'read-key',
      text: 'select count(*)::int as found, pg_is_in_recovery() as "byReplica" from written where key = $1',
      values: [key],
    });
    return rows[0] as { found: number; byReplica: boolean };
  }

  /** Every written row can be read at once, from whichever server; in the end the replica serves reads again. */
  async function untilServed(reads: ReplicaReads): Promise<void> {
    await waitUntil('the replica serves reads', async () => {
      const { found, byReplica } = await read(reads, await write());
      expect(found).toBe(1);
      return byReplica;
    });
    expect(reads.figures().state).toBe('used');
  }

  beforeAll(async () => {
    primary = await createExternalPostgres();
    pool = open(primary.url);
    await migrateToLatest(pool);
    await query(primary.url, 'create table email_worker.written (key int primary key)');
  });
  afterAll(async () => {
    await Promise.all(pools.map((one) => one.end()));
    await primary.dispose();
  });

  describe('that is there', () => {
    let pooler: PgBouncer;
    let proxy: TcpProxy;
    let proxied: string;

    beforeAll(async () => {
      replica = await createPostgresReplica(primary);
      pooler = await startPgBouncer(replica.url, { sessions: 2, idleSeconds: 3600 });
    });
    beforeEach(async () => {
      const { hostname, port } = new URL(replica.url);
      proxy = new TcpProxy(() => ({ fromClient: () => [], fromServer: () => [] }));
      proxy.target = { host: hostname, port: Number(port) };
      const through = new URL(replica.url);
      through.port = String(await proxy.start());
      proxied = through.href;
    });
    afterEach(async () => {
      await proxy.stop();
    });
    afterAll(async () => {
      await pooler.stop();
      await replica.dispose();
    });

    it.each(['itself', 'a pooler'])('serves what was committed before the read, through %s', async (way) => {
      const url = way === 'itself' ? replica.url : pooler.url;
      const nodes = [createReads(url), createReads(url), createReads(url)];
      await query(replica.url, `alter system set recovery_min_apply_delay = '20ms'`);
      await query(replica.url, 'select pg_reload_conf()');
      const found: number[] = [];
      await Promise.all(
        Array.from({ length: 20 }, async (_, caller) => {
          for (let turn = 0; turn < 10; turn += 1) {
            const node = nodes[(caller + turn) % nodes.length]!;
            found.push((await read(node, await write())).found);
          }
        }),
      );
      await query(replica.url, 'alter system reset recovery_min_apply_delay');
      await query(replica.url, 'select pg_reload_conf()');
      expect(found).toEqual(Array.from({ length: 200 }, () => 1));
      for (const node of nodes) await untilServed(node);
      expect(nodes.every((node) => node.figures().byReplica > 0)).toBe(true);
    });

    it.each(['itself', 'a pooler'])(
      'gives what pg gives: rows, none, and errors, through %s',
      async (way) => {
        const reads = createReads(way === 'itself' ? replica.url : pooler.url);
        await untilServed(reads);
        for (const name of [{}, { name: 'several' }]) {
          for (let times = 0; times < 3; times += 1) {
            const text = 'select n::int, n + 1.5 as more from generate_series(1, $1::int) n';
            expect((await reads.query({ ...name, text, values: [2] })).rows).toEqual([
              { n: 1, more: '2.5' },
              { n: 2, more: '3.5' },
            ]);
            expect((await reads.query({ ...name, text, values: [0] })).rows).toEqual([]);
          }
        }
        for (let times = 0; times < 3; times += 1) {
          const failing = { name: 'failing', text: 'select 1 / $1::int as n' };
          await expect(reads.query({ ...failing, values: [0] })).rejects.toMatchObject({ code: '22012' });
          expect((await reads.query({ ...failing, values: [1] })).rows).toEqual([{ n: 1 }]);
        }
        expect(reads.figures().state).toBe('used');
      },
    );

    it.each(['itself', 'a pooler'])(
      'is passed over while it is behind, and used again later: through %s',
      async (way) => {
        const reads = createReads(way === 'itself' ? replica.url : pooler.url, 30);
        await waitUntil('the replica serves', async () => (await read(reads, await write())).byReplica);
        await replica.pause();
        const keys = await Promise.all(Array.from({ length: 10 }, write));
        const found = await Promise.all(keys.map((key) => read(reads, key)));
        expect(found).toEqual(keys.map(() => ({ found: 1, byReplica: false })));
        expect(reads.figures().state).toBe('behind');
        await expect(reads.check()).rejects.toThrow('too far behind');
        await replica.resume();
        await untilServed(reads);
      },
    );

    it('is passed over while it is down, and used again after its restart', async () => {
      const reads = createReads(replica.url);
      await untilServed(reads);
      await replica.stop();
      for (let times = 0; times < 5; times += 1) {
        expect(await read(reads, await write())).toEqual({ found: 1, byReplica: false });
      }
      expect(reads.figures().state).toBe('away');
      await expect(reads.check()).rejects.toMatchObject({ code: 'database_unavailable' });
      await replica.start();
      await untilServed(reads);
    });

    it('delays reads for a moment when it falls silent, and serves again when the network is back', async () => {
      const reads = createReads(proxied);
      await untilServed(reads);
      proxy.silence();
      const keys = await Promise.all(Array.from({ length: CONNECTIONS + 2 }, write));
      const found = await Promise.all(keys.map((key) => read(reads, key)));
      expect(found).toEqual(keys.map(() => ({ found: 1, byReplica: false })));
      expect(reads.figures().state).toBe('away');
      proxy.heal();
      await untilServed(reads);
    });

    it('may be slow to answer one read', async () => {
      const reads = createReads(replica.url);
      await untilServed(reads);
      const { rows } = await reads.query({
        text: `select pg_sleep(case when pg_is_in_recovery() then 3 else 30 end)::text as slept,
          pg_is_in_recovery() as is_replica`,
        values: [],
      });
      expect(rows).toEqual([{ slept: '', is_replica: true }]);
      expect(reads.figures().state).toBe('used');
    });

    it('that is slow to answer serves a read that the primary fails meanwhile', async () => {
      const reads = createReads(replica.url);
      await untilServed(reads);
      const { rows } = await reads.query({
        text: `select case when pg_is_in_recovery() then pg_sleep(3)::text else now()::text::int::text end as slept`,
        values: [],
      });
      expect(rows).toEqual([{ slept: '' }]);
      expect(reads.figures().state).toBe('used');
    });

    it('is not blamed for a slow read that both fail: the error is that of the primary, asked once', async () => {
      const reads = createReads(replica.url);
      await untilServed(reads);
      const { byPrimary } = reads.figures();
      const failing = `select pg_sleep(3), ('on_a_replica_' || pg_is_in_recovery())::regclass`;
      await expect(reads.query({ text: failing, values: [] })).rejects.toThrow('on_a_replica_false');
      expect(reads.figures()).toMatchObject({ state: 'used', byPrimary: byPrimary + 1 });
    });

    it('keeps no connection that owes an answer', async () => {
      // Given up 2.1 s after it was asked: after the primary is asked as well, and before the primary answers.
      const replicaPool = open(proxied, 100);
      const reads = createReads(proxied, 1500, replicaPool);
      await untilServed(reads);
      expect(replicaPool.totalCount).toBeGreaterThan(0);
      proxy.silence();
      const { rows } = await reads.query({ text: `select pg_sleep(1)::text as slept`, values: [] });
      expect(rows).toEqual([{ slept: '' }]);
      expect(replicaPool.totalCount).toBe(0);
      proxy.heal();
      await untilServed(reads);
    });

    it('fails a read that the primary fails as well', async () => {
      const reads = createReads(replica.url);
      await untilServed(reads);
      await expect(reads.query({ text: 'select * from nothing', values: [] })).rejects.toMatchObject({
        code: '42P01',
      });
      await untilServed(reads);
    });
  });

  it('that was promoted is not used any more', async () => {
    const promoted = await createPostgresReplica(primary);
    try {
      const reads = createReads(promoted.url);
      await untilServed(reads);
      await promoted.promote();
      for (let times = 0; times < 5; times += 1) {
        expect(await read(reads, await write())).toEqual({ found: 1, byReplica: false });
      }
      expect(reads.figures().state).toBe('other');
    } finally {
      await promoted.dispose();
    }
  });

  it('of another server is never used, nor is the server itself', async () => {
    const other = await createExternalPostgres();
    const replicaOfOther = await createPostgresReplica(other);
    try {
      for (const url of [replicaOfOther.url, other.url, primary.url]) {
        const reads = createReads(url);
        expect(await read(reads, await write())).toEqual({ found: 1, byReplica: false });
        expect(reads.figures()).toMatchObject({ state: 'other', byReplica: 0 });
      }
    } finally {
      await replicaOfOther.dispose();
      await other.dispose();
    }
  });
});
