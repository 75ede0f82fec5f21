/** Emails, threads and drafts as use cases return them, for tests of the HTTP edge. */
import type { VariantDetail } from '../../src/areas/emails/variant-view.ts';
import { createHash } from 'node:crypto';
import type { Draft, DraftSummary } from '../../src/areas/drafts/draft-ports.ts';
import type { ReplyPreview, ReplyRequest } from '../../src/areas/reply/use-cases.ts';
import type { SendRequest } from '../../src/areas/send/use-cases.ts';
import type { EmailDetail, EmailSummary } from '../../src/areas/emails/email-ports.ts';
import type { StoredAttachment } from '../../src/platform/files/stored-attachment.ts';
import type { ThreadEmail, ThreadRecord } from '../../src/areas/threads/thread-record-ports.ts';
import type { ThreadListing } from '../../src/areas/threads/thread-list-ports.ts';
import type { ExplainedPlacement } from '../../src/areas/threads/placement-facts.ts';
import type { RefusedMerge } from '../../src/areas/threads/refused-merge-store.ts';
import type { MessageId } from '../../src/core/message/message-id.ts';
import { type ListedEmail } from './emails-json.ts';

export const IDS = {
  thread: '0190b2a0-0000-7000-8000-000000000001',
  email: '0190b2a0-0000-7000-8000-000000000002',
  attachment: '0190b2a0-0000-7000-8000-000000000003',
  customer: '0190b2a0-0000-7000-8000-000000000004',
} as const;

export const FILE = Buffer.from('0123456789abcdefghij');

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

export const samplePreview: ReplyPreview = {
  emailId: IDS.email,
  kind: 'reply',
  accountId: 'main',
  threadId: IDS.thread,
  inReplyTo: sampleEmail.messageId,
  from: { name: 'Vertrieb', address: 'vertrieb@example.org' },
  to: [{ name: 'Bob', address: 'bob@example.org' }],
  cc: [],
  subject: 'Re: Grüße',
  quoteText: '> Hallo',
  quoteHtml: '<blockquote>Hallo</blockquote>',
  isQuoteCut: false,
  attachments: [sampleAttachment],
};

export const sampleDraftSummary: DraftSummary = {
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

export const sampleDraft: Draft = {
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
    withFiles: null,
    language: 'de',
    timeZone: 'UTC',
  },
  message: { text_body: 'Hallo' },
  files: [sampleAttachment],
  isBeingSent: false,
  createdAt: sampleEmail.date,
  updatedAt: sampleEmail.date,
};

/** A reply as a send, with the text that the answered email would contribute. */
export const toSampleSend = (message: ReplyRequest['message']): SendRequest => ({
  ...message,
  to: message.to ?? ['bob@example.org'],
  cc: message.cc ?? [],
  subject: message.subject ?? samplePreview.subject,
  inReplyTo: null,
  threadId: IDS.thread,
  accountId: 'main',
  isByPerson: false,
});

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
  undelivered: 0,
  status: 'open',
  assignee: '4n8t0c5mz2qk',
  assigneeName: 'Ada',
  labels: ['Angebot'],
  lastActivityAt: sampleEmail.date,
  newestEmail: {
    verdict: null,
    id: IDS.email,
    direction: 'outbound',
    from: sampleEmail.from,
    to: sampleEmail.to,
    automatic: null,
    date: sampleEmail.date,
    snippet: 'Hallo',
  },
};

const { newestEmail: _newest, ...sampleSummary } = sampleThread;

export const sampleRecord: ThreadRecord = {
  ...sampleSummary,
  customerSource: 'operator',
  companySource: null,
  firstActivityAt: sampleEmail.date,
  version: 3,
};

export const sampleThreadEmail: ThreadEmail = {
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
  writtenBy: null,
  undelivered: null,
  protection: null,
  invitation: null,
  newParticipant: false,
  tags: ['angebot'],
  metadata: { order: 17 },
  author: { id: '4r8gk2m0vqxz', name: 'CRM' },
  verdict: null,
  isUnread: false,
  suggestedCounterparty: null,
  variantCount: 0,
};

export const sampleVariant: VariantDetail = {
  id: '0195a0b2-0000-7000-8000-00000000000f',
  receivedAt: new Date('2026-03-01T12:00:00Z'),
  source: { way: 'lmtp', place: null },
  isSentCopy: false,
  rawSizeBytes: 2048,
  contentDigest: 'ab'.repeat(32),
  hasSameContent: false,
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
  suggestedCounterparty: null,
  replyTo: [],
  headers: { 'X-Ticket': '42' },
  unsubscribeList: null,
  listId: null,
  tags: ['angebot'],
  metadata: { order: 17 },
  defects: [],
  automatic: null,
  writtenBy: null,
  protection: null,
  invitation: null,
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

export const sampleRefused: RefusedMerge = {
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

export const samplePlacement: ExplainedPlacement = {
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
