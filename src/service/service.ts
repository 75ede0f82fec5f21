/**
 * The composition root: chooses the concrete parts for a configuration, wires them, and takes them down again in order.
 */
import type { AddressInfo } from 'node:net';
import { setTimeout as wait } from 'node:timers/promises';
import { waitForDataDir } from '../connectors/data-dir/data-dir-lock.ts';
import { loadOrCreateSecret } from '../connectors/data-dir/api-secret.ts';
import { secretsKeyFile } from '../connectors/data-dir/secrets-key.ts';
import { untilThere } from '../platform/db/until-there.ts';
import { createAccountOf } from '../areas/emails/find-account-of.ts';
import { createAuditLog } from '../areas/audit/audit-log.ts';
import { createSessionStore } from '../areas/sessions/session-store.ts';
import { createKeyStore } from '../areas/keys/key-store.ts';
import { createMcpEndpoint } from '../api/mcp/endpoint.ts';
import { createHttpApp, type HttpApp } from '../api/app.ts';
import { CallerShares } from '../platform/http/connections/caller-shares.ts';
import { LoginFailures } from '../platform/http/connections/login-failures.ts';
import { createAccessLines } from '../platform/http/connections/access-lines.ts';
import { createFullLogger, hideInLogs } from '../connectors/telemetry/logger.ts';
import type { Logger } from '../platform/base/basics.ts';
import { AccessLogWriter } from '../platform/access/access-log.ts';
import { createOperationRunner } from '../platform/operation/run-operation.ts';
import { KeyRing } from '../platform/access/key-ring.ts';
import { createSecretHolders } from '../platform/access/secret-holders.ts';
import { createLoginLink } from '../areas/sessions/login-links.ts';
import { createSessions } from '../areas/sessions/manage-sessions.ts';
import { addrSpec } from '../core/address/address.ts';
import { ownSenders, type OwnSenders } from '../core/address/sender-warnings.ts';
import { checkSignatures } from '../areas/send/closing.ts';
import { createAccountLookup } from '../areas/receive/take-delivery.ts';
import { formatLoginLink } from '../core/sessions/session-token.ts';
import { createSecurityLog, type SecurityLog } from '../platform/base/security-log.ts';
import type { Config } from '../config/config.ts';
import { readVersion } from '../config/version.ts';
import { createApplication } from './create-application.ts';
import { createCutOff, type CutOff } from './cut-off.ts';
import { noteOpenListener, noteReadableFiles } from './exposure.ts';
import { findGuide, findPage } from './find-page.ts';
import { listenFailure } from './listen-failure.ts';
import { openCertificates, type Certificates } from './open-certificates.ts';
import { openParts, type Parts } from './open-parts.ts';
import { ConfigError } from '../config/config-error.ts';
import { ServiceError } from '../core/errors.ts';
import { createReadyWatch } from './ready-watch.ts';
import { startAuditKeeper, startRefusalWriter } from '../areas/audit/audit-keeper.ts';
import { startListeners } from './start-listeners.ts';
import { startSubmissions } from './start-submissions.ts';
import { startTracing } from './start-tracing.ts';
import { startMetrics } from './start-metrics.ts';
import { startMailboxes } from './start-mailboxes.ts';
import { startSending } from './start-sending.ts';
import { takeDown, type Teardown } from './teardown.ts';

export interface Service {
  /** The URL at which HTTP listens, such as `http://127.0.0.1:3000`. */
  readonly url: string;
  /** The file in which the API secret was made or found; null when the configuration gave it. */
  readonly secretFile: string | null;
  /** Logs in once, within an hour; null when a browser has logged in before, or the page is not built. */
  readonly loginLink: string | null;
  /** Ends everything in order; a second call waits for the first. */
  stop(): Promise<void>;
}

const HOUR_MS = 3_600_000;

/**
 * Throws when a part can't start; parts that had been started are taken down again.
 *
 * @param signal ends the start, which then throws the signal's reason; afterwards, the time for the stop begins with it
 */
export async function startService(config: Config, logger: Logger, signal?: AbortSignal): Promise<Service> {
  const teardown: Teardown = [];
  const cutOff = createCutOff(config, logger);
  signal?.addEventListener('abort', cutOff.plan, { once: true });
  try {
    return await startParts(config, logger, teardown, cutOff, signal);
  } catch (error) {
    await takeDown(teardown, logger);
    cutOff.cancel();
    signal?.throwIfAborted();
    throw error;
  }
}

async function startParts(
  config: Config,
  logger: Logger,
  teardown: Teardown,
  cutOff: CutOff,
  signal: AbortSignal | undefined,
): Promise<Service> {
  const fullLogger = createFullLogger(config.logLevel);
  const security = createSecurityLog(fullLogger);
  const lock = await waitForDataDir(config.dataDir, { signal });
  teardown.push(() => lock.release());
  const madeSecret = config.apiSecrets.length > 0 ? null : await loadOrCreateSecret(config.dataDir);
  const secrets = madeSecret === null ? config.apiSecrets : [madeSecret.secret];
  hideInLogs([...secrets, ...config.secretsKeys]);

  await startTracing(config, logger, teardown);
  const certificates = openCertificates(config, { clock: () => new Date(), logger }, teardown);
  const opened = await openParts(config, logger, teardown, cutOff, signal);
  signal?.throwIfAborted();
  cutOff.workBegins();
  let mailboxes: Awaited<ReturnType<typeof startMailboxes>> | null = null;
  const countAccountsRead = () => mailboxes?.count() ?? 0;
  const { observers, ...metered } = await startMetrics(
    { ...opened, certificates, countAccountsRead },
    security,
    teardown,
  );
  const parts = { ...opened, ...metered };
  const { spool, clock, pool, instanceId } = parts;
  const sending = await startSending(parts, security, teardown);
  signal?.throwIfAborted();
  await requireSignatures(parts);
  const accountOf = createAccountOf(pool);
  const {
    application: created,
    submissions,
    deps,
    accounts,
    wakeNotices,
  } = createApplication(
    {
      parts,
      sending,
      security,
      secrets,
      accountOf,
      wakeMailboxes: (accountId) => mailboxes?.wake(accountId),
    },
    teardown,
  );
  const ready = createReadyWatch(created.checkReadiness, logger);
  const application = { ...created, checkReadiness: ready.checkReadiness };

  const now = () => performance.now();
  const keys = new KeyRing({ store: createKeyStore(pool), clock, now, logger });
  teardown.push(() => keys.close());
  const log = createAuditLog(pool);
  const access = new AccessLogWriter(log);
  // The counts of the last minute.
  teardown.push(() => access.write());
  for (const loop of [
    startRefusalWriter(access, logger),
    startAuditKeeper({ log, requireTime: parts.guard.require, logger, auditDays: config.auditDays }),
  ]) {
    teardown.push(() => loop.stop());
  }
  const sessionStore = createSessionStore(pool);
  const sessions = createSessions({
    store: sessionStore,
    keys,
    secrets: createSecretHolders(secrets),
    clock,
    now,
    ids: parts.ids,
    logger,
    idleMs: config.sessionIdleHours * HOUR_MS,
    maxMs: config.sessionMaxHours * HOUR_MS,
  });
  teardown.push(() => sessions.close());
  const acts = { security, log, logger };
  const failures = new LoginFailures(security, now);
  const shares = new CallerShares(
    { ratePerMinute: config.httpRatePerMinute, atOnce: config.httpMaxAtOnce },
    now,
  );
  const [page, guide] = await Promise.all([findPage(), findGuide()]);
  const app = createHttpApp({
    application,
    consents: deps.consents,
    runner: createOperationRunner({ accounts, acts, deps, wake: parts.watch.soon }),
    access,
    failures,
    shares,
    observers: [
      ...observers,
      ...(config.accessLog === 'off' ? [] : [createAccessLines(fullLogger, config.accessLog)]),
    ],
    keys,
    sessions,
    page,
    guide,
    spool,
    secrets,
    logger,
    security,
    trustedProxies: config.trustedProxies,
    hosts: [
      ...config.allowedHosts,
      config.host.toLowerCase(),
      ...(config.publicUrl === null ? [] : [new URL(config.publicUrl).hostname]),
    ],
    tls: certificates.http,
    hstsDays: config.hstsDays,
    clock,
    ownSenders: following(
      parts.registry.derived(() =>
        ownSenders(
          [...parts.accounts.values()]
            .flatMap(({ from, addresses = [] }) => [from, ...addresses.map(({ address }) => address)])
            .map((address) => ({ name: address.name, address: addrSpec(address) })),
        ),
      ),
    ),
    mcp: createMcpEndpoint(readVersion()),
    limits: {
      maxAttachmentBytes: config.maxAttachmentBytes,
      maxInboundBytes: config.maxInboundBytes,
      maxConnections: config.httpMaxConnections,
      ratePerMinute: config.httpRatePerMinute,
      maxAtOnce: config.httpMaxAtOnce,
    },
  });
  teardown.push(() => closeHttp(app, cutOff.hangUpAt(), logger));
  const receive = application.receiveMessage;
  const accountOfAddress = parts.registry.derived(() => createAccountLookup(parts.accounts.values()));
  const listeners = await startListeners(config, {
    receive,
    requireStorage: () => parts.ownStorage.require(),
    certificate: certificates.mail,
    accountOf: (address) => accountOfAddress()(address),
    spool,
    logger,
    security,
  });
  teardown.push(() => listeners.close());
  const submitting = await startSubmissions(config, {
    submissions,
    secrets,
    keys,
    failures,
    shares,
    access,
    certificate: certificates.mail,
    logger,
    security,
  });
  teardown.push(() => submitting.close());
  const source = parts.mailboxSource;
  const reading = await startMailboxes(config, {
    source,
    pool,
    instanceId,
    watch: parts.watch,
    registry: parts.registry,
    receive,
    reader: parts.reader,
    spool,
    clock,
    logger,
    mayStoreFiles: () => parts.ownStorage.isRight,
    onFailing: wakeNotices,
  });
  mailboxes = reading;
  parts.ownStorage.onChange(reading.look);
  teardown.push(() => reading.stop());
  await noteReadableFiles(security, [
    ...config.secretFiles,
    config.dataDir,
    secretsKeyFile(config.dataDir),
    ...(madeSecret === null ? [] : [madeSecret.path]),
  ]);
  const [secret = ''] = secrets;
  // Repeated as a whole: a token that was stored without an answer opens nothing, because it is shown to no person, and expires.
  const loginToken = await untilThere(
    async () =>
      page === null || (await sessionStore.wasEverOpened())
        ? null
        : await createLoginLink({ store: sessionStore, ids: parts.ids }, { kind: 'secret', secret }),
    { logger, signal },
  );
  signal?.throwIfAborted();
  // From here on the service may be ready, so nothing below may fail.
  const url = await listen(app, config);
  noteExposure(app, config, security);
  const loginLink = loginToken === null ? null : formatLoginLink(loginUrl(url, certificates), loginToken);

  const watching = ready.start(url);
  teardown.push(() => watching.stop());

  let stopping: Promise<void> | null = null;
  const stop = async () => {
    await drain(app, config, cutOff.stopBy() - config.shutdownTimeoutMs / 2, logger);
    await takeDown(teardown, logger);
    cutOff.cancel();
  };
  return { url, secretFile: madeSecret?.path ?? null, loginLink, stop: () => (stopping ??= stop()) };
}

/** The senders of the accounts as they are when they are asked for. */
const following = (current: () => OwnSenders): OwnSenders => ({
  get names() {
    return current().names;
  },
  get addresses() {
    return current().addresses;
  },
  get sites() {
    return current().sites;
  },
});

async function listen(app: HttpApp, { host, port, tls }: Config): Promise<string> {
  try {
    const url = await app.fastify.listen({ port, host });
    return tls === null ? url : url.replace('http:', 'https:');
  } catch (error) {
    throw listenFailure({ portVariable: 'PORT', hostVariable: 'HOST', host, port }, error);
  }
}

/** With the name of the certificate, which browsers expect in the address. */
function loginUrl(listening: string, { http }: Certificates): string {
  const url = new URL(listening);
  if (http !== null) url.hostname = http.current.name ?? url.hostname;
  return url.origin;
}

function noteExposure(app: HttpApp, { tls, trustedProxies }: Config, security: SecurityLog): void {
  for (const bound of app.fastify.addresses()) {
    const { address } = bound as AddressInfo;
    // A service with trusted proxies has a proxy in front, which terminates TLS.
    const isSafe = tls !== null || trustedProxies.length > 0;
    noteOpenListener(security, { protocol: 'http', address, tls: isSafe, login: true });
  }
}

/**
 * This many turns in a row, each this long in ms, must pass without a request before the listener closes: then no connection of a balancer
 * is on its way. Turns, because a starved process may find a second gone before it has read what arrived in it.
 */
const QUIET_TURNS = 10;
const QUIET_TURN_MS = 100;
/** How long to wait for a balancer that sends requests all the same, in ms. */
const MAX_TURNING_AWAY_MS = 10_000;

/** By `until`, load balancers send elsewhere, and the rest of the shutdown time is for the work under way; see connections/shutdown.ts. */
async function drain(
  { shutdown }: HttpApp,
  { shutdownDrainMs }: Config,
  until: number,
  logger: Logger,
): Promise<void> {
  if (shutdownDrainMs === 0) return;
  logger.info({ drainMs: shutdownDrainMs }, 'waiting for load balancers to use other instances');
  shutdown.beginDrain();
  await wait(shutdownDrainMs);
  shutdown.turnAway();
  const last = Math.min(until, performance.now() + MAX_TURNING_AWAY_MS);
  for (let turns = 0, seen = shutdown.taken; turns < QUIET_TURNS && performance.now() < last; turns += 1) {
    await wait(QUIET_TURN_MS);
    if (shutdown.taken > seen) turns = -1;
    seen = shutdown.taken;
  }
}

/** Requests under way may finish; those that have not by `cutAt` lose their connections. */
async function closeHttp(app: HttpApp, cutAt: number, logger: Logger): Promise<void> {
  const timer = setTimeout(
    () => {
      logger.warn({}, 'requests were still running near the end of the shutdown time; they are cut off');
      app.fastify.server.closeAllConnections();
    },
    Math.max(0, cutAt - performance.now()),
  );
  try {
    app.shutdown.end();
    await app.fastify.close();
  } finally {
    clearTimeout(timer);
  }
}

/** Those of the configuration; the API checks its own. Throws ConfigError. */
async function requireSignatures({ registry, ...ports }: Parts): Promise<void> {
  for (const { id, isDeclared, open } of registry.known.values()) {
    try {
      if (isDeclared) await checkSignatures(ports, open);
    } catch (error) {
      if (!(error instanceof ServiceError) || error.code !== 'invalid_account') throw error;
      throw new ConfigError(`ACCOUNTS_FILE, account ${id}, ${String(error.field)}`, String(error.details));
    }
  }
}
