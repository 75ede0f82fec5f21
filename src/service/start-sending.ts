/** A part of the composition root: the send queue, the list of suppressed addresses, and the other parts of sending. */
import { randomBytes } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { setTimeout as wait } from 'node:timers/promises';
import { createExchangeStore } from '../areas/send/automatic-exchanges.ts';
import { createOutboundStore } from '../areas/send/outbound-store.ts';
import { createSendOperations } from '../areas/send/send-operations.ts';
import { createSendQueue } from '../areas/send/send-queue-store.ts';
import { createSuppressionStore } from '../areas/send/suppression-store.ts';
import { createTemplateStore } from '../areas/templates/template-store.ts';
import { createUploadStore } from '../areas/uploads/upload-store.ts';
import { createUnsubscribeStore } from '../areas/unsubscribes/unsubscribe-store.ts';
import { createVariantStore } from '../areas/emails/variants.ts';
import { createSendActs } from '../areas/send/operate-sends.ts';
import { createActiveSends } from '../areas/send/active-sends.ts';
import { createHeldClaims } from '../areas/send/held-claims.ts';
import { createSettling } from '../areas/send/settling.ts';
import type { ByteRange } from '../platform/files/file-ports.ts';
import type { OutboundStore } from '../areas/send/outbound-ports.ts';
import type { RetryPolicy, SendQueue } from '../areas/send/queue-ports.ts';
import type { SecurityLog } from '../platform/base/security-log.ts';
import { createSuppressionList, createSuppressionOperations } from '../areas/send/suppressions.ts';
import { createFillTemplate } from '../areas/templates/fill-template.ts';
import { createUnsubscribing } from '../areas/unsubscribes/unsubscribes.ts';
import { compareCopies } from '../areas/receive/variants.ts';
import type { RateLimit } from '../core/delivery/rate-window.ts';
import type { AccountRegistry } from './account-registry.ts';
import type { Parts } from './open-parts.ts';
import type { Teardown } from './teardown.ts';
import { startSendQueue } from '../areas/send/send-queue-loop.ts';
import { startSuppressionRefresher } from '../areas/send/suppression-refresher.ts';

/** How long the start waits for the list of suppressed addresses, in ms: some ten thousand are read by then. */
const LIST_PATIENCE_MS = 500;
/** The watch wakes the queue when a send is due; this is for claims that are still to be settled. */
const QUEUE_POLL_MS = 10_000;

export type Sending = Awaited<ReturnType<typeof startSending>>;

/** Resolves when sends may be accepted. */
export async function startSending(parts: Parts, security: SecurityLog, teardown: Teardown) {
  const { config, logger, clock, pool, blobs, ownStorage, spool, journal, transports, watch, registry } =
    parts;
  const outbound = createOutboundStore(pool);
  const sends = createSendQueue(pool, parts.guard.certainUntil);
  // A recorded send, and its outcome, is work for other loops, even when it is recorded late.
  const store: OutboundStore = {
    ...outbound,
    recordOutbound: (record, ifNewest) => outbound.recordOutbound(record, ifNewest).finally(watch.soon),
  };
  const queue: SendQueue = { ...sends, settle: (...attempt) => sends.settle(...attempt).finally(watch.soon) };
  const retry: RetryPolicy = { schedule: config.retrySchedule, random: Math.random };
  const suppressionStore = createSuppressionStore(pool);
  const seed = randomBytes(4).readUInt32LE();
  const suppressions = createSuppressionList({ store: suppressionStore, seed, logger, security });
  const listed = suppressions.refresh();
  // A short list is complete before the first send; one that takes longer need not be; see suppressions.ts.
  await Promise.race([listed, wait(LIST_PATIENCE_MS, undefined, { ref: false })]);
  // The refresher meets later failures again, and logs them.
  listed.catch(() => undefined);
  const refresher = startSuppressionRefresher(suppressions, logger);
  watch.on('suppressions', refresher.wake);
  teardown.push(() => refresher.stop());

  const sendActs = createSendActs({
    operations: createSendOperations(pool),
    retry,
    wakeQueue: () => sendQueue.wake(),
  });
  const [defaultAccount] = config.accounts;
  const openFile = (file: string, range?: ByteRange) => createReadStream(file, range);
  const { reader, unreadable } = parts;
  const { settleUnknown } = sendActs;
  const variants = createVariantStore(pool);
  const comparing = { variants, blobs, spool, reader, unreadable, openFile, settleUnknown, logger };
  const handingOver = {
    journal,
    queue,
    store,
    blobs,
    retry,
    clock,
    logger,
    transportOf: transports.of,
    held: createHeldClaims(),
    settling: createSettling(),
    compareCopies: (emailId: string) => compareCopies(comparing, emailId),
  };
  const queueAccounts = () =>
    registry.working.map(({ id, rate }) => ({ id, rate, slots: transports.queueSlotsOf(id) }));
  const sendQueue = startSendQueue(
    { ...handingOver, spool, mayReadFiles: () => ownStorage.isRight },
    {
      leaseMs: config.sendLeaseMs,
      pollMs: QUEUE_POLL_MS,
      accounts: queueAccounts(),
      allAccountIds: () => [...registry.known.keys()],
    },
  );
  registry.follow(() => sendQueue.follow(queueAccounts()));
  teardown.push(() => sendQueue.stop());
  watch.on('sends', () => sendQueue.wake());
  // Sends that had to wait for their files.
  ownStorage.onChange(() => sendQueue.wake());
  const templates = createTemplateStore(pool);
  const ports = {
    ...handingOver,
    templates,
    fillTemplate: createFillTemplate({ templates, reader, logger }),
    settleUnknown,
    requireStorage: () => ownStorage.require(),
    wakeQueue: () => sendQueue.wake(),
    rateOf: createRateOf(registry),
    suppressions,
    active: createActiveSends().sends,
    accounts: parts.accounts,
    defaultAccountId: defaultAccount.id,
    ids: parts.ids,
    reader: parts.reader,
    openFile,
    files: createUploadStore(pool),
    maxRecipients: config.maxRecipients,
    loopLimit: config.loopLimit,
    exchanges: createExchangeStore(pool),
    unsubscribing: createUnsubscribing({
      store: createUnsubscribeStore(pool),
      ids: parts.ids,
      publicUrl: config.publicUrl,
    }),
  };
  return {
    ports,
    comparing,
    sendActs,
    suppressed: createSuppressionOperations(suppressionStore, suppressions),
  };
}

function createRateOf({ known }: AccountRegistry): (accountId: string) => RateLimit | null {
  return (accountId) => {
    const rate = known.get(accountId)?.config?.rate ?? null;
    return rate === null || (rate.perMinute === null && rate.perDay === null) ? null : rate;
  };
}
