/** The metrics, and that the alert rules and the dashboard in ops/ use no others. */
import { execFile } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { afterEach, describe, expect, it } from 'vitest';
import type { Figures } from '../../areas/metrics/figures.ts';
import { silentLogger } from '../../../test/helpers/silent-logger.ts';
import { skipWithout } from '../../../test/helpers/skip.ts';
import { createMetrics, type MetricsOptions } from './metrics.ts';
import { startMetricsServer, type MetricsServer } from './metrics-server.ts';

const OPS = fileURLToPath(new URL('../../../ops/', import.meta.url));

const FIGURES: Figures = {
  accounts: [
    {
      accountId: 'sales',
      queued: 7,
      oldestDueSeconds: 1.5,
      unknownSends: 2,
      mailboxLagSeconds: 30,
      mailboxWaiting: 3,
      quarantined: 1,
    },
    {
      accountId: 'help',
      queued: 0,
      oldestDueSeconds: 0,
      unknownSends: 0,
      mailboxLagSeconds: null,
      mailboxWaiting: 0,
      quarantined: 0,
    },
  ],
  eventsWaiting: 4,
  isRetentionHeld: true,
  webhooks: { active: 5, failed: 6, lagEvents: 8 },
};

function create(options: Partial<MetricsOptions> = {}) {
  return createMetrics({
    version: '1.2.3',
    readFigures: async () => FIGURES,
    readPool: () => ({ used: 1, idle: 2, waiting: 0, max: 10 }),
    readReplica: () => ({ state: 'used', byReplica: 11, byPrimary: 12 }),
    readJournal: () => ({ entries: 9, withoutOutcome: 3, sizeBytes: 4096 }),
    readClock: () => ({ aheadSeconds: -2.5, isInDoubt: true }),
    countAccountsRead: () => 13,
    isStorageRight: () => true,
    readCertificates: () => [{ listener: 'http', expiresAt: new Date('2026-06-01T00:00:00Z') }],
    now: () => 0,
    logger: silentLogger,
    ...options,
  });
}

/** `name{labels} value`, without comments. */
async function samplesOf(metrics: ReturnType<typeof create>): Promise<readonly string[]> {
  const { text } = await metrics.read();
  return text.split('\n').filter((line) => line !== '' && !line.startsWith('#'));
}

describe('a scrape', () => {
  it('has what the database, the pool, the journal and the certificates say', async () => {
    const samples = await samplesOf(create());
    expect(samples).toEqual(
      expect.arrayContaining([
        'email_worker_info{version="1.2.3"} 1',
        'email_worker_database_up 1',
        'email_worker_clock_ahead_seconds -2.5',
        'email_worker_database_clock_in_doubt 1',
        'email_worker_retention_held 1',
        'email_worker_send_queue_size{account="sales"} 7',
        'email_worker_send_queue_oldest_due_seconds{account="sales"} 1.5',
        'email_worker_sends_unknown{account="sales"} 2',
        'email_worker_mailbox_lag_seconds{account="sales"} 30',
        'email_worker_mailbox_waiting_messages{account="sales"} 3',
        'email_worker_mailbox_quarantined_messages{account="sales"} 1',
        'email_worker_send_queue_size{account="help"} 0',
        'email_worker_events_unnumbered 4',
        'email_worker_webhooks{state="active"} 5',
        'email_worker_webhooks{state="failed"} 6',
        'email_worker_webhook_lag_events 8',
        'email_worker_database_connections{state="used"} 1',
        'email_worker_database_connections{state="idle"} 2',
        'email_worker_database_connections{state="waiting"} 0',
        'email_worker_database_connections_max 10',
        'email_worker_replica_used 1',
        'email_worker_replica_reads_total{by="replica"} 11',
        'email_worker_replica_reads_total{by="primary"} 12',
        'email_worker_journal_entries 9',
        'email_worker_journal_entries_without_outcome 3',
        'email_worker_accounts_read 13',
        'email_worker_storage_right 1',
        'email_worker_journal_size_bytes 4096',
        'email_worker_tls_certificate_expiry_timestamp_seconds{listener="http"} 1780272000',
      ]),
    );
    expect(samples.filter((line) => line.startsWith('email_worker_mailbox_lag_seconds'))).toHaveLength(1);
  });

  it('counts requests, hand-overs, deliveries and statements by how they ended', async () => {
    const metrics = create();
    metrics.noteRequest({ route: '/api/thread/:threadId', method: 'GET', status: 200, durationMs: 3 });
    metrics.noteRequest({ route: null, method: 'PROPFIND', status: 404, durationMs: 1 });
    metrics.noteRequest({ route: '/api/events', method: 'GET', status: null, durationMs: 60_000 });
    metrics.noteSend('sales', 'put_off', 200);
    metrics.noteWebhook(false, 100);
    metrics.noteImage('cached');
    metrics.noteStatement(2);
    const samples = await samplesOf(metrics);
    const request = 'email_worker_http_request_duration_seconds';
    expect(samples).toEqual(
      expect.arrayContaining([
        `${request}_count{method="GET",route="/api/thread/:threadId",status="200"} 1`,
        `${request}_sum{method="GET",route="/api/thread/:threadId",status="200"} 0.003`,
        `${request}_count{method="other",route="none",status="404"} 1`,
        `${request}_count{method="GET",route="/api/events",status="gone"} 1`,
        'email_worker_send_attempt_duration_seconds_count{account="sales",outcome="put_off"} 1',
        'email_worker_webhook_delivery_duration_seconds_count{outcome="failed"} 1',
        'email_worker_remote_images_total{outcome="cached"} 1',
        'email_worker_database_statement_duration_seconds_count 1',
      ]),
    );
  });

  it('asks the database once in five seconds, also for scrapes at the same moment', async () => {
    let now = 0;
    let asked = 0;
    const metrics = create({
      now: () => now,
      readFigures: async () => {
        asked += 1;
        return FIGURES;
      },
    });
    await Promise.all([metrics.read(), metrics.read()]);
    now = 4999;
    await metrics.read();
    expect(asked).toBe(1);
    now = 5000;
    await metrics.read();
    expect(asked).toBe(2);
  });

  it('has the rest while the database is away, and none of its old figures', async () => {
    let now = 0;
    let isAway = false;
    const metrics = create({
      now: () => now,
      readFigures: async () => {
        if (isAway) throw new Error('away');
        return FIGURES;
      },
    });
    await metrics.read();
    isAway = true;
    now = 5000;
    const samples = await samplesOf(metrics);
    expect(samples).toContain('email_worker_database_up 0');
    expect(samples).toContain('email_worker_journal_entries 9');
    const gone = /^email_worker_(?:send_queue|sends_|mailbox_|events_|webhooks|webhook_lag)/;
    expect(samples.filter((line) => gone.test(line))).toEqual([]);
  });
});

describe('the address for scrapes', () => {
  let server: MetricsServer;
  afterEach(() => server.close());

  const start = async (read?: () => Promise<never>) => {
    const metrics = read === undefined ? create() : { read };
    server = await startMetricsServer(metrics, { host: '127.0.0.1', port: 0 }, silentLogger);
    return `http://127.0.0.1:${server.port}`;
  };

  it('answers GET and HEAD of /metrics, and nothing else', async () => {
    const url = await start();
    const scrape = await fetch(`${url}/metrics?name[]=up`);
    expect(scrape.status).toBe(200);
    expect(scrape.headers.get('content-type')).toBe('text/plain; version=0.0.4; charset=utf-8');
    expect(await scrape.text()).toContain('\nemail_worker_database_up 1\n');
    expect((await fetch(`${url}/metrics`, { method: 'HEAD' })).status).toBe(200);
    expect((await fetch(`${url}/metrics`, { method: 'POST', body: 'x' })).status).toBe(405);
    expect((await fetch(`${url}/`)).status).toBe(404);
  });

  it('answers 500 when the metrics can not be told, and goes on', async () => {
    const url = await start(async () => {
      throw new Error('broken');
    });
    expect((await fetch(`${url}/metrics`)).status).toBe(500);
    expect((await fetch(`${url}/metrics`)).status).toBe(500);
  });
});

describe('alert rules and board', () => {
  const FILES = ['prometheus/alerts.yml', 'prometheus/alerts.test.yml', 'grafana/email-worker.json'];

  it.each(FILES)('%s asks for metrics that the service has', async (file) => {
    const { text } = await create().read();
    const types = new Set(
      [...text.matchAll(/^# TYPE (\S+) (\S+)$/gm)].flatMap(([, name = '', type]) =>
        type === 'histogram' ? [`${name}_bucket`, `${name}_count`, `${name}_sum`] : [name],
      ),
    );
    const asked = (await readFile(path.join(OPS, file), 'utf8')).match(
      /\b(?:email_worker|nodejs|process)_[a-z0-9_]+/g,
    );
    expect(asked).not.toBeNull();
    expect([...new Set(asked)].filter((name) => !types.has(name))).toEqual([]);
  });

  it('every metric of the service is on the board', async () => {
    const { text } = await create().read();
    const board = await readFile(path.join(OPS, 'grafana/email-worker.json'), 'utf8');
    const names = [...text.matchAll(/^# TYPE (email_worker_\S+) /gm)].map(([, name = '']) => name);
    expect(names.filter((name) => !board.includes(name))).toEqual([]);
  });

  it.skipIf(skipWithout('alert rules', 'promtool'))(
    'promtool takes the rules, and they fire when they should',
    { tags: ['long'] },
    async () => {
      const promtool = async (...args: readonly string[]) =>
        (await promisify(execFile)('promtool', args, { cwd: path.join(OPS, 'prometheus') })).stdout;
      expect(await promtool('check', 'rules', 'alerts.yml')).toContain('SUCCESS');
      expect(await promtool('test', 'rules', 'alerts.test.yml')).toContain('SUCCESS');
    },
  );
});
