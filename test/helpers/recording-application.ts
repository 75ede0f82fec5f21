/**
 * An Application that remembers what it is asked and answers with samples, for tests of the HTTP edge alone.
 * Each method may be replaced, to inject faults.
 */
import type { Erasure } from '../../src/app/erase/erasure-ports.ts';
import type { VariantDetail } from '../../src/app/emails/variant-view.ts';
import { createHash } from 'node:crypto';
import { Readable } from 'node:stream';
import type { AccountStatus } from '../../src/app/mailboxes/use-cases.ts';
import type { StoredKey } from '../../src/app/keys/key-ports.ts';
import type { Application } from '../../src/app/application.ts';
import type { CustomerEmailsRequest } from '../../src/app/emails/use-cases.ts';
import type { FeedEvent } from '../../src/app/events/event-ports.ts';
import type { RegistrationRequest } from '../../src/app/customers/use-cases.ts';
import type { Draft, DraftSummary } from '../../src/app/drafts/draft-ports.ts';
import type { ReplyPreview, ReplyRequest } from '../../src/app/reply/use-cases.ts';
import type { SendRequest } from '../../src/app/send/use-cases.ts';
import type { AmbiguousClaim, CustomerRegistration } from '../../src/app/customers/customer-ports.ts';
import type { SentCopyView } from '../../src/core/sent-copies/sent-copy.ts';
import type { QuarantinedMessage } from '../../src/app/mailboxes/mailbox-status-ports.ts';
import type { EmailDetail, EmailSummary, StoredAttachment } from '../../src/app/emails/email-ports.ts';
import type { SpoolFolder } from '../../src/app/files/file-ports.ts';
import type { ThreadEmail, ThreadRecord } from '../../src/app/threads/thread-record-ports.ts';
import type { ThreadListing } from '../../src/app/threads/thread-list-ports.ts';
import type { ExplainedPlacement } from '../../src/app/threads/placement-facts.ts';
import type { RefusedMerge } from '../../src/app/threads/refused-merge-ports.ts';
import type { DecisionResult } from '../../src/app/threads/thread-decisions.ts';
import { nothingRemoved } from '../../src/core/html/removed.ts';
import type { Template, TemplateSummary } from '../../src/app/templates/template-ports.ts';
import type { Unsubscribe } from '../../src/app/unsubscribes/unsubscribe-ports.ts';
import type { Suppression } from '../../src/core/delivery/suppression.ts';
import type { MessageId } from '../../src/core/message/message-id.ts';
import type { WebhookView } from '../../src/app/webhooks/use-cases.ts';
import type { Delivery } from '../../src/app/webhooks/webhook-ports.ts';
import { toEmailsJson, toListingJson, type ListedEmail } from './emails-json.ts';

export const IDS = {
  thread: '0190b2a0-0000-7000-8000-000000000001',
  email: '0190b2a0-0000-7000-8000-000000000002',
  attachment: '0190b2a0-0000-7000-8000-000000000003',
  customer: '0190b2a0-0000-7000-8000-000000000004',
} as const;

export const FILE = Buffer.from('0123456789abcdefghij');

const SAMPLE_LATENCY = { emails: 7, meanMs: 640, medianMs: 410, p95Ms: 1900 };

export const sampleAttachment: StoredAttachment = {
  id: IDS.attachment,
  filename: 'Übersicht "März".pdf',
  contentType: 'application/pdf',
  sizeBytes: FILE.length,
  storagePath: `main/${IDS.email}/bersicht.pdf`,
  sha256: createHash('sha256').update(FILE).digest('hex'),
  contentId: 'logo@example.com',
  inline: false,
};

export const sampleEmail: EmailSummary = {
  id: IDS.email,
  messageId: 'abc@example.com' as MessageId,
  direction: 'outbound',
  from: { name: 'Ann', address: 'ann@example.com' },
  to: [{ name: '', address: 'bob@example.org' }],
  subject: 'Grüße \ud83d\ude00',
  textBody: 'Hallo\n',
  date: new Date('2026-01-31T12:00:00.123Z'),
  attachments: [sampleAttachment],
};

const samplePreview: ReplyPreview = {
  emailId: IDS.email,
  kind: 'reply',
  accountId: 'main',
  threadId: IDS.thread,
  inReplyTo: sampleEmail.messageId,
  to: [{ name: 'Bob', address: 'bob@example.org' }],
  cc: [],
  subject: 'Re: Grüße',
  quoteText: '> Hallo',
  quoteHtml: '<blockquote>Hallo</blockquote>',
  isQuoteCut: false,
  attachments: [sampleAttachment],
};

const sampleTemplateSummary: TemplateSummary = {
  id: IDS.email,
  accountId: null,
  latestVersion: 2,
  name: 'Angebot',
  subject: 'Angebot {{ nummer }}',
  createdAt: sampleEmail.date,
  updatedAt: sampleEmail.date,
};

const sampleTemplate: Template = {
  ...sampleTemplateSummary,
  version: 2,
  textBody: 'Guten Tag {{ name }}',
  htmlBody: '<p>Guten Tag {{ name }}</p>',
  variables: ['nummer', 'name'],
};

const sampleDraftSummary: DraftSummary = {
  id: IDS.email,
  version: 2,
  accountId: 'main',
  threadId: null,
  author: 'eva',
  createdBy: { id: '0123456789ab', name: 'CRM' },
  answers: null,
  recipients: 'bob@example.org',
  subject: 'Grüße',
  fileCount: 1,
  isBeingSent: false,
  createdAt: sampleEmail.date,
  updatedAt: sampleEmail.date,
};

const sampleDraft: Draft = {
  id: IDS.email,
  version: 2,
  accountId: 'main',
  threadId: IDS.thread,
  author: 'eva',
  createdBy: { id: '0123456789ab', name: 'CRM' },
  answers: {
    emailId: IDS.email,
    kind: 'reply',
    quote: true,
    withFiles: true,
    language: 'de',
    timeZone: 'UTC',
  },
  message: { text_body: 'Hallo' },
  files: [sampleAttachment],
  isBeingSent: false,
  createdAt: sampleEmail.date,
  updatedAt: sampleEmail.date,
};

/** A reply as a send, with what the answered email would say. */
const toSampleSend = (message: ReplyRequest['message']): SendRequest => ({
  ...message,
  to: message.to ?? ['bob@example.org'],
  cc: message.cc ?? [],
  subject: message.subject ?? samplePreview.subject,
  inReplyTo: null,
  threadId: IDS.thread,
  accountId: 'main',
});

export const sampleSentCopy: SentCopyView = {
  state: 'pending',
  at: sampleEmail.date,
  tries: 3,
  error: 'over quota',
  mailbox: null,
};

export const sampleAccount: AccountStatus = {
  accountId: 'main',
  from: { name: 'Ann', localPart: 'ann', domain: 'example.com' },
  hasMailbox: true,
  isOwnedHere: true,
  owner: IDS.thread,
  warning: null,
  sentCopies: {
    areKept: true,
    note: null,
    pending: 2,
    failed: 1,
    lastError: { reason: 'over quota', at: sampleEmail.date },
  },
  lastAttemptAt: sampleEmail.date,
  nextAttemptAt: sampleEmail.date,
  lastError: { kind: 'connection', reason: 'the line is cut', at: sampleEmail.date },
  mailboxes: [
    {
      path: 'INBOX',
      specialUse: '\\Inbox',
      lastSuccessAt: sampleEmail.date,
      lagMs: 1499,
      lastError: { reason: 'refused', at: sampleEmail.date },
      leftAt: null,
      counts: { messages: 9, recorded: 5, waiting: 3, quarantined: 1, expunged: 2 },
    },
  ],
};

export const sampleQuarantined: QuarantinedMessage = {
  id: IDS.email,
  accountId: 'main',
  path: 'INBOX',
  uidValidity: 4_294_967_295,
  uid: 7,
  subject: 'Pläne',
  from: sampleEmail.from,
  date: sampleEmail.date,
  sizeBytes: 30_000_000,
  reason: 'too large',
  tries: 1,
  firstSeenAt: sampleEmail.date,
  quarantinedAt: sampleEmail.date,
  nextTryAt: sampleEmail.date,
};

export const sampleThread: ThreadListing = {
  id: IDS.thread,
  accountId: 'main',
  subject: sampleEmail.subject,
  customerId: IDS.customer,
  companyId: null,
  participants: [sampleEmail.from, ...sampleEmail.to],
  emailCount: 2,
  unreadCount: 1,
  hasAttachments: true,
  unanswered: false,
  status: 'open',
  assignee: 'Ada',
  labels: ['Angebot'],
  lastActivityAt: sampleEmail.date,
  newestEmail: {
    id: IDS.email,
    direction: 'outbound',
    from: sampleEmail.from,
    date: sampleEmail.date,
    snippet: 'Hallo',
  },
};

const { newestEmail: _newest, ...sampleSummary } = sampleThread;

const sampleRecord: ThreadRecord = {
  ...sampleSummary,
  customerSource: 'operator',
  companySource: null,
  firstActivityAt: sampleEmail.date,
  version: 3,
};

const sampleThreadEmail: ThreadEmail = {
  ...sampleEmail,
  cc: [],
  bcc: [],
  replyTo: [],
  createdAt: sampleEmail.date,
  customerId: IDS.customer,
  state: 'sent',
  stateDetail: null,
  nextAttemptAt: null,
  deliveries: [],
  snippet: 'Hallo',
  replyText: null,
  hasHtml: true,
  htmlBody: null,
  isTruncated: false,
  placement: 'new',
  automatic: null,
  newParticipant: false,
  tags: ['angebot'],
  metadata: { order: 17 },
  author: { id: '4r8gk2m0vqxz', name: 'CRM' },
  verdict: null,
  isUnread: false,
};

export const sampleVariant: VariantDetail = {
  id: '0195a0b2-0000-7000-8000-00000000000f',
  receivedAt: new Date('2026-03-01T12:00:00Z'),
  source: { way: 'lmtp', place: null },
  isSentCopy: false,
  rawSizeBytes: 2048,
  contentDigest: 'ab'.repeat(32),
  textBody: 'Guten Abend',
};

export const sampleDetail: EmailDetail = {
  ...sampleEmail,
  accountId: 'main',
  threadId: IDS.thread,
  customerId: IDS.customer,
  customerSource: 'explicit',
  companyId: null,
  companySource: null,
  cc: [{ name: 'C', address: 'c@example.org' }],
  bcc: [],
  htmlBody: '<p>Hallo</p>',
  inReplyTo: ['one@example.org' as MessageId],
  references: ['zero@example.org' as MessageId, 'one@example.org' as MessageId],
  relayMessageId: 'relay@example.net' as MessageId,
  state: 'sent',
  stateDetail: null,
  deliveries: [
    {
      address: 'bob@example.org',
      state: 'accepted',
      reply: { code: 250, enhancedStatus: '2.0.0', text: 'Ok' },
      report: {
        outcome: 'bounced_hard',
        status: '5.1.1',
        diagnostic: '550 5.1.1 No such user',
        reportedAt: new Date('2026-01-31T12:01:00.000Z'),
        reportId: IDS.thread,
      },
    },
    { address: 'c@example.org', state: 'unknown', reply: null, report: null },
  ],
  placement: { rule: 'in_reply_to', matchedMessageId: 'one@example.org' as MessageId },
  rawSizeBytes: 1234,
  replyText: null,
  sender: null,
  replyTo: [],
  headers: { 'X-Ticket': '42' },
  unsubscribeList: null,
  listId: null,
  tags: ['angebot'],
  metadata: { order: 17 },
  defects: [],
  automatic: null,
  bounce: null,
  authentication: {
    source: 'header',
    spf: { result: 'pass', domain: 'example.com' },
    dkim: [{ result: 'pass', domain: 'example.com', selector: 's1' }],
    dmarc: { result: 'pass', domain: 'example.com' },
    arc: null,
    verdict: 'passed',
  },
  newParticipant: false,
  author: { id: '4r8gk2m0vqxz', name: 'CRM' },
  isUnread: false,
  createdAt: new Date('2026-01-31T12:00:01.000Z'),
  attempts: [
    {
      number: 1,
      startedAt: new Date('2026-01-31T12:00:00.200Z'),
      endedAt: new Date('2026-01-31T12:00:00.900Z'),
      outcome: 'accepted',
      reply: { code: 250, enhancedStatus: '2.0.0', text: 'Ok' },
      detail: '250 2.0.0 Ok',
    },
  ],
  nextAttemptAt: null,
  giveUpAt: null,
  sentCopy: null,
  receivedBy: { way: 'imap', place: 'INBOX' },
  variants: [sampleVariant],
  refusedVariants: 0,
  sendVersion: null,
  claimLost: false,
};

export const sampleListing: ListedEmail = {
  ...sampleEmail,
  accountId: 'main',
  threadId: IDS.thread,
  state: 'deferred',
  stateDetail: '451 4.7.1 later',
  nextAttemptAt: new Date('2026-01-31T12:05:00.000Z'),
  authentication: null,
  tags: ['angebot'],
  metadata: { order: 17 },
  listId: null,
  author: null,
};

const sampleRefused: RefusedMerge = {
  id: IDS.attachment,
  accountId: 'main',
  emailId: IDS.email,
  threadId: IDS.thread,
  customerId: IDS.customer,
  otherThreadId: IDS.attachment,
  otherCustomerId: null,
  rule: 'references',
  messageId: 'two@example.org',
  refusedAt: sampleEmail.date,
};

const samplePlacement: ExplainedPlacement = {
  emailId: IDS.email,
  messageId: sampleEmail.messageId,
  accountId: 'main',
  threadId: IDS.thread,
  rule: 'in_reply_to',
  matchedMessageId: 'one@example.org' as MessageId,
  matchedThreadId: IDS.thread,
  matchedEmails: [],
  firstNamedBy: {
    id: IDS.email,
    messageId: sampleEmail.messageId,
    direction: 'outbound',
    date: sampleEmail.date,
  },
  chain: [{ emailId: IDS.email, rule: 'in_reply_to', messageId: 'one@example.org' }],
  merges: [{ threadId: IDS.customer, mergedAt: sampleEmail.date }],
  decisions: [],
  refused: [sampleRefused],
  explanation: 'It answers <one@example.org>.',
};

const sampleDecision: DecisionResult = {
  threadId: IDS.thread,
  changed: true,
  decision: { id: IDS.attachment, decidedAt: new Date('2026-01-31T12:00:02.000Z') },
};

const sampleUnsubscribe: Unsubscribe = {
  id: '0198c0de-0000-7000-8000-00000000aaaa',
  accountId: 'default',
  list: 'newsletter',
  address: 'ann@example.com',
  emailId: '0198c0de-0000-7000-8000-00000000aaab',
  unsubscribedAt: new Date('2026-03-01T12:00:00Z'),
};

export const sampleSuppression: Suppression = {
  address: 'bob@example.org',
  reason: 'hard_bounce',
  since: new Date('2026-01-31T12:00:00.000Z'),
  status: '5.1.1',
  diagnostic: '550 5.1.1 No such user',
  note: null,
  emailId: IDS.email,
  reportId: IDS.thread,
};

const sampleRegistration: CustomerRegistration = {
  name: 'Example GmbH',
  companyId: null,
  addresses: [
    { address: 'ann@example.org', origin: 'registered', status: 'decides', otherCustomerIds: [] },
    { address: 'bob@example.org', origin: 'learned', status: 'ambiguous', otherCustomerIds: [IDS.thread] },
  ],
  domains: [{ domain: '*.example.org', status: 'decides', otherCustomerIds: [] }],
  isComplete: true,
};

const sampleClaim: AmbiguousClaim = {
  kind: 'address',
  value: 'bob@example.org',
  customerIds: [IDS.customer, IDS.thread],
  customerCount: 2,
  emailCount: 7,
};

const sampleEventId = '0000512c00000001';
const sampleEvent: FeedEvent = {
  position: Number.parseInt(sampleEventId, 16),
  type: 'thread.created',
  json:
    `{"id":"${sampleEventId}","type":"thread.created","occurred_at":"2026-01-31T12:00:00.000Z","account_id":"main",` +
    `"email_id":null,"thread_id":"${IDS.thread}","customer_id":null,"company_id":null,"historical":false,"author":null,"data":{}}`,
};

const sampleWebhook: WebhookView = {
  id: IDS.attachment,
  createdAt: sampleEmail.date,
  updatedAt: sampleEmail.date,
  url: 'https://crm.example.com/hook',
  description: '',
  types: ['email.received'],
  accountId: 'main',
  customerId: null,
  isHistorical: false,
  payload: 'full',
  maxInFlight: 1,
  headerNames: ['Authorization'],
  oldSecretUntil: null,
  pause: { since: sampleEmail.date, reason: 'gone', detail: 'the answer was 410' },
  position: sampleEvent.position,
  beyond: {
    delivered: [],
    failed: [
      { position: sampleEvent.position, attempts: 1, since: sampleEmail.date, dueAt: sampleEmail.date },
    ],
  },
};

const sampleErasure: Erasure = {
  id: '0197f0a0-0000-7000-8000-000000000077',
  requestedAt: new Date('2026-01-31T12:00:00.000Z'),
  requestedBy: 'secret 1',
  customerId: null,
  finishedAt: null,
  erased: {
    emails: 12,
    files: 4,
    drafts: 1,
    customer_rules: 1,
    suppressions: 0,
    unsubscribes: 0,
    quarantined: 0,
    decisions: 0,
    idempotency_keys: 0,
    events: 31,
    webhook_deliveries: 0,
  },
};

const sampleDelivery: Delivery = {
  id: IDS.email,
  eventId: sampleEventId,
  type: 'email.received',
  attempt: 1,
  startedAt: sampleEmail.date,
  durationMs: 12,
  outcome: 'failed',
  status: 410,
  error: 'the answer was 410',
  answer: '',
};

const SAMPLE_KEY = `ewk_0123456789ab_${'s'.repeat(43)}`;
const sampleKey: StoredKey = {
  id: '0123456789ab',
  name: 'CRM',
  rights: ['read', 'send'],
  accounts: ['default'],
  createdAt: sampleEmail.date,
  createdBy: { kind: 'secret', number: 1 },
  expiresAt: null,
  lastUsedAt: null,
  revokedAt: null,
  oldSecretUntil: null,
};

export interface RecordingApplication extends Application {
  readonly sends: { readonly request: SendRequest; readonly folder: SpoolFolder }[];
  /** Of the sends that had one. */
  readonly keys: string[];
  readonly threadReads: string[];
  readonly customerReads: CustomerEmailsRequest[];
  readonly registrations: RegistrationRequest[];
  /** Every stream given out, for checks that none is left open. */
  readonly streams: Readable[];
}

export function createRecordingApplication(overrides: Partial<Application> = {}): RecordingApplication {
  const sends: RecordingApplication['sends'] = [];
  const keys: string[] = [];
  const threadReads: string[] = [];
  const customerReads: CustomerEmailsRequest[] = [];
  const registrations: RegistrationRequest[] = [];
  const streams: Readable[] = [];
  const open = (bytes: Buffer): Readable => {
    const stream = Readable.from([bytes], { objectMode: false });
    streams.push(stream);
    return stream;
  };
  const sendMessage: Application['sendMessage'] = async (request, folder) => {
    sends.push({ request, folder });
    await folder.remove();
    return { kind: 'sent', id: IDS.email, messageId: sampleEmail.messageId, threadId: IDS.thread };
  };
  return {
    sends,
    keys,
    threadReads,
    customerReads,
    registrations,
    streams,
    sendMessage,
    async sendOnce(key, request, folder) {
      keys.push(key);
      return { outcome: await sendMessage(request, folder), replayed: false };
    },
    async sendReply({ message }, folder) {
      return sendMessage(toSampleSend(message), folder);
    },
    async sendReplyOnce(key, { message }, folder) {
      keys.push(key);
      return { outcome: await sendMessage(toSampleSend(message), folder), replayed: false };
    },
    async createDraft(_change, folder) {
      await folder.remove();
      return sampleDraft;
    },
    async changeDraft(_id, _version, _change, folder) {
      await folder.remove();
      return sampleDraft;
    },
    readDraft: async () => sampleDraft,
    readDraftFile: async () => ({ accountId: 'main', file: sampleAttachment }),
    listDrafts: async () => ({ drafts: [sampleDraftSummary], nextCursor: null }),
    deleteDraft: async () => undefined,
    async sendDraft({ read }, folder) {
      const sent = read(sampleDraft);
      const message = sent.kind === 'send' ? sent.request : toSampleSend(sent.request.message);
      return { outcome: await sendMessage(message, folder), replayed: false };
    },
    createTemplate: async () => sampleTemplate,
    readTemplate: async () => sampleTemplate,
    listTemplates: async () => ({ templates: [sampleTemplateSummary], nextCursor: null }),
    changeTemplate: async () => sampleTemplate,
    deleteTemplate: async () => undefined,
    previewTemplate: async () => ({
      version: 2,
      subject: 'Angebot 1',
      textBody: 'Guten Tag',
      htmlBody: null,
    }),
    previewReply: async ({ kind }) => ({ ...samplePreview, kind }),
    async createUpload(_request, folder) {
      await folder.remove();
      return { ...sampleAttachment, accountId: 'main', expiresAt: sampleEmail.date };
    },
    async receiveMessage(_request, folder) {
      await folder.remove();
      return { kind: 'received', id: IDS.email, messageId: sampleEmail.messageId, threadId: IDS.thread };
    },
    async readThread(threadId) {
      threadReads.push(threadId);
      return { version: '1', emails: toEmailsJson([sampleEmail]) };
    },
    listThreads: async () => ({ threads: [sampleThread], nextCursor: null }),
    markThread: async (threadId, mark) => ({ threadId, unreadCount: mark === 'read' ? 0 : 1 }),
    async listCustomerEmails(request) {
      customerReads.push(request);
      return { emails: toEmailsJson([sampleEmail]), nextCursor: null };
    },
    completeAddresses: async () => [
      {
        address: 'ann@example.org',
        name: 'Ann',
        customerId: IDS.customer,
        customerName: 'Example GmbH',
        isWrittenTo: true,
        lastAt: sampleEmail.date,
        isSuppressed: false,
      },
    ],
    readCustomer: async () => ({
      ...sampleRegistration,
      counts: { emailsInbound: 3, emailsOutbound: 4, threadsOpen: 1, threadsDone: 2 },
      firstActivityAt: sampleEmail.date,
      lastActivityAt: sampleEmail.date,
    }),
    listCustomers: async () => ({
      customers: [
        {
          customerId: IDS.customer,
          name: 'Example GmbH',
          companyId: null,
          lastActivityAt: sampleEmail.date,
        },
      ],
      nextCursor: null,
    }),
    readCustomerRegistration: async () => sampleRegistration,
    registerCustomer: async (request) => {
      registrations.push(request);
      return { registration: sampleRegistration, relinked: { linked: 3, moved: 2, unlinked: 1 } };
    },
    listAmbiguousClaims: async () => ({ claims: [sampleClaim], nextCursor: null }),
    listAmbiguousEmails: async () => ({
      emails: { kind: 'whole', json: JSON.stringify(toListingJson(sampleListing)) },
      nextCursor: null,
    }),
    listEvents: async () => ({ events: [sampleEvent], next: sampleEventId }),
    readLatestEventId: async () => sampleEventId,
    streamEvents: async () =>
      (async function* () {
        yield { events: [sampleEvent], next: sampleEventId };
      })(),
    createWebhook: async () => ({ webhook: sampleWebhook, secret: 'whsec_c2VjcmV0' }),
    listWebhooks: async () => ({ webhooks: [sampleWebhook], nextCursor: null }),
    readWebhook: async () => sampleWebhook,
    changeWebhook: async () => sampleWebhook,
    deleteWebhook: async () => undefined,
    pauseWebhook: async () => sampleWebhook,
    resumeWebhook: async () => sampleWebhook,
    replayWebhook: async () => sampleWebhook,
    rotateWebhookSecret: async () => ({ webhook: sampleWebhook, secret: 'whsec_c2VjcmV0' }),
    testWebhook: async () => sampleDelivery,
    listWebhookDeliveries: async () => ({ deliveries: [sampleDelivery], nextCursor: null }),
    listImports: async () => [
      {
        id: sampleEmail.id,
        accountId: 'default',
        startedAt: sampleEmail.date,
        updatedAt: sampleEmail.date,
        state: 'running',
        imported: 120,
        known: 3,
        leftOut: 1,
        failed: 0,
        bytesDone: 600_000,
        bytesTotal: null,
      },
    ],
    readStatistics: async () => ({
      points: [
        {
          at: sampleEmail.date,
          received: 12,
          sent: 7,
          failed: 1,
          unknown: 0,
          bounced: 2,
          complained: 0,
          sendLatency: SAMPLE_LATENCY,
          receiveLatency: null,
        },
      ],
      sendLatency: SAMPLE_LATENCY,
      receiveLatency: null,
    }),
    listAudit: async () => ({
      entries: [
        {
          position: '17',
          at: sampleEmail.date,
          author: { kind: 'key', id: '0123456789ab', name: 'CRM' },
          act: 'key.created',
          target: null,
          details: { name: 'CRM' },
          outcome: 'done',
          code: null,
          result: {},
        },
      ],
      nextCursor: null,
    }),
    createKey: async () => ({ key: sampleKey, secret: SAMPLE_KEY }),
    listKeys: async () => ({ keys: [sampleKey], nextCursor: null }),
    readKey: async () => sampleKey,
    revokeKey: async () => ({ ...sampleKey, revokedAt: sampleEmail.date }),
    rotateKey: async () => ({ key: sampleKey, secret: SAMPLE_KEY }),
    readEmail: async () => sampleDetail,
    listEmails: async () => ({
      emails: { kind: 'whole', json: JSON.stringify(toListingJson(sampleListing)) },
      nextCursor: null,
    }),
    requestErasure: async () => sampleErasure,
    readErasure: async () => sampleErasure,
    deleteEmail: async () => undefined,
    deleteThread: async () => 3,
    async changeSend(_id, _version, _change, folder) {
      await folder.remove();
      return sampleDetail;
    },
    cancelSend: async () => 'cancelled',
    retrySentCopy: async () => sampleSentCopy,
    retrySend: async () => 'queued',
    resolveSend: async (_id, outcome) => outcome,
    explainPlacement: async () => samplePlacement,
    countFolders: async () => ({
      threads: { open: 3, unread: 1, unanswered: 2, done: 1000, mine: 0, unassigned: 2 },
      emails: { received: 1000, sent: 7, scheduled: 1, queued: 1, deferred: 0, failed: 0, unknown: 0 },
      drafts: 2,
      labels: [{ label: 'Angebot', open: 3 }],
      accounts: [{ accountId: 'main', open: 3, unread: 1, unanswered: 2 }],
    }),
    listRefusedMerges: async () => ({ refusedMerges: [sampleRefused], nextCursor: null }),
    readThreadPage: async () => ({ thread: sampleRecord, emails: [sampleThreadEmail], nextCursor: null }),
    changeThread: async () => sampleRecord,
    splitThread: async () => sampleDecision,
    mergeThreads: async () => sampleDecision,
    moveEmails: async () => sampleDecision,
    readUnsubscribeToken: async () => ({ list: sampleUnsubscribe.list, address: sampleUnsubscribe.address }),
    unsubscribe: async () => ({ list: sampleUnsubscribe.list, address: sampleUnsubscribe.address }),
    listUnsubscribes: async () => ({ unsubscribes: [sampleUnsubscribe], nextCursor: null }),
    removeUnsubscribe: async () => sampleUnsubscribe,
    listSuppressions: async () => ({ suppressions: [sampleSuppression], nextCursor: null }),
    readSuppression: async () => sampleSuppression,
    suppress: async () => sampleSuppression,
    liftSuppression: async (address) => ({ address, liftedAt: sampleSuppression.since }),
    listAccounts: async () => [sampleAccount],
    listQuarantine: async () => ({ messages: [sampleQuarantined], nextCursor: null }),
    retryQuarantined: async () => sampleQuarantined,
    readRaw: async () => ({ sizeBytes: FILE.length, stream: open(FILE) }),
    readVariant: async () => sampleVariant,
    readVariantRaw: async () => ({ sizeBytes: FILE.length, stream: open(FILE) }),
    readSafeHtml: async () => ({
      html: '<div>Hallo</div>',
      madeFrom: 'html',
      removed: { ...nothingRemoved(), scripts: 1, remote_images: 2 },
      deceptiveLinks: 1,
      isCut: false,
      images: [
        { attachmentId: IDS.attachment, contentId: 'logo@example.com', url: `/api/images/${IDS.attachment}` },
      ],
      imagesExpireAt: sampleEmail.date,
    }),
    readSignedImage: async () => ({ attachment: sampleAttachment, type: 'image/png' }),
    inlineTypeOf: async () => null,
    readAttachment: async () => sampleAttachment,
    openAttachment: async (_attachment, range) =>
      open(range === undefined ? FILE : FILE.subarray(range.start, range.end + 1)),
    checkReadiness: async () => ({ ready: true, checks: [{ name: 'database', ok: true, detail: null }] }),
    ...overrides,
  };
}
