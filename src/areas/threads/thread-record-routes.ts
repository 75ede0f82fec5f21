/** GET /api/threads/{threadId}: the record of a thread and a page of its emails, for a page that shows it. */
import { routed, type ThreadDeps } from './routed.ts';
import type { XStatic } from 'typebox/schema';
import { UNDELIVERED_REASONS, type ThreadEmail } from './thread-record-ports.ts';
import { ThreadRecordSchema } from './thread-record-schema.ts';
import { toJson } from '../../platform/operation/values.ts';
import { senderWarnings, type OwnSenders } from '../../core/address/sender-warnings.ts';
import { formatMessageId } from '../../core/message/message-id.ts';
import type { HttpContext, HttpServer } from '../../platform/http/answers/context.ts';
import { OF_THREAD } from '../../platform/http/operations/account-rules.ts';
import type { ThreadPageRequest, ThreadPageResult } from './use-cases.ts';
import { schemaOfOperation } from '../../platform/http/operations/operation-schema.ts';
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
} from '../../platform/schemas/schemas.ts';

const toRecordJson = toJson(ThreadRecordSchema);

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

export function registerThreadRecordRoutes(
  app: HttpServer,
  { perform, ownSenders }: HttpContext<ThreadDeps>,
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
        thread: toRecordJson(thread) as XStatic<typeof ThreadRecordSchema>,
        emails: emails.map((email) => toThreadEmailJson(email, ownSenders)),
        next_cursor: nextCursor,
      };
    },
  );
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
