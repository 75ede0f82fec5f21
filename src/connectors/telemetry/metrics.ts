/**
 * The metrics of the service, for Prometheus, on prom-client. Label values come from the configuration and from this program, never from
 * callers or mail: the number of series is bounded. Names are stable; ops/prometheus uses them.
 */
import { collectDefaultMetrics, Counter, Gauge, Histogram, Registry } from 'prom-client';
import type { Logger } from '../../platform/base/basics.ts';
import type { Figures, ReadFigures } from '../../areas/metrics/figures.ts';
import type { Meter } from '../../platform/base/meter.ts';

/** A scrape within this many ms of another gets the same figures of the database. */
const FIGURES_MAX_AGE_MS = 5000;

/** From a read out of the cache, 1 ms, to the time after which a caller gives up, in seconds. */
const REQUEST_BUCKETS = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30];
/** Up to minutes: mail servers take their time. */
const NETWORK_BUCKETS = [0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 300];
const STATEMENT_BUCKETS = [0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10];

const METHODS = new Set(['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS']);

export interface MetricsOptions {
  readonly version: string;
  readonly readFigures: ReadFigures;
  /** State of the connection pool. */
  readonly readPool: () => {
    readonly used: number;
    readonly idle: number;
    readonly waiting: number;
    readonly max: number;
  };
  /** Of the replica for reads; null: none is configured. */
  readonly readReplica: () => {
    readonly state: string;
    /** Statements since the start, by server. */
    readonly byReplica: number;
    readonly byPrimary: number;
  } | null;
  readonly readJournal: () => {
    readonly entries: number;
    readonly withoutOutcome: number;
    readonly sizeBytes: number;
  };
  /** How far the clock of this process is ahead of the database's; null: not known yet. */
  readonly readClock: () => { readonly aheadSeconds: number; readonly isInDoubt: boolean } | null;
  /** Counts the accounts whose mailboxes this process reads. */
  readonly countAccountsRead: () => number;
  /** The certificates that the service presents. */
  readonly readCertificates: () => readonly {
    readonly listener: 'http' | 'mail';
    readonly expiresAt: Date;
  }[];
  /** False: this process reaches another storage of files than that of the database, or none. */
  readonly isStorageRight: () => boolean;
  /** In milliseconds, by a clock that never goes back. */
  readonly now: () => number;
  readonly logger: Logger;
}

export interface Metrics extends Meter {
  /** `route` null: no such route exists; `status` null: the client went away. */
  noteRequest(request: {
    readonly route: string | null;
    readonly method: string;
    readonly status: number | null;
    readonly durationMs: number;
  }): void;
  noteStatement(durationMs: number): void;
  /** The text of a scrape. */
  read(): Promise<{ readonly contentType: string; readonly text: string }>;
}

const PREFIX = 'email_worker_';

export function createMetrics(options: MetricsOptions): Metrics {
  const registers = [new Registry()] as [Registry];
  const [registry] = registers;
  const gauge = <Label extends string = never>(
    name: string,
    help: string,
    labelNames: readonly Label[] = [],
  ) => new Gauge<Label>({ name: PREFIX + name, help, labelNames, registers });
  const histogram = <Label extends string = never>(
    name: string,
    help: string,
    buckets: number[],
    labelNames: readonly Label[] = [],
  ) => new Histogram<Label>({ name: PREFIX + name, help, buckets, labelNames, registers });

  collectDefaultMetrics({ register: registry });
  gauge('info', 'Is 1; the version is a label.', ['version']).set({ version: options.version }, 1);
  const requests = histogram(
    'http_request_duration_seconds',
    'Requests, from their header to the end of their answer.',
    REQUEST_BUCKETS,
    ['method', 'route', 'status'],
  );
  const sends = histogram(
    'send_attempt_duration_seconds',
    'Hand-overs to mail servers, by how they ended.',
    NETWORK_BUCKETS,
    ['account', 'outcome'],
  );
  const webhooks = histogram(
    'webhook_delivery_duration_seconds',
    'Requests to webhook endpoints, by how they ended.',
    NETWORK_BUCKETS,
    ['outcome'],
  );
  const images = new Counter({
    name: `${PREFIX}remote_images_total`,
    help: 'Requests for remote images of emails, by how they ended.',
    labelNames: ['outcome'],
    registers,
  });
  const statements = histogram(
    'database_statement_duration_seconds',
    'Statements that were sent one by one, with their wait for a connection.',
    STATEMENT_BUCKETS,
  );
  const expiry = gauge(
    'tls_certificate_expiry_timestamp_seconds',
    'When the certificate in use expires, in seconds since 1970.',
    ['listener'],
  );
  const storage = gauge(
    'storage_right',
    'Is 1 while this process reaches the storage of files that belongs to the database, else 0.',
  );
  const setProcessGauges = createProcessGauges(gauge);
  const setClock = createClockGauges(gauge);
  const setReplica = createReplicaGauges(gauge, registers);
  const setFigures = createFigureGauges(gauge);
  const readFigures = keepFor(FIGURES_MAX_AGE_MS, options.now, async () => {
    try {
      return await options.readFigures();
    } catch (err) {
      options.logger.warn({ err }, 'metrics of the database could not be read');
      return null;
    }
  });

  return {
    noteRequest({ route, method, status, durationMs }) {
      const labels = {
        method: METHODS.has(method) ? method : 'other',
        route: route ?? 'none',
        status: status === null ? 'gone' : String(status),
      };
      requests.observe(labels, durationMs / 1000);
    },
    noteSend: (account, outcome, durationMs) => sends.observe({ account, outcome }, durationMs / 1000),
    noteWebhook: (isDelivered, durationMs) =>
      webhooks.observe({ outcome: isDelivered ? 'delivered' : 'failed' }, durationMs / 1000),
    noteImage: (outcome) => images.inc({ outcome }),
    noteStatement: (durationMs) => statements.observe(durationMs / 1000),
    async read() {
      setFigures(await readFigures());
      storage.set(options.isStorageRight() ? 1 : 0);
      setProcessGauges(options.readPool(), options.readJournal(), options.countAccountsRead());
      for (const { listener, expiresAt } of options.readCertificates())
        expiry.set({ listener }, expiresAt.getTime() / 1000);
      setClock(options.readClock());
      setReplica(options.readReplica());
      return { contentType: registry.contentType, text: await registry.metrics() };
    },
  };
}

type MakeGauge = <Label extends string = never>(
  name: string,
  help: string,
  labelNames?: readonly Label[],
) => Gauge<Label>;

/** The figures of this process itself. */
function createProcessGauges(gauge: MakeGauge) {
  const connections = gauge('database_connections', 'Of the pool; waiting: callers without one.', ['state']);
  const maxConnections = gauge('database_connections_max', 'As many as the pool may open.');
  const entries = gauge('journal_entries', 'Hand-overs that the database does not have yet.');
  const open = gauge('journal_entries_without_outcome', 'Of these, those that have not ended.');
  const size = gauge('journal_size_bytes', 'Of the file that the journal is in.');
  const read = gauge('accounts_read', 'Accounts whose mailboxes this process reads.');
  return (
    pool: ReturnType<MetricsOptions['readPool']>,
    journal: ReturnType<MetricsOptions['readJournal']>,
    accountsRead: number,
  ): void => {
    read.set(accountsRead);
    for (const state of ['used', 'idle', 'waiting'] as const) connections.set({ state }, pool[state]);
    maxConnections.set(pool.max);
    entries.set(journal.entries);
    open.set(journal.withoutOutcome);
    size.set(journal.sizeBytes);
  };
}

function createClockGauges(gauge: MakeGauge) {
  const ahead = gauge('clock_ahead_seconds', "By how much this process's clock is ahead of the database's.");
  const inDoubt = gauge('database_clock_in_doubt', '1 after a jump forward that is not confirmed, else 0.');
  for (const one of [ahead, inDoubt]) one.remove();
  return (clock: ReturnType<MetricsOptions['readClock']>): void => {
    if (clock === null) return;
    ahead.set(clock.aheadSeconds);
    inDoubt.set(clock.isInDoubt ? 1 : 0);
  };
}

/** Without series when there is no replica. */
function createReplicaGauges(gauge: MakeGauge, registers: [Registry]) {
  const isUsed = gauge('replica_used', '1 while the replica serves reads, or before the first read; else 0.');
  isUsed.remove();
  const reads = new Counter<'by'>({
    name: `${PREFIX}replica_reads_total`,
    help: 'Statements for the replica, by the server that carried them out.',
    labelNames: ['by'],
    registers,
  });
  return (replica: ReturnType<MetricsOptions['readReplica']>): void => {
    if (replica === null) return;
    isUsed.set(replica.state === 'used' || replica.state === 'untried' ? 1 : 0);
    reads.reset();
    reads.inc({ by: 'replica' }, replica.byReplica);
    reads.inc({ by: 'primary' }, replica.byPrimary);
  };
}

/** The figures read from the database. */
function createFigureGauges(gauge: MakeGauge) {
  const isUp = gauge('database_up', '1 when the figures of the database could be read, else 0.');
  const queued = gauge('send_queue_size', 'Sends in the queue, at most 100,000 are counted.', ['account']);
  const oldest = gauge('send_queue_oldest_due_seconds', 'How long the first due send has been due.', [
    'account',
  ]);
  const unknown = gauge('sends_unknown', 'Sends whose outcome is not known.', ['account']);
  const lag = gauge('mailbox_lag_seconds', 'Since the mailbox that fell behind most was read.', ['account']);
  const waiting = gauge('mailbox_waiting_messages', 'Received messages not recorded yet.', ['account']);
  const quarantined = gauge('mailbox_quarantined_messages', 'Received messages set aside.', ['account']);
  const unnumbered = gauge('events_unnumbered', 'Statements whose events have no number yet.');
  const webhooks = gauge('webhooks', 'Webhooks that deliver, and those that failed and were paused.', [
    'state',
  ]);
  const held = gauge('retention_held', '1 while more is due than retention may delete in an hour, else 0.');
  const behind = gauge('webhook_lag_events', 'Events that the webhook furthest behind has not looked at.');
  const all = [queued, oldest, unknown, lag, waiting, quarantined, unnumbered, webhooks, behind, held];
  return (figures: Figures | null): void => {
    isUp.set(figures === null ? 0 : 1);
    // Unknown figures are left out: an old value would look like a good one.
    for (const one of all) one.reset();
    if (figures === null) {
      for (const one of [unnumbered, behind, held]) one.remove();
      return;
    }
    for (const one of figures.accounts) {
      const labels = { account: one.accountId };
      queued.set(labels, one.queued);
      oldest.set(labels, one.oldestDueSeconds);
      unknown.set(labels, one.unknownSends);
      if (one.mailboxLagSeconds !== null) lag.set(labels, one.mailboxLagSeconds);
      waiting.set(labels, one.mailboxWaiting);
      quarantined.set(labels, one.quarantined);
    }
    unnumbered.set(figures.eventsWaiting);
    webhooks.set({ state: 'active' }, figures.webhooks.active);
    webhooks.set({ state: 'failed' }, figures.webhooks.failed);
    behind.set(figures.webhooks.lagEvents);
    held.set(figures.isRetentionHeld ? 1 : 0);
  };
}

/** One answer for all callers within `maxAgeMs` of the question. */
function keepFor<T>(maxAgeMs: number, now: () => number, ask: () => Promise<T>): () => Promise<T> {
  let askedAt = Number.NEGATIVE_INFINITY;
  let answer: Promise<T> | null = null;
  return () => {
    if (answer === null || now() - askedAt >= maxAgeMs) {
      askedAt = now();
      answer = ask();
    }
    return answer;
  };
}
