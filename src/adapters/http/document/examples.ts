/**
 * Examples for the OpenAPI document, put together from the values of fields: an answer then shows every field that its
 * schema has. They tell one story, of an offer that a sales account sent to a customer.
 */
import {
  ERRORS,
  invalidRequest,
  PARTIAL_TEXT,
  ServiceError,
  SUPPRESSION_TEXTS,
  type ErrorCode,
} from '../../../core/errors.ts';
import { codesOf } from '../schemas/error-schemas.ts';
import { operationsOf, type Media, type Operation, type Paths } from './components.ts';

const EMAIL = '0199d3a4-5b1e-7c52-9f0e-2f6a1d3b8c47';
const REPLY = '0199d7c1-0a2b-7d44-8c11-7be05a9f6d20';
const THREAD = '0199d3a4-5b1f-7a0c-b3d5-91c84e2f7a60';
const OTHER_THREAD = '0199d0f2-6c3d-7e21-a4b7-03d96a1c5e88';
const CUSTOMER = '6f1c2a9e-3b47-4d58-8e0a-5c7d9b1f2e34';
const OTHER_CUSTOMER = 'b83d0e57-92c4-4f6a-a1d8-7e25c6f09b13';
const ATTACHMENT = '0199d3a4-5b20-7f93-8a6e-c4d17b0e5f29';
const DECISION = '0199d9e8-41c7-7b35-9d02-e6f83a5c1b74';
const WEBHOOK = '0199da02-7d31-7c68-8b4f-a15e0c92d736';
const INSTANCE = 'd25a7f10-8b6c-4e93-b7f1-0c4a9e3d6582';
const SENT_AT = '2026-01-30T09:15:00.000Z';
const LATER = '2026-01-31T12:00:00.000Z';

const EVENT_ID = '000512b000000004';

const ANN = { name: 'Ann Example', address: 'ann@example.com' };
const RAW_MESSAGE =
  'From: Ann Example <ann@example.com>\r\nTo: vertrieb@example.org\r\nSubject: Re: Ihr Angebot\r\n' +
  'Date: Sat, 31 Jan 2026 13:00:00 +0100\r\nMessage-ID: <reply-1@example.com>\r\n\r\nGerne!\r\n';

/** By `operationId.field`, else by `title.field`, else by `field`. */
const FIELDS: Readonly<Record<string, unknown>> = {
  // Identifiers
  id: EMAIL,
  email_id: EMAIL,
  thread_id: THREAD,
  threadId: THREAD,
  'MergeRequest.thread_id': OTHER_THREAD,
  other_thread_id: OTHER_THREAD,
  customer_id: CUSTOMER,
  customer_ids: [CUSTOMER, OTHER_CUSTOMER],
  other_customer_id: OTHER_CUSTOMER,
  other_customer_ids: [],
  company_id: null,
  email_ids: [EMAIL],
  decision_id: DECISION,
  'splitThread.thread_id': OTHER_THREAD,
  'Account.id': 'vertrieb',
  'Attachment.id': ATTACHMENT,
  'AttachmentDetail.id': ATTACHMENT,
  'AttachmentDetail.content_id': 'logo@example.com',
  step: 'day',
  'StatisticsPoint.at': SENT_AT,
  StatisticsCount: 12,
  StatisticsMilliseconds: 640,
  send_latency: { emails: 12, mean_ms: 640, median_ms: 410, p95_ms: 1900 },
  receive_latency: null,
  ImportCount: 120,
  'Import.state': 'running',
  'Import.bytes_total': 5_000_000,
  'DraftAttachment.id': ATTACHMENT,
  'DraftAttachment.content_id': null,
  'AuditEntry.id': '17',
  'AuditEntry.at': SENT_AT,
  act: 'key.created',
  target: null,
  details: { name: 'CRM' },
  'AuditEntry.outcome': 'done',
  'AuditEntry.code': null,
  result: { id: '4r8gk2m0vqxz', rights: ['read', 'send'] },
  'Key.id': '4r8gk2m0vqxz',
  'Key.name': 'CRM',
  'KeyRequest.name': 'CRM',
  'EmailListing.authentication': { verdict: 'passed' },
  'EmailListing.list_id': null,
  'EmailListing.author': null,
  'ThreadEmail.authentication': null,
  'EmailDetail.author': null,
  'EmailDetail.list_id': null,
  'ThreadEmail.author': { id: '4r8gk2m0vqxz', name: 'CRM' },
  'Event.author': null,
  'Author.id': null,
  'Author.kind': 'secret',
  'Author.name': 'API_SECRET 1',
  rights: ['read', 'send'],
  account_ids: ['vertrieb'],
  'KeyWithSecret.secret': 'ewk_4r8gk2m0vqxz_sGZ0cmVhbGx5IG5vIHNlY3JldCwganVzdCBhIHNhbXBsZQ',
  overlap_hours: 24,
  'QuarantinedMessage.id': REPLY,
  'ThreadMark.id': THREAD,
  'ThreadRecord.id': THREAD,
  'ThreadSummary.id': THREAD,
  'VariantDetail.id': REPLY,
  account_id: 'vertrieb',
  message_id: '<angebot-1@example.org>',
  messageId: '<angebot-1@example.org>',
  'receiveEmail.messageId': '<reply-1@example.com>',
  'receiveEmail.id': REPLY,
  'RefusedMerge.message_id': '<reply-1@example.com>',
  next_cursor: null,

  // What an email says
  direction: 'outbound',
  from_address: { name: 'Vertrieb', address: 'vertrieb@example.org' },
  'QuarantinedMessage.from_address': ANN,
  to_addresses: [ANN],
  cc_addresses: [],
  bcc_addresses: [],
  sender_address: null,
  reply_to_addresses: [],
  participants: [{ name: 'Vertrieb', address: 'vertrieb@example.org' }, ANN],
  subject: 'Ihr Angebot',
  text_body: 'Guten Tag, anbei unser Angebot.',
  'VariantDetail.text_body':
    'Guten Tag, anbei unser Angebot. -- Zugestellt über die Liste einkauf@example.com',
  html_body: null,
  reply_text: null,
  snippet: 'Guten Tag, anbei unser Angebot.',
  date: SENT_AT,
  in_reply_to: [],
  references: [],
  relay_message_id: null,
  has_attachments: true,
  filename: 'angebot.txt',
  content_type: 'text/plain',
  size_bytes: 1874,
  'Attachment.size_bytes': 5,
  'AttachmentDetail.size_bytes': 5,
  'DraftAttachment.size_bytes': 5,
  storage_path: `vertrieb/${EMAIL}/angebot.txt`,

  // How it was sent or received
  status: 'decides',
  'receiveEmail.status': 'received',
  state: 'sent',
  'cancelSend.state': 'cancelled',
  'DeletedEmails.emails': 1,
  'Erasure.state': 'running',
  requested_at: SENT_AT,
  requested_by: 'secret 1',
  erased: {
    emails: 12,
    files: 4,
    drafts: 1,
    unsubscribes: 1,
    customer_rules: 1,
    suppressions: 0,
    quarantined: 0,
    decisions: 0,
    idempotency_keys: 0,
    events: 31,
    webhook_deliveries: 0,
  },
  'retrySend.state': 'queued',
  'Recipient.state': 'accepted',
  'EmailDetail.sent_copy': null,
  'SentCopy.state': 'failed',
  'SentCopy.at': LATER,
  'SentCopy.error': 'imap.example.com:993: APPEND was refused: over quota',
  'SentCopies.note': null,
  'SentCopies.pending': 0,
  'SentCopies.failed': 1,
  state_detail: null,
  next_attempt_at: null,
  give_up_at: null,
  address: 'ann@example.com',
  reply: { code: 250, enhanced_status: '2.0.0', text: 'OK' },
  report: null,
  number: 1,
  started_at: SENT_AT,
  ended_at: '2026-01-30T09:15:01.250Z',
  outcome: 'accepted',
  'ResolveRequest.outcome': 'sent',
  detail: 'accepted by the mail server',
  'EmailDetail.headers': { 'X-Ticket': '4711' },
  tags: ['angebot'],
  metadata: { order_id: 4711 },
  unread: false,
  new_participant: false,
  automatic: null,
  bounce: null,
  defects: [],
  received_by: null,
  'VariantDetail.received_by': { way: 'imap', place: 'INBOX' },
  variants: [],
  refused_variants: 0,
  created_at: SENT_AT,
  received_at: LATER,
  sent_copy: false,
  content_digest: '5f70bf18a086007016e948b04aed3b82103a36bea41755b6cddfaf10ace3c6ef',

  // Threads
  placement: { rule: 'new', matched_message_id: null },
  rule: 'in_reply_to',
  'ExplainedPlacement.message_id': '<reply-1@example.com>',
  chain: [
    { email_id: REPLY, rule: 'in_reply_to', message_id: '<angebot-1@example.org>' },
    { email_id: EMAIL, rule: 'message_id', message_id: '<angebot-1@example.org>' },
  ],
  'PlacedEmail.message_id': '<angebot-1@example.org>',
  'ExplainedPlacement.email_id': REPLY,
  matched_message_id: '<angebot-1@example.org>',
  first_named_by: null,
  merges: [],
  decisions: [],
  refused: [],
  explanation: 'The email answers <angebot-1@example.org>, which is in the thread.',
  email_count: 2,
  unread_count: 0,
  'markThreadUnread.unread_count': 1,
  unanswered: false,
  first_activity_at: SENT_AT,
  limit: 1000,
  FolderCount: 3,
  'Folders.labels': [{ label: 'Angebot', open: 3 }],
  'ThreadFolders.unread': 1,
  'ThreadFolders.unanswered': 2,
  'AccountFolders.unanswered': 2,
  'AccountFolders.unread': 1,
  last_activity_at: SENT_AT,
  placement_rule: 'new',
  assignee: 'Ada',
  labels: ['Angebot'],
  label: 'Angebot',
  ThreadLabel: 'Angebot',
  'ThreadSummary.status': 'open',
  'ThreadRecord.status': 'open',
  'ThreadRecord.version': 3,
  'listThreads.status': 'open',
  'ThreadRecord.company_source': null,
  changed: true,
  decided_at: LATER,
  reason: 'Gehört zu einem anderen Vorgang.',
  refused_at: LATER,

  // Customers
  'CustomerRegistration.name': 'Example GmbH',
  'CustomerRegistered.name': 'Example GmbH',
  'Customer.name': 'Example GmbH',
  'CustomerListing.name': 'Example GmbH',
  'KnownAddress.address': 'ann@example.com',
  'KnownAddress.name': 'Ann Example',
  customer_name: 'Example GmbH',
  last_at: SENT_AT,
  emails_inbound: 12,
  emails_outbound: 9,
  threads_open: 1,
  threads_done: 4,
  customer_source: 'explicit',
  company_source: null,
  addresses: [],
  'Customer.addresses': [
    { address: 'ann@example.com', origin: 'registered', status: 'decides', other_customer_ids: [] },
  ],
  'CustomerRegistration.addresses': [
    { address: 'ann@example.com', origin: 'registered', status: 'decides', other_customer_ids: [] },
  ],
  domains: [],
  complete: true,
  linked: 3,
  moved: 0,
  unlinked: 0,
  kind: 'address',
  value: 'ann@example.com',
  customer_count: 2,

  // Mailboxes
  has_mailbox: true,
  owner: INSTANCE,
  owned_here: true,
  warning: null,
  last_attempt_at: LATER,
  last_error: null,
  path: 'INBOX',
  mailbox: 'INBOX',
  special_use: '\\Inbox',
  last_success_at: LATER,
  lag_seconds: 12,
  left_at: null,
  'MailboxCounts.messages': 1204,
  recorded: 1203,
  remaining: 0,
  quarantined: 1,
  expunged: 0,
  uid_validity: 1769763300,
  uid: 1205,
  'QuarantinedMessage.reason': 'larger than MAX_INBOUND_BYTES, 52428800 bytes',
  tries: 3,
  first_seen_at: SENT_AT,
  quarantined_at: SENT_AT,
  next_try_at: LATER,

  // Suppressions
  'Suppression.reason': 'hard_bounce',
  since: LATER,
  enhanced_status: '5.1.1',
  diagnostic: '550 5.1.1 no such user',
  note: null,
  'suppress.reason': 'manual',
  'suppress.enhanced_status': null,
  'suppress.diagnostic': '',
  'suppress.note': 'Hat angerufen.',
  'suppress.email_id': null,
  'suppress.report_email_id': null,
  report_email_id: REPLY,
  lifted_at: LATER,

  // Unsubscribes
  list: 'newsletter',
  'Unsubscribe.address': 'ann@example.com',
  unsubscribed_at: LATER,

  // Events
  'Event.id': EVENT_ID,
  'LatestEvent.id': EVENT_ID,
  next: EVENT_ID,
  after: EVENT_ID,
  'Event.type': 'email.received',
  occurred_at: LATER,
  historical: false,
  'Event.data': {
    email: {
      id: EMAIL,
      message_id: '<reply-1@example.com>',
      direction: 'inbound',
      from_address: ANN,
      to_addresses: [{ name: 'Vertrieb', address: 'vertrieb@example.org' }],
      subject: 'Re: Ihr Angebot',
      date: LATER,
    },
    state: 'received',
  },
  'text/html': '<!doctype html><html><body><div data-email-body="1"><p>Gerne!</p></div></body></html>',
  'text/event-stream': `retry: 1000\n\nid: ${EVENT_ID}\nevent: thread.created\ndata: {"id":"${EVENT_ID}","type":"thread.created"}\n\n`,

  // Webhooks
  'Webhook.id': WEBHOOK,
  'DeletedWebhook.id': WEBHOOK,
  'WebhookDelivery.id': REPLY,
  url: 'https://crm.example.com/email-events',
  description: 'Kundenverwaltung',
  types: ['email.received', 'email.bounced'],
  payload: 'full',
  max_in_flight: 1,
  header_names: ['Authorization'],
  headers: { Authorization: 'Bearer 4f1c9a' },
  'Webhook.state': 'active',
  'pauseWebhook.state': 'paused',
  'pauseWebhook.paused_at': LATER,
  'pauseWebhook.pause_reason': 'by_hand',
  'Webhook.customer_id': null,
  'CreateWebhookRequest.customer_id': null,
  'ChangeWebhookRequest.customer_id': null,
  position: EVENT_ID,
  updated_at: LATER,
  secret: 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw',
  old_valid_hours: 24,
  deleted_at: LATER,
  event_id: EVENT_ID,
  event_type: 'email.received',
  'testWebhook.event_id': `test-${REPLY}`,
  'testWebhook.event_type': 'webhook.test',
  attempt: 1,
  duration_ms: 83,
  'DeliveryOutcome.outcome': 'delivered',
  'WebhookDelivery.outcome': 'delivered',
  'WebhookDelivery.status': 204,
  'WebhookDelivery.answer': '',

  // Answers about the service and about a send
  timestamp: LATER,
  message: PARTIAL_TEXT,
  error: 'the database is unavailable',
  checks: { database: 'ok', storage: 'ok', smtp: 'ok' },
  'NotReady.error': ERRORS.not_ready.text,
  'NotReady.code': 'not_ready',
  'NotReady.checks': { database: 'away', storage: 'ok', smtp: 'ok' },

  // Templates
  'Template.id': REPLY,
  'Template.subject': 'Ihr Angebot {{ angebot.nummer }}',
  'Template.text_body': 'Guten Tag {{ name }},\n\nanbei unser Angebot.',
  'TemplateSummary.id': REPLY,
  'TemplateSummary.subject': 'Ihr Angebot {{ angebot.nummer }}',
  'Template.name': 'Angebot',
  'TemplateSummary.name': 'Angebot',
  'Template.variables': ['angebot.nummer', 'name'],
  'TemplatePreview.subject': 'Ihr Angebot 4711',
  'TemplatePreview.text_body': 'Guten Tag Ann,\n\nanbei unser Angebot.',
  template_id: REPLY,
  template_version: null,
  latest_version: 2,
  TemplateRequest: {
    name: 'Angebot',
    subject: 'Ihr Angebot {{ angebot.nummer }}',
    text_body: 'Guten Tag {{ name }},\n\nanbei unser Angebot.',
  },
  TemplateChange: { subject: 'Unser Angebot {{ angebot.nummer }}' },
  TemplatePreviewRequest: { variables: { name: 'Ann', angebot: { nummer: 4711 } } },

  // Drafts
  'Draft.id': REPLY,
  'DraftSummary.id': REPLY,
  draft_id: REPLY,
  version: 2,
  DraftAuthor: 'eva',
  'Draft.created_by': { id: '4r8gk2m0vqxz', name: 'CRM' },
  'DraftSummary.created_by': null,
  'DraftRequest.author': 'eva',
  being_sent: false,
  'Draft.answers': {
    email_id: EMAIL,
    kind: 'reply',
    quote: true,
    with_files: true,
    language: 'de',
    time_zone: 'Europe/Berlin',
  },
  'DraftSummary.answers': null,
  'DraftSummary.to': 'Ann Example <ann@example.com>',
  file_count: 0,
  'Draft.message': { text_body: 'Vielen Dank!' },
  DraftRequest: {
    author: 'eva',
    answers: { email_id: EMAIL, time_zone: 'Europe/Berlin' },
    message: { text_body: 'Vielen Dank!' },
  },

  // Replies
  'ReplyPreview.kind': 'reply',
  'previewReply.kind': 'reply',
  language: 'de',
  time_zone: 'Europe/Berlin',
  'ReplyPreview.to': [ANN],
  cc: [],
  'ReplyPreview.subject': 'Re: Ihr Angebot',
  'ReplyPreview.in_reply_to': '<reply-1@example.com>',
  'ReplyPreview.attachments': [],
  quote_text: 'Am 31.01.2026 um 13:00 (MEZ) schrieb Ann Example <ann@example.com>:\n\n> Gerne!',
  quote_html:
    '<div>Am 31.01.2026 um 13:00 (MEZ) schrieb Ann Example &lt;ann@example.com&gt;:</div><blockquote type="cite">Gerne!</blockquote>',

  'Upload.sha256': '5f70bf18a086007016e948b04aed3b82103a36bea41755b6cddfaf10ace3c6ef',
  expires_at: LATER,

  'Session.name': 'Ada',
  'Session.rights': ['read', 'draft', 'send'],
  'Session.accounts': null,
  'SessionLimits.attachment_bytes': 26_214_400,
  'SessionLimits.attachments': 200,
  key_id: '0123456789ab',
  ended: 1,
  'Set-Cookie':
    'email_worker_session=q1bR3c5kQmM8o0uU3bY2f7h9d1e4g6i8j0k2l4n6p8s; Path=/; HttpOnly; SameSite=Strict',

  // Requests, and what is no JSON
  LoginRequest: { secret: 'ewk_0123456789ab_q1bR3c5kQmM8o0uU3bY2f7h9d1e4g6i8j0k2l4n6p8s' },
  ReplyRequest: { text_body: 'Vielen Dank!', time_zone: 'Europe/Berlin' },
  ForwardRequest: { to: 'einkauf@example.org', text_body: 'Zur Kenntnis.', time_zone: 'Europe/Berlin' },
  SendChangeRequest: {
    send_at: LATER,
    subject: 'Ihr Angebot, berichtigt',
    text_body: 'Guten Tag, anbei das berichtigte Angebot.',
  },
  SendRequest: {
    to: 'Ann Example <ann@example.com>, bob@example.com',
    subject: 'Ihr Angebot',
    text_body: 'Guten Tag, anbei unser Angebot.',
    tags: ['angebot'],
    metadata: { order_id: 4711 },
    attachments: [{ filename: 'angebot.txt', content: 'SGFsbG8=', content_type: 'text/plain' }],
  },
  CustomerRegistrationRequest: {
    addresses: ['ann@example.com'],
    domains: ['*.example.com'],
    company_id: null,
    name: 'Example GmbH',
  },
  'sendBatch.results': [
    { status: 'queued', id: EMAIL, messageId: '<offer-1@example.org>', threadId: THREAD, http_status: 202 },
    {
      status: 'error',
      http_status: 400,
      error: new ServiceError('invalid_address', { values: { field: 'to', value: 'ann@' } }).text,
      code: 'invalid_address',
    },
  ],
  ThreadChange: { status: 'done', assignee: 'Ada', add_labels: ['Angebot'] },
  OpenApiDocument: { openapi: '3.1.0', info: { title: 'email-worker', version: '1' }, paths: {} },
  'message/rfc822': RAW_MESSAGE,
  '*/*': 'Hallo',
  'image/*': 'GIF89a',
  authentication: {
    verdict: 'passed',
    source: 'header',
    spf: { result: 'pass', domain: 'example.com' },
    dkim: [{ result: 'pass', domain: 'example.com', selector: 's1' }],
    dmarc: { result: 'pass', domain: 'example.com' },
    arc: null,
  },
  html_safe: '<div data-email-body="1" style="contain:content"><p>Gerne!</p></div>',
  made_from: 'html',
  'RemovedContent.scripts': 0,
  event_handlers: 0,
  forms: 0,
  frames: 0,
  media: 0,
  vector_graphics: 0,
  'RemovedContent.metadata': 1,
  styles: 0,
  links: 0,
  remote_images: 2,
  remote_content: 0,
  'RemovedContent.images': 0,
  deceptive_links: 0,
  images_expire_at: LATER,
  'ShownImage.attachment_id': ATTACHMENT,
  'ShownImage.content_id': 'logo@example.com',
  'ShownImage.url': `/api/images/${ATTACHMENT}?expires=1769864400&signature=q1bR3c5kQmM8o0uU3bY2f7h9d1e4g6i8j0k2l4n6p8s`,
};

interface ErrorValues {
  /** Names that `{field}` may stand for: the first one that the operation takes is shown. */
  readonly fields?: readonly string[];
  readonly values?: Readonly<Record<string, string | number>>;
}

/** What the texts of errors name. */
const ERROR_VALUES: Partial<Readonly<Record<ErrorCode, ErrorValues>>> = {
  unknown_field: { values: { field: 'betreff' } },
  duplicate_field: {
    fields: ['subject', 'reason', 'addresses', 'note', 'outcome'],
    values: { field: 'note' },
  },
  invalid_uuid: { fields: ['id', 'threadId', 'customerId', 'thread_id', 'customer_id'] },
  invalid_address: { fields: ['to', 'address', 'addresses'], values: { value: 'ann@' } },
  invalid_domain: { fields: ['domain', 'domains'], values: { value: 'example..com' } },
  public_domain: { values: { value: 'gmail.com' } },
  too_many_entries: { fields: ['addresses', 'labels'], values: { limit: 1000 } },
  too_many_recipients: { values: { limit: 100 } },
  invalid_message_id: { fields: ['in_reply_to'] },
  header_injection: { fields: ['subject', 'address', 'addresses'] },
  invalid_text: { fields: ['subject', 'note'] },
  invalid_base64: { fields: ['attachments'], values: { path: '[0].content' } },
  invalid_content_id: { fields: ['attachments'], values: { path: '[0].content_id' } },
  invalid_filename: { fields: ['attachments'], values: { path: '[0].filename' } },
  invalid_content_type: { fields: ['attachments'], values: { path: '[0].content_type', value: 'text' } },
  header_not_allowed: { values: { field: 'Received' } },
  invalid_tag: { values: { value: 'zwei Wörter' } },
  metadata_too_large: { values: { limit: 4096 } },
  template_invalid: { values: { field: 'html_body', line: 3, column: 12 } },
  template_variable_missing: { values: { variable: 'angebot.nummer', field: 'subject', line: 1 } },
  template_too_complex: { values: { field: 'html_body' } },
  template_empty: { values: { field: 'subject' } },
  variables_too_large: { values: { limit: 65536 } },
  unknown_account: { values: { value: 'einkauf' } },
  attachments_too_large: { values: { limit: 26214400 } },
  recipient_unsubscribed: { values: { value: 'ann@example.com', list: 'newsletter' } },
  recipient_suppressed: {
    values: { value: 'ann@example.com', since: LATER, detail: SUPPRESSION_TEXTS.hard_bounce },
  },
  events_expired: { values: { value: EVENT_ID } },
  invalid_webhook_url: { values: { detail: 'Sie muss mit https:// beginnen.' } },
  webhook_address_refused: { values: { value: '192.168.1.10' } },
  invalid_webhook_header: { values: { field: 'Content-Length' } },
  forbidden_right: { values: { right: 'send' } },
  too_many_keys: { values: { limit: 1000 } },
  too_many_webhooks: { values: { limit: 100 } },
  loop_suspected: { values: { value: 'ann@example.com' } },
};

/** What an `invalid_request` may be: the first whose field the operation takes, else the last. */
const INVALID_REQUESTS = [
  { field: 'limit', error: invalidRequest('too_large', { field: 'limit', limit: 200 }) },
  { field: 'message/rfc822', error: invalidRequest('missing_message') },
  { field: 'application/json', error: invalidRequest('not_an_object') },
  { field: 'address', error: invalidRequest('too_long', { field: 'address', limit: 400 }) },
  { field: '', error: invalidRequest('missing_host') },
] as const;

/** Adds an example to each body and each answer. Throws Error when a field has none. */
export function addExamples(paths: Paths): void {
  for (const operation of operationsOf(paths)) {
    for (const { content = {} } of [operation.requestBody ?? {}, ...Object.values(operation.responses)]) {
      for (const [type, media] of Object.entries<Media[string]>(content)) {
        const codes = codesOf(media.schema);
        if (codes === null) media.example = exampleOf(media.schema, operation.operationId, type);
        else
          media.examples = Object.fromEntries(
            codes.map((code) => [code, { value: errorExample(code, operation) }]),
          );
      }
    }
  }
}

function errorExample(code: ErrorCode, operation: Operation): object {
  const takes = namesOf(operation);
  const { fields = [], values = {} } = ERROR_VALUES[code] ?? {};
  const name = fields.find((field) => takes.includes(field));
  const field = name === undefined ? {} : { field: `${name}${values['path'] ?? ''}` };
  const fault = INVALID_REQUESTS.find((one) => takes.includes(one.field)) ?? INVALID_REQUESTS[4];
  const error =
    code === 'invalid_request' ? fault.error : new ServiceError(code, { values: { ...values, ...field } });
  return {
    error: error.text,
    ...(code.startsWith('send_')
      ? { details: '550 5.7.1 refused' }
      : code === 'events_expired'
        ? { details: EVENT_ID }
        : {}),
    code,
  };
}

/** Of its parameters, the fields of its body, and its type. */
function namesOf({ parameters = [], requestBody }: Operation): readonly string[] {
  const media = Object.entries(requestBody?.content ?? {});
  return [
    ...parameters.map(({ name }) => name),
    ...media.flatMap(([type, { schema }]) => [type, ...Object.keys(schema['properties'] ?? {})]),
  ];
}

interface Schema {
  readonly title?: string;
  /** The generator makes one value of a `const`. */
  readonly enum?: readonly unknown[];
  readonly items?: Schema;
  readonly type?: string | readonly string[];
  readonly properties?: Readonly<Record<string, Schema>>;
}

/** `name` is that of the field, with its title before it, or the media type. */
function exampleOf(schema: Schema, operationId: string, name: string, title = ''): unknown {
  const keys = [`${operationId}.${name}`, `${title}.${name}`, name, schema.title ?? ''];
  if (schema.enum?.length === 1) return schema.enum[0];
  const known = keys.find((key) => key in FIELDS);
  if (known !== undefined) return FIELDS[known];
  if (schema.items !== undefined) return [exampleOf(schema.items, operationId, '', title)];
  if (schema.type === 'boolean') return false;
  if (schema.type?.includes('null') === true) return null;
  if (schema.properties === undefined) throw new Error(`no example for ${operationId}: ${title}.${name}`);
  const fields = Object.entries(schema.properties);
  return Object.fromEntries(
    fields.map(([field, inner]) => [field, exampleOf(inner, operationId, field, schema.title)]),
  );
}
