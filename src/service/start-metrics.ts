/** A part of the composition root: the metrics, if the configuration names an address for them. */
import { onStatement } from '../platform/db/statement-times.ts';
import { createReadFigures } from '../areas/metrics/read-figures.ts';
import type { RequestObserver } from '../platform/http/connections/answered-request.ts';
import { NO_METER, type Meter, type SendOutcome } from '../platform/base/meter.ts';
import type { SecurityLog } from '../platform/base/security-log.ts';
import type { Transport, TransportResult } from '../areas/send/transport-ports.ts';
import { readVersion } from '../config/version.ts';
import type { Transports } from './create-transports.ts';
import type { Certificates } from './open-certificates.ts';
import { noteOpenListener } from './exposure.ts';
import { listenFailure } from './listen-failure.ts';
import type { Parts } from './open-parts.ts';
import type { Teardown } from './teardown.ts';

export interface StartedMetrics {
  readonly meter: Meter;
  readonly observers: readonly RequestObserver[];
  /** The same transports, with their hand-overs counted. */
  readonly transports: Transports;
}

/** Throws when it can't listen. */
export async function startMetrics(
  parts: Parts & { readonly certificates: Certificates; readonly countAccountsRead: () => number },
  security: SecurityLog,
  teardown: Teardown,
): Promise<StartedMetrics> {
  const { config, pool, replica, journal, logger, transports, certificates } = parts;
  const { metricsListen } = config;
  if (metricsListen === null) return { meter: NO_METER, observers: [], transports };
  // Loaded only if metrics are wanted: other services save the memory of the library.
  const [{ createMetrics }, { startMetricsServer }] = await Promise.all([
    import('../connectors/telemetry/metrics.ts'),
    import('../connectors/telemetry/metrics-server.ts'),
  ]);
  const metrics = createMetrics({
    version: readVersion(),
    readFigures: createReadFigures(pool, () => parts.accounts.keys()),
    readPool: () => ({
      used: pool.totalCount - pool.idleCount,
      idle: pool.idleCount,
      waiting: pool.waitingCount,
      max: config.databasePoolSize,
    }),
    readReplica: () => replica?.figures() ?? null,
    readJournal: () => journal.measure(),
    readClock: () => {
      const { state } = parts.guard;
      return state === null ? null : { aheadSeconds: state.offsetMs / 1000, isInDoubt: state.jump !== null };
    },
    countAccountsRead: parts.countAccountsRead,
    readCertificates: () =>
      (['http', 'mail'] as const).flatMap((listener) => {
        const files = certificates[listener];
        return files === null ? [] : [{ listener, expiresAt: files.current.expiresAt }];
      }),
    isStorageRight: () => parts.ownStorage.isRight,
    now: () => performance.now(),
    logger,
  });
  const stop = onStatement(metrics.noteStatement);
  teardown.push(async () => stop());
  const server = await startMetricsServer(metrics, metricsListen, logger).catch((error: unknown) => {
    throw listenFailure(
      { portVariable: 'METRICS_LISTEN', hostVariable: 'METRICS_LISTEN', ...metricsListen },
      error,
    );
  });
  teardown.push(() => server.close());
  noteOpenListener(security, { protocol: 'metrics', address: server.host, tls: false, login: false });
  logger.info({ address: server.host, port: server.port }, 'metrics are at /metrics');
  const observe: RequestObserver = ({ request, ...answered }) =>
    metrics.noteRequest({ ...answered, method: request.method });
  return {
    meter: metrics,
    observers: [observe],
    transports: { ...transports, of: (accountId) => watch(transports.of(accountId), accountId, metrics) },
  };
}

function watch(transport: Transport, accountId: string, meter: Meter): Transport {
  return {
    async send(envelope, raw, beforeFirstByte) {
      const started = performance.now();
      // If this throws, nothing was handed over.
      const result = await transport.send(envelope, raw, beforeFirstByte);
      meter.noteSend(accountId, toOutcome(result), performance.now() - started);
      return result;
    },
    verify: () => transport.verify(),
    close: () => transport.close(),
  };
}

function toOutcome(result: TransportResult): SendOutcome {
  if (result.kind !== 'refused') return result.kind;
  return result.temporary ? 'put_off' : 'rejected';
}
