/**
 * GET /api/threads/{threadId}: the record of a thread and a page of its emails, for a page that shows it. PATCH changes the parts of the
 * record that people set.
 */
import { routed, type ThreadDeps } from './routed.ts';
import type { XStatic } from 'typebox/schema';
import { MAX_ASSIGNEE_CHARS } from './assignees.ts';
import {
  THREAD_COMPANY_SOURCES,
  UNDELIVERED_REASONS,
  THREAD_CUSTOMER_SOURCES,
  type ThreadChange,
  type ThreadEmail,
  type ThreadRecord,
} from './thread-record-ports.ts';
import { MAX_LABEL_CHARS, MAX_THREAD_LABELS } from '../../core/thread/thread-work.ts';
import { senderWarnings, type OwnSenders } from '../../core/address/sender-warnings.ts';
import { invalidRequest } from '../../core/errors.ts';
import { formatMessageId } from '../../core/message/message-id.ts';
import { TRIMMED_LINE_PATTERN } from '../../core/one-line.ts';
import type { HttpContext, HttpServer } from '../../platform/http/answers/context.ts';
import { OF_THREAD } from '../../platform/http/operations/account-rules.ts';
import type { ThreadPageRequest, ThreadPageResult } from './use-cases.ts';
import { schemaOfOperation } from '../../platform/http/operations/operation-schema.ts';
import { keyIdOf } from '../../core/keys/caller.ts';
import { JSON_BODY_ERRORS, smallJsonBody } from '../../platform/http/body/json-body.ts';
import {
  AttachmentDetail,
  SuggestedCounterparty,
  Recipient,
  toAttachmentDetailJson,
  toRecipientJson,
} from '../emails/email-detail.ts';
import {
  AutomaticKind,
  noteProperties,
  NullableProtection,
  PlacementRule,
  stateProperties,
  WrittenBy,
} from '../emails/email-schemas.ts';
import { NullableInvitation, toInvitationJson } from '../emails/invitation-schema.ts';
import { toAddressJson } from '../emails/email-view.ts';
import { SenderWarnings } from '../emails/sender-warnings.ts';
import { NullableVerdict } from '../emails/authentication-schema.ts';
import { NullableKeyAuthor } from '../../platform/schemas/author.ts';
import { errorResponses } from '../../platform/schemas/error-schemas.ts';
import { PAGE_PARAMETERS, toPageRequest, PAGE_ERRORS } from '../../platform/schemas/page-schemas.ts';
import {
  AddressObject,
  emailProperties,
  jsonResponse,
  NullableUuid,
  record,
  ThreadParams,
  Timestamp,
  Uuid,
} from '../../platform/schemas/schemas.ts';
import {
  ThreadLabel,
  ThreadStatusText,
  toWorkJson,
  UndeliveredCount,
  workProperties,
} from '../../platform/schemas/thread-schemas.ts';

const ThreadRecordSchema = record('ThreadRecord', {
  id: { ...Uuid, description: 'Differs from the requested id when that thread was merged into this one.' },
  account_id: { type: 'string' },
  subject: { type: 'string', description: 'Subject of the first email.' },
  customer_id: NullableUuid,
  customer_source: {
    type: ['string', 'null'],
    enum: [...THREAD_CUSTOMER_SOURCES, null],
    description:
      '`operator`: set by hand. `explicit`: taken from the first send that named a customer. `address`, `domain`: found by a rule.',
  },
  company_id: NullableUuid,
  company_source: { type: ['string', 'null'], enum: [...THREAD_COMPANY_SOURCES, null] },
  participants: {
    type: 'array',
    items: AddressObject,
    maxItems: 10,
    description: 'Senders, then recipients, of the newest 20 emails; each address once.',
  },
  email_count: {
    type: 'integer',
    minimum: 0,
    description: 'Does not count emails that were not sent (`failed`, `cancelled`).',
  },
  unread_count: { type: 'integer', minimum: 0 },
  unanswered: { type: 'boolean', description: 'The newest email that no machine wrote is inbound.' },
  undelivered: UndeliveredCount,
  has_attachments: { type: 'boolean' },
  ...workProperties,
  first_activity_at: Timestamp,
  last_activity_at: Timestamp,
  version: {
    type: 'integer',
    minimum: 1,
    description: 'Version for `If-Match`. It changes with status, assignee, labels, customer and company.',
  },
});

const { text_body: _text, has_attachments, email_attachments: _files, ...heads } = emailProperties;

const ThreadEmailSchema = record('ThreadEmail', {
  ...heads,
  cc_addresses: { type: 'array', items: AddressObject },
  bcc_addresses: { type: 'array', items: AddressObject },
  reply_to_addresses: { type: 'array', items: AddressObject },
  created_at: Timestamp,
  customer_id: NullableUuid,
  ...stateProperties,
  recipients: { type: 'array', items: Recipient },
  snippet: {
    type: 'string',
    maxLength: 200,
    description: 'The beginning of the text on one line, without recognised quotes.',
  },
  text_body: { type: 'string', description: 'Plain text; HTML-only mail is rendered to text.' },
  reply_text: {
    type: ['string', 'null'],
    description: 'The new text of a received email, without quoted text; null for a sent email.',
  },
  has_html: { type: 'boolean' },
  html_body: {
    type: ['string', 'null'],
    description: 'As sent or received, not sanitised; null unless `html=true`.',
  },
  truncated: {
    type: 'boolean',
    description:
      'True when a text was cut at 200,000 characters or HTML above 1 MB was left out. `GET /api/emails/{id}` returns both in full.',
  },
  has_attachments,
  email_attachments: {
    type: 'array',
    items: AttachmentDetail,
    description: 'Empty when there are none.',
  },
  placement_rule: PlacementRule,
  automatic: AutomaticKind,
  written_by: WrittenBy,
  undelivered: {
    title: 'UndeliveredReason',
    type: ['string', 'null'],
    enum: [...UNDELIVERED_REASONS, null],
    description:
      'Why a sent email waits for a person: `failed`, `unknown` (its outcome), `refused` (for some recipients), `bounced`; null when it ' +
      'does not, or was dealt with.',
  },
  protection: NullableProtection,
  invitation: NullableInvitation,
  new_participant: {
    type: 'boolean',
    description: 'True when the sender has not taken part in the thread before.',
  },
  ...noteProperties,
  author: { ...NullableKeyAuthor, description: 'The key that sent it; null for any other email.' },
  authentication: NullableVerdict,
  sender_warnings: SenderWarnings,
  unread: { type: 'boolean' },
  suggested_counterparty: SuggestedCounterparty,
  variant_count: {
    type: 'integer',
    minimum: 0,
    description: 'Messages that are this email in other bytes; `GET /api/emails/{id}` lists them.',
  },
});

const ThreadPageSchema = record('ThreadPage', {
  thread: ThreadRecordSchema,
  emails: { type: 'array', items: ThreadEmailSchema, description: 'Newest first.' },
  next_cursor: { type: ['string', 'null'], description: 'For older emails; null when there are none.' },
});

const PageQuery = {
  type: 'object',
  additionalProperties: false,
  properties: {
    ...PAGE_PARAMETERS,
    html: { type: 'boolean', description: 'Also return `html_body`.' },
  },
} as const;

const labelList = (maxItems: number, description: string) =>
  ({ type: 'array', maxItems, items: ThreadLabel, description }) as const;

const ChangeBody = {
  type: 'object',
  title: 'ThreadChange',
  additionalProperties: false,
  properties: {
    customer_id: {
      ...NullableUuid,
      description:
        'Customer chosen by hand; it wins over the sends and the rules. The customer that the thread already has by them is no ' +
        'choice and changes nothing; null removes the choice.',
    },
    company_id: NullableUuid,
    status: { ...ThreadStatusText, description: '`done` also settles undelivered sends.' },
    undelivered: {
      type: 'boolean',
      const: false,
      description: '`false` settles undelivered sends.',
    },
    assignee: {
      type: ['string', 'null'],
      minLength: 1,
      maxLength: MAX_ASSIGNEE_CHARS,
      pattern: TRIMMED_LINE_PATTERN,
      description:
        'Id of a key that may answer in the account of the thread (`GET /api/assignees`), or of the present assignee; null: not assigned.',
    },
    labels: labelList(MAX_THREAD_LABELS, 'Replaces all labels.'),
    add_labels: labelList(MAX_THREAD_LABELS, 'Labels to add.'),
    // After a merge a thread may have more labels than a request may give it.
    remove_labels: labelList(5 * MAX_THREAD_LABELS, 'Labels to remove.'),
  },
} as const;

/** All labels that one request may name, and the assignee, with each character escaped, in bytes. */
const MAX_BODY_BYTES = (7 * MAX_THREAD_LABELS * MAX_LABEL_CHARS + MAX_ASSIGNEE_CHARS) * 12 + 4096;

const MatchHeaders = {
  type: 'object',
  properties: {
    'if-match': {
      type: 'string',
      maxLength: 64,
      description:
        '`"<version>"` that the caller knows; the response is 412 when the thread was changed since.',
    },
  },
} as const;

const getThreadPage = routed<ThreadPageRequest, ThreadPageResult>()({
  id: 'getThreadPage',
  method: 'GET',
  path: '/api/threads/:threadId',
  right: 'read',
  tag: 'Threads',
  summary: 'Read a thread with its newest emails',
  description:
    'The record of the thread and a page of its emails, newest first, including emails that were not sent. A page has ' +
    'fewer emails when their texts are long.',
  account: OF_THREAD,
});

const changeThread = routed<ThreadChange & { readonly threadId: string }, ThreadRecord>()({
  id: 'changeThread',
  method: 'PATCH',
  path: '/api/threads/:threadId',
  // The answer shows what the emails are about, and between whom.
  right: ['read', 'handle'],
  tag: 'Threads',
  summary: 'Change the status, assignee, labels or customer of a thread',
  description:
    'Absent fields stay unchanged. `labels` applies before `add_labels`; `remove_labels` names none of them. 20 labels at ' +
    'most. A request that changes nothing writes no event.',
  account: OF_THREAD,
  act: {
    event: 'thread.changed',
    what: ({ threadId, ...change }) => ({ threadId, fields: changedFields(change) }),
    after: ({ id, version, status, assignee, labels, customerId, companyId }) => ({
      id,
      version,
      status,
      assignee,
      labels,
      customerId,
      companyId,
    }),
  },
});

export function registerThreadRecordRoutes(
  app: HttpServer,
  { perform, limits, ownSenders }: HttpContext<ThreadDeps>,
): void {
  app.get(
    getThreadPage.path,
    {
      schema: {
        ...schemaOfOperation(getThreadPage),
        params: ThreadParams,
        querystring: PageQuery,
        response: {
          200: jsonResponse('The thread and a page of its emails.', ThreadPageSchema),
          ...errorResponses(...PAGE_ERRORS, 'invalid_uuid', 'thread_not_found'),
        },
      },
    },
    async (request) => {
      const asked = {
        threadId: request.params.threadId.toLowerCase(),
        withHtml: request.query.html ?? false,
        ...toPageRequest(request.query),
      };
      const { thread, emails, nextCursor } = await perform(request, getThreadPage, asked, (own, threads) =>
        threads.readThreadPage(own),
      );
      return {
        thread: toRecordJson(thread),
        emails: emails.map((email) => toThreadEmailJson(email, ownSenders)),
        next_cursor: nextCursor,
      };
    },
  );

  app.patch(
    changeThread.path,
    {
      schema: {
        ...schemaOfOperation(changeThread),
        params: ThreadParams,
        headers: MatchHeaders,
        body: ChangeBody,
        response: {
          200: jsonResponse('The updated record.', ThreadRecordSchema),
          ...errorResponses(
            ...JSON_BODY_ERRORS,
            'invalid_uuid',
            'too_many_entries',
            'unknown_assignee',
            'invalid_credentials',
            'thread_not_found',
            'thread_changed',
            'database_unavailable',
          ),
        },
      },
      preValidation: smallJsonBody(limits, MAX_BODY_BYTES),
    },
    async (request) => {
      const { body } = request;
      refuseAddedAndRemoved(body);
      const change: ThreadChange & { readonly threadId: string } = {
        threadId: request.params.threadId.toLowerCase(),
        version: toVersion(request.headers['if-match']),
        customerId: lower(body.customer_id),
        companyId: lower(body.company_id),
        status: body.status,
        settles: body.undelivered === false ? true : undefined,
        assignee: body.assignee,
        labels: body.labels,
        addLabels: body.add_labels ?? [],
        removeLabels: body.remove_labels ?? [],
      };
      return toRecordJson(
        await perform(request, changeThread, change, ({ threadId, ...asked }, threads, caller) =>
          threads.changeThread(threadId, asked, keyIdOf(caller)),
        ),
      );
    },
  );
}

function changedFields({ version: _version, ...change }: ThreadChange): readonly string[] {
  return Object.entries(change).flatMap(([field, value]) =>
    value === undefined || (Array.isArray(value) && value.length === 0 && field !== 'labels') ? [] : [field],
  );
}

/** Of the two, only one could have an effect. Throws `invalid_request`. */
function refuseAddedAndRemoved({
  labels = [],
  add_labels: added = [],
  remove_labels: removed = [],
}: XStatic<typeof ChangeBody>): void {
  for (const [field, given] of Object.entries({ labels, add_labels: added })) {
    const value = given.find((label) => removed.includes(label));
    if (value !== undefined)
      throw invalidRequest('added_and_removed', { value, field, other: 'remove_labels' });
  }
}

const lower = (uuid: string | null | undefined) => (typeof uuid === 'string' ? uuid.toLowerCase() : uuid);

/** No thread has this version. */
const NO_VERSION = 0;

/** RFC 9110 §13.1.1: `*`, or a tag; compared strongly, so a weak one never matches. Several tags are refused: a caller has read one version. */
function toVersion(header: string | undefined): number | null {
  if (header === undefined || header.trim() === '*') return null;
  const tags = header.split(',').map((tag) => /^(W\/)?"([^"]*)"$/.exec(tag.trim()));
  if (tags.some((tag) => tag === null) || tags.length > 1) {
    throw invalidRequest('malformed', { field: 'If-Match' });
  }
  const [, weak, version = ''] = tags[0] ?? [];
  return weak === undefined && /^[1-9]\d{0,9}$/.test(version) ? Number(version) : NO_VERSION;
}

export function toRecordJson(thread: ThreadRecord): XStatic<typeof ThreadRecordSchema> {
  return {
    id: thread.id,
    account_id: thread.accountId,
    subject: thread.subject,
    customer_id: thread.customerId,
    customer_source: thread.customerSource,
    company_id: thread.companyId,
    company_source: thread.companySource,
    participants: thread.participants.map(toAddressJson),
    email_count: thread.emailCount,
    unread_count: thread.unreadCount,
    unanswered: thread.unanswered,
    undelivered: thread.undelivered,
    has_attachments: thread.hasAttachments,
    ...toWorkJson(thread),
    first_activity_at: thread.firstActivityAt.toISOString(),
    last_activity_at: thread.lastActivityAt.toISOString(),
    version: thread.version,
  };
}

function toThreadEmailJson(email: ThreadEmail, own: OwnSenders): XStatic<typeof ThreadEmailSchema> {
  return {
    id: email.id,
    message_id: formatMessageId(email.messageId),
    direction: email.direction,
    from_address: toAddressJson(email.from),
    to_addresses: email.to.map(toAddressJson),
    cc_addresses: email.cc.map(toAddressJson),
    bcc_addresses: email.bcc.map(toAddressJson),
    reply_to_addresses: email.replyTo.map(toAddressJson),
    subject: email.subject,
    date: email.date.toISOString(),
    created_at: email.createdAt.toISOString(),
    customer_id: email.customerId,
    state: email.state,
    state_detail: email.stateDetail,
    next_attempt_at: email.nextAttemptAt?.toISOString() ?? null,
    recipients: email.deliveries.map(toRecipientJson),
    snippet: email.snippet,
    text_body: email.textBody,
    reply_text: email.replyText,
    has_html: email.hasHtml,
    html_body: email.htmlBody,
    truncated: email.isTruncated,
    has_attachments: email.attachments.length > 0,
    email_attachments: email.attachments.map(toAttachmentDetailJson),
    placement_rule: email.placement,
    automatic: email.automatic,
    written_by: email.writtenBy,
    undelivered: email.undelivered,
    protection: email.protection,
    invitation: toInvitationJson(email.invitation, email.from.address, email.verdict),
    new_participant: email.newParticipant,
    tags: [...email.tags],
    metadata: { ...email.metadata },
    author: email.author,
    authentication: email.verdict === null ? null : { verdict: email.verdict },
    sender_warnings: [...senderWarnings({ ...email.from, ...email }, own)],
    unread: email.isUnread,
    suggested_counterparty: email.suggestedCounterparty,
    variant_count: email.variantCount,
  };
}
