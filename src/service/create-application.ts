/** A part of the composition root: the use cases on their stores and connectors, and the loops that belong to them. */
import { createDatabaseCheck } from '../platform/db/check-database.ts';
import { createFaultNote } from '../platform/files/storage-record.ts';
import { createFileReferences } from '../areas/emails/file-references.ts';
import { createDeletedFiles, createDeletionStore } from '../areas/erase/deletion-store.ts';
import { createRetentionStore } from '../areas/erase/retention-store.ts';
import { createErasureStore } from '../areas/erase/erasure-store.ts';
import { createEmailStore } from '../areas/emails/email-store.ts';
import { createThreadReader } from '../areas/threads/read-thread.ts';
import { knowCustomersOf } from '../areas/customers/known-customers.ts';
import { createCustomerStore } from '../areas/customers/customer-rules.ts';
import { createDraftStore } from '../areas/drafts/draft-store.ts';
import { createAbsenceStore } from '../areas/absence/absence-store.ts';
import { startAbsenceAnswerer } from '../areas/absence/answer-absences.ts';
import { createReportStore } from '../areas/receive/delivery-reports.ts';
import { createIdempotencyKeys } from '../areas/send/idempotency-keys.ts';
import { createCustomerLinker } from '../areas/customers/link-customers.ts';
import { createMailboxStatusStore } from '../areas/mailboxes/mailbox-status.ts';
import { createPlacementStore } from '../areas/threads/read-placement.ts';
import { createInboundStore } from '../areas/receive/record-inbound.ts';
import { createAuditLog } from '../areas/audit/audit-log.ts';
import { createKeyStore } from '../areas/keys/key-store.ts';
import { createEventFeed } from '../areas/events/event-feed.ts';
import { onEventsWritten } from '../areas/events/event-signal.ts';
import { createSentCopyStore } from '../areas/sent-copies/sent-copies.ts';
import { createKnownAddresses } from '../areas/addresses/known-addresses.ts';
import { learnMentions } from '../areas/addresses/learn-addresses.ts';
import { createSearchIndex, type LearnFrom } from '../areas/search/search-index.ts';
import { createRefusedMergeStore } from '../areas/threads/refused-merge-store.ts';
import { createAssigneeReader } from '../areas/threads/assignees.ts';
import { createFolderCounter } from '../areas/threads/folder-counts.ts';
import { createImportLog } from '../areas/import/import-log.ts';
import { createStatisticsReader } from '../areas/statistics/event-counts.ts';
import { createThreadChanges } from '../areas/threads/thread-work.ts';
import { createThreadPages } from '../areas/threads/thread-page.ts';
import { createThreadDecisions } from '../areas/threads/decide-in-transaction.ts';
import { createThreadList } from '../areas/threads/thread-list.ts';
import { createBlockedSenders } from '../areas/rules/blocked-senders.ts';
import { createRuleQueue } from '../areas/rules/rule-queue.ts';
import { createRuleStore } from '../areas/rules/rule-store.ts';
import { createRules } from '../areas/rules/rules.ts';
import { startRuleJudge } from '../areas/rules/rule-judge.ts';
import { createTemplateStore } from '../areas/templates/template-store.ts';
import { createWaitingSends } from '../areas/send/waiting-sends.ts';
import { createUploadStore } from '../areas/uploads/upload-store.ts';
import { createEmailCounter, createUsedAccounts } from '../areas/accounts/used-accounts.ts';
import type { Application } from '../api/application.ts';
import type { SecurityLog } from '../platform/base/security-log.ts';
import type { AccountOf } from '../platform/access/account-of.ts';
import type { OperationDeps } from '../api/operations.ts';
import type { AccountsPorts } from '../platform/operation/seen-accounts.ts';
import { checkClock, checkReadiness } from '../api/health/check-readiness.ts';
import { createKeys } from '../areas/keys/manage-keys.ts';
import { createUpload } from '../areas/uploads/create-upload.ts';
import { createAccountConsents } from '../areas/accounts/account-consents.ts';
import type { ConsentPort } from '../areas/accounts/consent-ports.ts';
import { createConsentStore } from '../areas/accounts/consent-store.ts';
import { createManagedAccounts } from '../areas/accounts/manage-accounts.ts';
import { ownAddressesIn } from '../platform/base/own-addresses.ts';
import { createAddresses } from '../areas/addresses/use-cases.ts';
import { createCustomers } from '../areas/customers/customers.ts';
import { createDecisions } from '../areas/threads/decide-threads.ts';
import { createStatistics } from '../areas/statistics/use-cases.ts';
import { checkSend } from '../areas/send/check-send.ts';
import { createKeyWork } from '../areas/send/idempotency.ts';
import { deleteAllDeletedFiles, deleteDeletedFiles } from '../areas/erase/delete-deleted-files.ts';
import { createRetention } from '../areas/erase/retain.ts';
import { createDeletions } from '../areas/erase/delete-emails.ts';
import { createErasures } from '../areas/erase/erase-people.ts';
import { createFeedSignal } from '../areas/events/feed-signal.ts';
import { createEventReads } from '../areas/events/read-events.ts';
import { createPlacementReads } from '../areas/threads/placement.ts';
import { createImageUrls } from '../areas/emails/image-urls.ts';
import { createReads } from '../areas/emails/read-emails.ts';
import { createMakeSafeHtml, readForwardHtml } from '../areas/emails/make-safe-html.ts';
import { createSafeHtml } from '../areas/emails/safe-html.ts';
import { createMailboxStatus } from '../areas/mailboxes/read-mailbox-status.ts';
import { createThreadReads } from '../areas/threads/read-threads.ts';
import { createThreadChangeActs, createThreadPageReads } from '../areas/threads/thread-record.ts';
import { createRefusedMerges } from '../areas/threads/refused-merges.ts';
import { receiveMessage } from '../areas/receive/receive-message.ts';
import { createDrafts } from '../areas/drafts/drafts.ts';
import { createTemplates } from '../areas/templates/templates.ts';
import { toText } from '../areas/send/prepare-send.ts';
import { createReplies, type ReplyPorts } from '../areas/reply/send-replies.ts';
import { sendMessage } from '../areas/send/send-message.ts';
import { checkSignatures } from '../areas/send/closing.ts';
import { accountOfFrom } from '../areas/send/sender.ts';
import { createSendChanges } from '../areas/send/change-send.ts';
import { createSubmissions, type SubmissionUseCases } from '../areas/submission/submit-message.ts';
import { carryOutOnce, sendOnce, type SendOncePorts } from '../areas/send/send-once.ts';
import { createKeySettlement } from '../areas/send/settle-keys.ts';
import { retentionRules } from '../config/config-accounts.ts';
import { certaintyOf } from './open-storage.ts';
import { createExamineAccount } from './examine-account.ts';
import { followedBy } from './followed-by.ts';
import type { Parts } from './open-parts.ts';
import { together, type Teardown } from './teardown.ts';
import type { Sending } from './start-sending.ts';
import { findSettings } from './find-settings.ts';
import { startImageProxy } from './start-image-proxy.ts';
import { startNotices } from './start-notices.ts';
import { startSentCopies } from './start-sent-copies.ts';
import { startWebhooks } from './start-webhooks.ts';
import type { Loop, WokenLoop } from '../platform/base/loop.ts';
import type { WorkKind } from '../areas/work/work-watch.ts';
import { startClockWatch } from '../areas/clock/clock-watch.ts';
import { startCopyComparer } from '../areas/receive/copy-comparer.ts';
import { startCustomerLinker } from '../areas/customers/customer-linker.ts';
import { createCapturing } from './create-capturing.ts';
import { startEraser } from '../areas/erase/eraser.ts';
import { startEventKeeper } from '../areas/events/event-keeper.ts';
import { startFileEraser } from '../areas/erase/file-eraser.ts';
import { startEventNumberer } from '../areas/events/event-numberer.ts';
import { startKeyCleaner } from '../areas/send/key-cleaner.ts';
import { startKeySettler } from '../areas/send/key-settler.ts';
import { startRetention } from '../areas/erase/retention.ts';
import { startReportMatcher } from '../areas/receive/report-matcher.ts';
import { startStorageWatch } from '../platform/files/storage-watch.ts';
import { startUploadCleaner } from '../areas/uploads/upload-cleaner.ts';
import { startSearchIndexer } from '../areas/search/search-indexer.ts';

/** Most services ask for no consent, and save the memory of its library. */
const lazyConsentPort: ConsentPort = {
  begin: async (...asked) => (await import('../connectors/oauth2/consent.ts')).consentPort.begin(...asked),
  finish: async (...answered) =>
    (await import('../connectors/oauth2/consent.ts')).consentPort.finish(...answered),
};

export interface ApplicationParts {
  readonly parts: Parts;
  readonly sending: Sending;
  readonly security: SecurityLog;
  /** The secrets of the API, which also seal webhooks' secrets. */
  readonly secrets: readonly string[];
  /** Has the mailboxes of an account checked now. */
  readonly wakeMailboxes: (accountId: string) => void;
  readonly accountOf: AccountOf;
}

export interface CreatedApplication {
  readonly application: Application;
  /** For the listeners for mail of other programs. */
  readonly submissions: SubmissionUseCases;
  /** What declared operations stand on. */
  readonly deps: OperationDeps;
  readonly accounts: AccountsPorts;
  /** An account fails: the operators may have to be mailed. */
  readonly wakeNotices: () => void;
}

/** The teardown waits for sends and requests under way. */
export function createApplication(
  {
    parts,
    sending: { ports: sendPorts, comparing, sendActs, suppressed },
    security,
    secrets,
    wakeMailboxes,
    accountOf,
  }: ApplicationParts,
  teardown: Teardown,
): CreatedApplication {
  const { config, logger, clock, guard, pool, callers, replica, instanceId, watch, registry } = parts;
  const requireTime = guard.require;
  const requireCertainty = certaintyOf(parts);
  // For callers' reads; sends and loops read from the database that they write to.
  const reading = replica ?? callers;
  const { blobs, suppressions, active, settleUnknown } = sendPorts;
  const { useCases: unsubscribing, unsubscribes } = sendPorts.unsubscribing;
  const loops: Loop[] = [];
  const endAtTeardown = (loop: Loop) => loops.push(loop);
  const wakeFor = (kind: WorkKind, loop: WokenLoop) => {
    watch.on(kind, loop.wake);
    endAtTeardown(loop);
  };

  const keys = createIdempotencyKeys(pool, instanceId);
  const keyWork = createKeyWork();
  const emails = createEmailStore(pool);
  const shownEmails = createEmailStore(reading);
  const keyPorts: SendOncePorts = {
    ...sendPorts,
    keys,
    emails,
    work: keyWork,
    send: (request, folder, emailId) => sendMessage(sendPorts, request, folder, emailId),
  };
  const reportPorts = {
    reports: createReportStore(pool),
    settleUnknown,
    // The refresher logs failures and keeps trying.
    onApplied: () => suppressions.refresh().catch(() => undefined),
    logger,
  };
  const receivePorts = {
    ...sendPorts,
    ...comparing,
    ...reportPorts,
    store: createInboundStore(pool),
    requireStorage: () => parts.ownStorage.requireLately(),
    unsubscribe: (token: string) => unsubscribing.unsubscribe(token),
  };

  const { databaseStatementTimeoutMs: statementTimeoutMs } = config;
  const notices = startNotices(parts, keyPorts);
  if (notices !== null) endAtTeardown(notices);
  wakeFor('reports', startReportMatcher(reportPorts));
  wakeFor(
    'absences',
    startAbsenceAnswerer({
      accounts: parts.accounts,
      absences: createAbsenceStore(pool, guard.certainUntil),
      emails,
      send: (request, folder, emailId) => sendMessage(sendPorts, request, folder, emailId),
      spool: parts.spool,
      logger,
    }),
  );
  wakeFor('copies', startCopyComparer({ ...comparing, requireStorage: sendPorts.requireStorage }));
  endAtTeardown(startKeySettler(keyWork, createKeySettlement({ ...keyPorts, statementTimeoutMs }), logger));
  wakeFor(
    'customers',
    startCustomerLinker(
      createCustomerLinker(pool, (address) => ownAddressesIn(parts.accounts)(address)),
      logger,
    ),
  );
  wakeFor(
    'rules',
    startRuleJudge({
      rules: createRuleStore(pool),
      queue: createRuleQueue(pool),
      reader: parts.reader,
      blobs,
      logger,
    }),
  );
  endAtTeardown(startClockWatch(guard, logger));
  endAtTeardown(startKeyCleaner(keys, requireTime, logger));
  const uploadPorts = { ...sendPorts, uploads: createUploadStore(callers) };
  endAtTeardown(startUploadCleaner({ uploads: createUploadStore(pool), blobs, requireCertainty }, logger));
  endAtTeardown(
    startStorageWatch({ storage: parts.ownStorage, noteFault: createFaultNote(pool, instanceId), logger }),
  );
  const learnFrom: LearnFrom = async (client, ids) => {
    await learnMentions(client, ids, ownAddressesIn(parts.accounts));
    await knowCustomersOf(client, ids);
  };
  wakeFor('search', startSearchIndexer(createSearchIndex(pool, logger, learnFrom), logger));
  const feed = createEventFeed(pool);
  const signal = createFeedSignal(() => numberer.follow());
  const numberer = startEventNumberer({ feed, signal, logger });
  // After the loops, which write events
  teardown.push(() => numberer.stop());
  teardown.push(together(loops));
  for (const one of [pool, parts.patient]) onEventsWritten(one, numberer.wake);
  endAtTeardown(startEventKeeper({ feed, guard, logger, eventsDays: config.eventsDays }));
  startSentCopies(parts, teardown);
  const webhooks = startWebhooks(parts, secrets, { feed, signal }, teardown);
  watch.start();
  endAtTeardown(watch);
  // A send whose caller went away is still carried to its end.
  teardown.push(() => active.idle());
  teardown.push(() => keyWork.idle());

  const deletedFiles = {
    files: createDeletedFiles(pool),
    references: createFileReferences(pool),
    blobs,
    requireCertainty,
    logger,
  };
  wakeFor('deletedFiles', startFileEraser(deletedFiles, logger));
  const deletionPorts = {
    deletions: createDeletionStore(callers),
    requireCertainty,
    deleteFiles: () =>
      deleteDeletedFiles(deletedFiles).catch((err: unknown) => {
        logger.warn({ err }, 'files of deleted emails could not be deleted yet; this is retried');
      }),
  };
  const deletions = createDeletions(deletionPorts);
  const retentionPorts = {
    ...deletionPorts,
    retention: createRetentionStore(pool),
    rules: registry.derived(() => retentionRules(registry.settings)),
    logger,
  };
  const retention = startRetention(retentionPorts);
  endAtTeardown(retention);
  const erasures = createErasureStore(pool, parts.patient);
  const eraser = startEraser({
    erasures,
    deleteFiles: (signal) => deleteAllDeletedFiles(deletedFiles, signal),
    requireCertainty,
    logger,
  });
  wakeFor('erasures', eraser);

  const capturing = createCapturing(parts, {
    blobs,
    deleteFiles: deletionPorts.deleteFiles,
    requireCertainty,
  });
  wakeFor('removals', capturing.remover);

  const events = createEventReads({ feed: createEventFeed(callers), signal });

  const checkDatabase = createDatabaseCheck(pool);
  const threads = createThreadReads(createThreadList(callers, reading), {
    readThread: createThreadReader(reading),
  });
  const threadPages = createThreadPages(reading);
  const makeSafe = createMakeSafeHtml(parts);
  const imageUrls = createImageUrls(secrets, clock);
  const hasEmail = async (id: string) => (await accountOf.email(id)) !== null;
  const reads = {
    ...createReads(shownEmails, blobs),
    ...createSafeHtml({
      store: shownEmails,
      blobs,
      makeSafe,
      imageUrls,
      hasImageProxy: config.hasImageProxy,
    }),
    readRemoteImage: startImageProxy(parts, imageUrls, hasEmail, teardown),
  };
  const mailboxes = createMailboxStatus({
    status: createMailboxStatusStore(callers),
    known: registry.known,
    source: parts.mailboxSource,
    accounts: parts.accounts,
    instanceId,
    wake: wakeMailboxes,
  });
  const carryOut: ReplyPorts['sendOnce'] = (key, keyed, folder) => carryOutOnce(keyPorts, key, keyed, folder);
  const check: ReplyPorts['check'] = (request, folder) => checkSend(sendPorts, request, folder);
  const { previewReply, checkReply, ...replies } = createReplies({
    ...sendPorts,
    emails,
    makeSafe,
    toText: (html, authorKeyId) => toText(sendPorts, html, authorKeyId),
    toForward: (html, authorKeyId) => readForwardHtml(sendPorts, html, authorKeyId),
    accounts: parts.accounts,
    send: (request, folder, emailId) => sendMessage(sendPorts, request, folder, emailId),
    sendOnce: carryOut,
    check,
  });
  const drafts = createDrafts({
    ...sendPorts,
    drafts: createDraftStore(callers),
    requireCertainty,
    send: keyPorts.send,
    reply: replies.sendReply,
    sendOnce: carryOut,
  });
  const sendChanges = createSendChanges({
    ...sendPorts,
    waiting: createWaitingSends(callers),
    readEmail: reads.readEmail,
  });
  const customers = createCustomers(createCustomerStore(callers, parts.patient, reading));
  const writing = {
    ...createThreadChangeActs(createThreadChanges(callers), threadPages),
    ...createErasures({
      erasures: createErasureStore(callers, parts.patient),
      accounts: parts.accounts,
      ids: parts.ids,
      wake: eraser.wake,
    }),
    // Also of callers that no runner wakes the loops for.
    ...followedBy(watch.soon, {
      ...unsubscribing,
      receiveMessage: (request, folder) => receiveMessage(receivePorts, request, folder),
    } satisfies Partial<Application>),
    sendMessage: (request, folder) => sendMessage(sendPorts, request, folder),
    sendOnce: (key, request, folder) => sendOnce(keyPorts, key, request, folder),
    ...replies,
    ...drafts,
    ...sendChanges,
  } satisfies Partial<Application>;
  const { submit, ...checks } = createSubmissions({ ...keyPorts, ...sendPorts, ...comparing });
  const submissions: SubmissionUseCases = { ...checks, ...followedBy(watch.soon, { submit }) };
  const isUsed = createUsedAccounts(callers);
  const accounts: AccountsPorts = {
    defaultAccountId: config.accounts[0].id,
    isKnown: (accountId) => parts.accounts.has(accountId) || isUsed(accountId),
    ofSender: (from, among) => accountOfFrom(sendPorts, from, among),
  };
  const useCases: Omit<Application, 'checkReadiness'> = {
    ...reads,
    ...threads,
    ...createThreadPageReads(threadPages),
    ...createPlacementReads(createPlacementStore(callers)),
    listAmbiguousEmails: customers.listAmbiguousEmails,
    previewReply,
    checkReply,
    checkSend: check,
    ...writing,
    createUpload: (request, folder) => createUpload(uploadPorts, request, folder),
    ...events,
    ...createRefusedMerges(createRefusedMergeStore(callers)),
  };
  const application: Application = {
    ...useCases,
    checkReadiness: () =>
      checkReadiness({
        clock: () => checkClock(guard),
        events: async () => numberer.check(),
        database: checkDatabase,
        storage: () => blobs.check(),
        smtp: () => parts.transports.verify(),
        accounts: async () => registry.requireUsable(),
        ...(replica === null ? {} : { replica: () => replica.check() }),
      }),
  };
  const managed = createManagedAccounts({
    ...parts.stored,
    directory: registry,
    examine: createExamineAccount(parts),
    checkSignatures: (open) => checkSignatures(sendPorts, open),
    isUsed,
  });
  const deps: OperationDeps = {
    ...useCases,
    accountOf,
    accounts: managed,
    consents: createAccountConsents({
      store: createConsentStore(callers),
      sealer: parts.stored.sealer,
      accounts: managed,
      port: lazyConsentPort,
      publicUrl: config.publicUrl,
      returnOrigins: config.consentReturnOrigins,
      logger,
      security,
    }),
    ids: parts.ids,
    countEmails: createEmailCounter(callers),
    findAccountSettings: findSettings(config.senderCheck.dnsServers),
    addresses: createAddresses(createKnownAddresses(reading), parts.accounts),
    assignees: createAssigneeReader(callers),
    auditLog: createAuditLog(callers),
    captures: capturing.captures,
    clock,
    customers,
    decisions: createDecisions(createThreadDecisions(callers), parts.ids),
    deletions,
    findThreads: createThreadReads(createThreadList(callers), { readThread: createThreadReader(callers) })
      .listThreads,
    folders: createFolderCounter(reading),
    guard,
    imports: createImportLog(callers),
    keys: createKeys({ store: createKeyStore(callers), clock, ids: parts.ids }),
    mailboxes,
    retention: createRetention({
      ...retentionPorts,
      retention: createRetentionStore(callers),
      wake: retention.wake,
    }),
    blockedSenders: createBlockedSenders(callers),
    rules: createRules({
      rules: createRuleStore(callers),
      queue: createRuleQueue(callers),
      reader: parts.reader,
      blobs,
      ids: parts.ids,
    }),
    sendActs,
    sentCopies: createSentCopyStore(callers),
    statistics: createStatistics(createStatisticsReader(reading), clock),
    suppressions: suppressed,
    templates: createTemplates({ ...sendPorts, templates: createTemplateStore(callers) }),
    unsubscribes,
    webhooks,
  };
  return { application, submissions, deps, accounts, wakeNotices: () => notices?.wake() };
}
