/**
 * The composition root: picks the concrete parts for a configuration, wires them, and takes them down again in order.
 */
import { randomBytes } from 'node:crypto';
import { createReadStream } from 'node:fs';
import path from 'node:path';
import { lockDataDir } from './adapters/data-dir/data-dir-lock.ts';
import { loadOrCreateSecret } from './adapters/data-dir/api-secret.ts';
import { loadOrCreateInstanceId } from './adapters/data-dir/instance-id.ts';
import { createHttpApp, type HttpApp } from './adapters/http/app.ts';
import { LmdbAttempts } from './adapters/journal/lmdb-attempts.ts';
import { createExchangeStore } from './adapters/postgres/automatic-exchanges.ts';
import { createCustomerStore } from './adapters/postgres/customer-rules.ts';
import { createIdempotencyKeys } from './adapters/postgres/idempotency-keys.ts';
import { createInboundStore } from './adapters/postgres/record-inbound.ts';
import { createCustomerSettler } from './adapters/postgres/link-customers.ts';
import { createMailboxStatusStore } from './adapters/postgres/mailbox-status.ts';
import { createMessageStore } from './adapters/postgres/message-store.ts';
import { createTokenStore } from './adapters/postgres/oauth2-tokens.ts';
import { createPlacementStore } from './adapters/postgres/read-placement.ts';
import { createThreadDecisions } from './adapters/postgres/thread-decisions.ts';
import { createSendOperations } from './adapters/postgres/send-operations.ts';
import { createThreadList } from './adapters/postgres/thread-list.ts';
import { createSearchIndex } from './adapters/postgres/search-index.ts';
import { createSendQueue } from './adapters/postgres/send-queue.ts';
import { createReportStore } from './adapters/postgres/delivery-reports.ts';
import { createSuppressionStore } from './adapters/postgres/suppressions.ts';
import type { Application } from './app/application.ts';
import { checkReadiness } from './app/check-readiness.ts';
import { createDecisions } from './app/decide-threads.ts';
import { createCustomers } from './app/customers.ts';
import { createKeyWork } from './app/idempotency.ts';
import { createPendingSends } from './app/pending-sends.ts';
import type { Account, ByteRange, Logger } from './app/ports.ts';
import { createOperations } from './app/operate-sends.ts';
import type { RetryPolicy } from './app/queue-ports.ts';
import { createPlacementReads } from './app/placement.ts';
import { createMailboxStatus } from './app/read-mailbox-status.ts';
import { createReads } from './app/read-emails.ts';
import { createThreadReads } from './app/read-threads.ts';
import { receiveMessage } from './app/receive-message.ts';
import { sendMessage } from './app/send-message.ts';
import { sendOnce, type SendOncePorts } from './app/send-once.ts';
import { createKeySettlement } from './app/settle-keys.ts';
import { createSuppressionList, createSuppressionOperations } from './app/suppressions.ts';
import type { Config } from './config.ts';
import type { RateLimit } from './core/delivery/rate-window.ts';
import { createTokens } from './create-access-tokens.ts';
import { createTransports, type Transports } from './create-transports.ts';
import { createMailboxSource } from './create-mailbox-source.ts';
import { startListeners } from './start-listeners.ts';
import { startMailboxes } from './start-mailboxes.ts';
import { createIdSource } from './id-source.ts';
import { openStorage } from './open-storage.ts';
import { startCustomerSettler } from './worker/customer-settler.ts';
import { startJournalReplayer } from './worker/journal-replayer.ts';
import { startKeyCleaner } from './worker/key-cleaner.ts';
import { startKeySettler } from './worker/key-settler.ts';
import { startReportMatcher } from './worker/report-matcher.ts';
import { startSearchIndexer } from './worker/search-indexer.ts';
import { startSendQueue } from './worker/send-queue.ts';
import { startSuppressionRefresher } from './worker/suppression-refresher.ts';

export interface Service {
  /** Where HTTP listens, such as `http://127.0.0.1:3000`. */
  readonly url: string;
  /** Where the API secret was made or found; null when the configuration gave it. */
  readonly secretFile: string | null;
  /** Ends everything in order; a second call waits for the first. */
  stop(): Promise<void>;
}

/** Throws when a part can't start; what had been started by then is taken down again. */
export async function startService(config: Config, logger: Logger): Promise<Service> {
  /** What to undo, in the order it was set up; taken down from the end. */
  const teardown: (() => Promise<void>)[] = [];
  const takeDown = async () => {
    for (const step of teardown.splice(0).reverse()) {
      await step().catch((err: unknown) => logger.error({ err }, 'a part could not be taken down'));
    }
  };
  try {
    return await startParts(config, logger, teardown, takeDown);
  } catch (error) {
    await takeDown();
    throw error;
  }
}

async function startParts(
  config: Config,
  logger: Logger,
  teardown: (() => Promise<void>)[],
  takeDown: () => Promise<void>,
): Promise<Service> {
  const { dataDir } = config;
  const lock = await lockDataDir(dataDir);
  teardown.push(() => lock.release());

  const madeSecret = config.apiSecrets.length > 0 ? null : await loadOrCreateSecret(dataDir);
  const secrets = madeSecret === null ? config.apiSecrets : [madeSecret.secret];

  // What may be wrong with the configuration is found before anything large is started.
  const tokens = createTokens(config, logger);
  const transports = createTransports(config, tokens, logger);
  teardown.push(() => transports.close());
  const mailboxSource = createMailboxSource(config, tokens);
  const { pool, db, patient, blobs, spool, journal } = await openStorage(config, logger, teardown);
  tokens.keepIn(createTokenStore(pool));
  teardown.push(() => tokens.close());
  const store = createMessageStore(pool, db);
  const attempts = await LmdbAttempts.open({ folder: path.join(dataDir, 'attempts'), logger });
  teardown.push(() => attempts.close());

  const pending = createPendingSends();
  const clock = () => new Date();
  const [defaultAccount] = config.accounts;
  const queue = createSendQueue(pool);
  const instanceId = await loadOrCreateInstanceId(dataDir);
  const retry: RetryPolicy = { schedule: config.retrySchedule, random: Math.random };
  const sendQueue = startSendQueue(
    {
      owner: attempts.owner,
      queue,
      attempts,
      retry,
      clock,
      blobs,
      spool,
      transportOf: transports.of,
      logger,
    },
    {
      ...config.queue,
      accounts: config.accounts.map(({ id, rate }) => ({ id, rate, slots: transports.queueSlotsOf(id) })),
    },
  );
  teardown.push(() => sendQueue.stop());
  const wakeQueue = () => sendQueue.wake();
  const suppressionStore = createSuppressionStore(pool);
  const suppressions = createSuppressionList({
    store: suppressionStore,
    seed: randomBytes(4).readUInt32LE(),
    logger,
  });
  // No send is taken before the list is known.
  await suppressions.refresh();
  const refresher = startSuppressionRefresher(suppressions, logger);
  teardown.push(() => refresher.stop());
  const { settleUnknown, ...operations } = createOperations({
    operations: createSendOperations(pool),
    retry,
    clock,
    wakeQueue,
  });
  const sendPorts = {
    queue,
    settleUnknown,
    retry,
    wakeQueue,
    rateOf: createRateOf(config),
    suppressions,
    store,
    blobs,
    journal,
    pending,
    transportOf: transports.of,
    clock,
    logger,
    accounts: new Map(
      config.accounts.map(({ id, from, joinBySubjectDays }): [string, Account] => [
        id,
        { id, from, joinBySubjectDays },
      ]),
    ),
    defaultAccountId: defaultAccount.id,
    ids: createIdSource(),
    openFile: (file: string, range?: ByteRange) => createReadStream(file, range),
    maxRecipients: config.maxRecipients,
    loopLimit: config.loopLimit,
    exchanges: createExchangeStore(pool),
  };
  const keys = createIdempotencyKeys(pool, instanceId);
  const keyWork = createKeyWork();
  const keyPorts: SendOncePorts = {
    ...sendPorts,
    keys,
    work: keyWork,
    send: (request, folder, emailId) => sendMessage(sendPorts, request, folder, emailId),
  };
  const reportPorts = {
    reports: createReportStore(pool),
    settleUnknown,
    // What fails is logged by the refresher, which goes on trying.
    onApplied: () => suppressions.refresh().catch(() => undefined),
    logger,
  };
  const matcher = startReportMatcher(reportPorts);
  teardown.push(() => matcher.stop());
  const receivePorts = { ...sendPorts, ...reportPorts, store: createInboundStore(db) };
  const application: Application = {
    ...createReads(store, blobs),
    ...createThreadReads(createThreadList(pool)),
    ...createPlacementReads(createPlacementStore(db)),
    ...createDecisions(createThreadDecisions(db), sendPorts.ids),
    ...createCustomers(createCustomerStore(pool, patient)),
    ...operations,
    ...createSuppressionOperations(suppressionStore, suppressions),
    receiveMessage: (request, folder) => receiveMessage(receivePorts, request, folder),
    sendMessage: (request, folder) => sendMessage(sendPorts, request, folder),
    sendOnce: (key, request, folder) => sendOnce(keyPorts, key, request, folder),
    ...createMailboxStatus({
      status: createMailboxStatusStore(pool),
      source: mailboxSource,
      accounts: sendPorts.accounts,
      instanceId,
      wake: (accountId) => mailboxes.wake(accountId),
    }),
    checkReadiness: () =>
      checkReadiness({
        database: () => store.check(),
        storage: () => blobs.check(),
        smtp: () => transports.verify(),
      }),
  };

  const replayer = startJournalReplayer(sendPorts, logger);
  teardown.push(() => replayer.stop());
  const settle = createKeySettlement({
    ...keyPorts,
    clock,
    statementTimeoutMs: config.databaseStatementTimeoutMs,
  });
  const settler = startKeySettler(keyWork, settle, logger);
  teardown.push(() => settler.stop());
  const customerSettler = startCustomerSettler(createCustomerSettler(db), logger);
  teardown.push(() => customerSettler.stop());
  const cleaner = startKeyCleaner(keys, logger);
  teardown.push(() => cleaner.stop());
  const indexer = startSearchIndexer(createSearchIndex(pool, logger), logger);
  teardown.push(() => indexer.stop());
  // A send whose caller went away is still carried to its end.
  teardown.push(() => pending.idle());
  teardown.push(() => keyWork.idle());

  const app = createHttpApp({
    application,
    spool,
    secrets,
    logger,
    clock,
    limits: { maxAttachmentBytes: config.maxAttachmentBytes, maxInboundBytes: config.maxInboundBytes },
  });
  teardown.push(() => closeHttp(app, config.shutdownTimeoutMs, logger));
  const listeners = await startListeners(config, {
    receive: application.receiveMessage,
    accounts: sendPorts.accounts.values(),
    spool,
    logger,
  });
  teardown.push(() => listeners.close());
  const mailboxes = startMailboxes(config, {
    source: mailboxSource,
    pool,
    instanceId,
    receive: application.receiveMessage,
    spool,
    clock,
    logger,
  });
  teardown.push(() => mailboxes.stop());
  const url = await app.fastify.listen({ port: config.port, host: config.host });

  let stopping: Promise<void> | null = null;
  const stop = () => stopWithin(config.shutdownTimeoutMs, takeDown, transports, logger);
  return { url, secretFile: madeSecret?.path ?? null, stop: () => (stopping ??= stop()) };
}

/** What the mail servers have not answered by the deadline is recorded, and told, as it stands then. */
async function stopWithin(
  timeoutMs: number,
  takeDown: () => Promise<void>,
  transports: Transports,
  logger: Logger,
): Promise<void> {
  const timer = setTimeout(() => {
    logger.warn(
      { timeoutMs },
      'sends were still under way at the end of the shutdown time; they are cut off',
    );
    transports.abort();
  }, timeoutMs);
  try {
    await takeDown();
  } finally {
    clearTimeout(timer);
  }
}

/** How long requests may take to give their answer after the sends under way were cut off, in ms. */
const ANSWER_MS = 2000;

function createRateOf({ accounts }: Config): (accountId: string) => RateLimit | null {
  const limited = accounts.filter(({ rate }) => rate.perMinute !== null || rate.perDay !== null);
  const rates = new Map(limited.map(({ id, rate }): [string, RateLimit] => [id, rate]));
  return (accountId) => rates.get(accountId) ?? null;
}

/** Requests under way may finish; a little after the deadline their connections are cut. */
async function closeHttp(app: HttpApp, timeoutMs: number, logger: Logger): Promise<void> {
  const timer = setTimeout(() => {
    logger.warn(
      { timeoutMs },
      'requests were still running at the end of the shutdown time; they are cut off',
    );
    app.fastify.server.closeAllConnections();
  }, timeoutMs + ANSWER_MS);
  try {
    app.beginShutdown();
    await app.fastify.close();
  } finally {
    clearTimeout(timer);
  }
}
