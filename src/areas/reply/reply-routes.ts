/**
 * POST /api/emails/{id}/reply, /reply-all, /forward and /invitation-answer: sends an answer built from the email that it answers.
 * GET /api/emails/{id}/reply shows a preview of it.
 */
import {
  REPLY_KINDS,
  type ReplyKind,
  type ReplyOptions,
  type ReplyPreview,
  type ReplyRequest,
  type ReplyUseCases,
} from './use-cases.ts';
import type { SpoolFolder } from '../../platform/files/file-ports.ts';
import type { ErrorCode } from '../../core/error-registry.ts';
import { formatMessageId } from '../../core/message/message-id.ts';
import type { HttpContext, HttpServer } from '../../platform/http/answers/context.ts';
import { routedWith } from '../../platform/operation/declaration.ts';
import type { FindsAccounts } from '../../platform/http/operations/account-rules.ts';
import { schemaOfOperation } from '../../platform/http/operations/operation-schema.ts';
import { ownKey } from '../send/own-send.ts';
import type { CheckedEmail, SendOnceResult, SendResult } from '../send/use-cases.ts';
import { keyIdOf, type Caller } from '../../core/keys/caller.ts';
import { callerOf } from '../../platform/http/connections/auth.ts';
import type { HttpLimits } from '../../platform/http/connections/limits.ts';
import { toAddressJson, toAttachmentJson } from '../emails/email-view.ts';
import { keyNameOf } from '../send/own-send.ts';
import { errorResponses } from '../../platform/schemas/error-schemas.ts';
import { AccountId } from '../../platform/schemas/page-schemas.ts';
import {
  AddressObject,
  AttachmentRecord,
  EmailParams,
  jsonResponse,
  MessageIdText,
  readUuidParameter,
  record,
  Uuid,
} from '../../platform/schemas/schemas.ts';
import type { EmailJson } from '../send/attachment-body.ts';
import { SendDryRun } from '../send/dry-run.ts';
import { CHECKED_SEND_RESPONSES, SEND_ERRORS, SendHeaders } from '../send/send-answer.ts';
import type { SendInput } from '../send/send-input.ts';
import {
  ForwardBody,
  InvitationAnswerBody,
  Language,
  readInvitationAnswer,
  readReplyBody,
  readTimeZone,
  ReplyBody,
  TimeZone,
  type ReplyInput,
} from './reply-body.ts';

type ReplyDeps = ReplyUseCases & FindsAccounts;

const routed = routedWith<ReplyDeps>();

export const Kind = { title: 'ReplyKind', type: 'string', enum: REPLY_KINDS } as const;

const PreviewQuery = {
  type: 'object',
  additionalProperties: false,
  properties: {
    kind: { ...Kind, description: 'To the sender, to all, or a forward. Default: `reply`.' },
    language: { ...Language, description: 'Language of the quote. Default: `de`.' },
    time_zone: { ...TimeZone, description: 'Time zone of the date in the quote. Default: `UTC`.' },
  },
} as const;

const Preview = record('ReplyPreview', {
  email_id: { ...Uuid, description: 'The email that is answered.' },
  kind: Kind,
  account_id: { ...AccountId, description: 'The account that sends.' },
  thread_id: { ...Uuid, description: 'The thread that the answer joins.' },
  in_reply_to: MessageIdText,
  from: { anyOf: [AddressObject, { type: 'null' }] },
  to: { type: 'array', items: AddressObject, description: 'Recipients; empty for a forward.' },
  cc: { type: 'array', items: AddressObject },
  subject: { type: 'string' },
  quote_text: { type: 'string', description: 'The quote that is placed below the new text.' },
  quote_html: {
    type: 'string',
    description:
      'The quote as HTML: sanitised, with alternative texts in place of images; the text when the email has no HTML. A reply ' +
      'that is sent contains small images.',
  },
  quote_cut: { type: 'boolean', description: 'True when a part of the email was too long and was left out.' },
  attachments: {
    type: 'array',
    items: AttachmentRecord,
    description: 'Files of a forward; empty for a reply.',
  },
});

/** An answer to an invitation has no recipients, files or templates of its own. */
const NOT_OF_ANSWERS: ReadonlySet<string> = new Set([
  'missing_recipient_or_subject',
  'missing_body',
  'forbidden_from',
  'template_invalid',
  'template_variable_missing',
  'template_too_complex',
  'template_empty',
  'template_not_found',
  'variables_too_large',
  'too_many_recipients',
  'invalid_message_id',
  'header_injection',
  'header_not_allowed',
  'invalid_content_id',
  'invalid_filename',
  'invalid_content_type',
  'unsubscribe_unavailable',
  'invalid_list',
  'one_recipient_expected',
  'upload_not_found',
  'attachment_not_found',
  'content_missing',
  'attachments_too_large',
  'recipient_unsubscribed',
]);
const ANSWER_ERRORS = SEND_ERRORS.filter((code) => !NOT_OF_ANSWERS.has(code));

/** The path names the email that is answered. */
const ERRORS = SEND_ERRORS.filter((code) => code !== 'invalid_message_id');

/** What an answer has in words of a person's own. */
const textOf = (kind: ReplyKind) => ({
  kind,
  body: kind === 'forward' ? ForwardBody : ReplyBody,
  read: (json: EmailJson, limits: HttpLimits) => readReplyBody(json, limits, kind),
  errors: ERRORS,
});

/** The account of the email that is answered. */
const OF_ANSWERED = {
  of: ({ emailId }: Pick<ReplyOptions, 'emailId'>, { accountOf }: FindsAccounts) => accountOf.email(emailId),
  missing: 'email_not_found',
} as const;

type ReplyOutcome = SendResult | SendOnceResult | CheckedEmail;

const replying = (
  id: string,
  path: string,
  texts: { readonly summary: string; readonly description: string },
) =>
  routed<ReplyRequest, ReplyOutcome>()({
    id,
    method: 'POST',
    path: `/api/emails/:id/${path}`,
    // The answer quotes the email's text, or includes its files.
    right: ['read', 'send'],
    tag: 'Sending',
    summary: texts.summary,
    description: `${texts.description} Other fields and the response are those of a send.`,
    account: OF_ANSWERED,
  });

const previewReply = routed<ReplyOptions, ReplyPreview>()({
  id: 'previewReply',
  method: 'GET',
  path: '/api/emails/:id/reply',
  right: 'read',
  tag: 'Sending',
  summary: 'Preview a reply or a forward',
  description:
    'Returns recipients, subject and quote of a reply or forward, for a page in which a person writes it.',
  account: OF_ANSWERED,
});

const KINDS: readonly {
  readonly kind: ReplyKind;
  readonly operation: ReturnType<typeof replying>;
  readonly body: object;
  readonly read: (json: EmailJson, limits: HttpLimits) => ReplyInput;
  readonly errors: readonly ErrorCode[];
}[] = [
  {
    ...textOf('reply'),
    operation: replying('replyToEmail', 'reply', {
      summary: 'Reply to an email',
      description:
        'Replies to Reply-To, else From; to the recipients of an email that we sent. Subject, thread, account, In-Reply-To and ' +
        'References come from the email, which is quoted below the new text.',
    }),
  },
  {
    ...textOf('reply_all'),
    operation: replying('replyToAll', 'reply-all', {
      summary: 'Reply to an email and all its recipients',
      description:
        'As a reply, with To and Cc of the email in Cc. Our own accounts are left out; Bcc recipients are never included.',
    }),
  },
  {
    ...textOf('forward'),
    operation: replying('forwardEmail', 'forward', {
      summary: 'Forward an email',
      description:
        'Sends the email with its From, Date, Subject, To and Cc above its text, and its files, in the same thread.',
    }),
  },
  {
    kind: 'reply',
    operation: replying('answerInvitation', 'invitation-answer', {
      summary: 'Accept or decline an invitation',
      description:
        'Sends the answer to the organizer (iTIP, RFC 5546), in the thread, as the account’s address, which must be among the attendees. ' +
        'Refused unless the email is a `request` that is neither cancelled nor replaced by a later one. A later answer replaces an earlier ' +
        'one.',
    }),
    body: InvitationAnswerBody,
    read: readInvitationAnswer,
    errors: [
      ...ANSWER_ERRORS,
      'no_invitation',
      'invitation_cancelled',
      'invitation_replaced',
      'not_invited',
      'organizer_not_sender',
    ],
  },
];

export function registerReplyRoutes(
  app: HttpServer,
  { perform }: HttpContext<ReplyDeps>,
  input: SendInput,
): void {
  for (const { operation, kind, body: schema, read, errors } of KINDS) {
    app.post(
      operation.path,
      {
        // The body is read as a stream and checked by `read`; the schema is for the document.
        validatorCompiler: () => () => true,
        schema: {
          ...schemaOfOperation(operation),
          params: EmailParams,
          querystring: SendDryRun,
          headers: SendHeaders,
          body: schema,
          response: {
            ...CHECKED_SEND_RESPONSES,
            ...errorResponses(...errors, 'email_not_found'),
          },
        },
      },
      (request, reply) => {
        const emailId = readUuidParameter(request.params as object, 'id');
        const caller = callerOf(request);
        const ask = <Result extends ReplyOutcome>(
          body: AskedReply,
          folder: SpoolFolder,
          work: (asked: ReplyRequest, sends: ReplyUseCases) => Promise<Result>,
        ) => perform(request, operation, toRequest(body, emailId, kind, caller), work, folder);
        return input.answer(request, reply, {
          read,
          send: (body, folder) => ask(body, folder, (asked, sends) => sends.sendReply(asked, folder)),
          sendOnce: (key, body, folder) =>
            ask(body, folder, (asked, sends) => sends.sendReplyOnce(ownKey(key, caller), asked, folder)),
          check: (body, folder) => ask(body, folder, (asked, sends) => sends.checkReply(asked, folder)),
        });
      },
    );
  }

  app.get(
    previewReply.path,
    {
      schema: {
        ...schemaOfOperation(previewReply),
        params: EmailParams,
        querystring: PreviewQuery,
        response: {
          200: jsonResponse('Nothing was sent.', Preview),
          ...errorResponses(
            'invalid_request',
            'invalid_uuid',
            'invalid_credentials',
            'email_not_found',
            'database_unavailable',
            'reading_unavailable',
          ),
        },
      },
    },
    async (request) => {
      const { kind = 'reply', language = 'de', time_zone: timeZone } = request.query;
      const asked = {
        emailId: request.params.id.toLowerCase(),
        kind,
        language,
        timeZone: readTimeZone(timeZone),
      };
      return toPreviewJson(
        await perform(request, previewReply, asked, (own, replies, caller) =>
          replies.previewReply({ ...own, authorKeyId: keyIdOf(caller) }),
        ),
      );
    },
  );
}

type AskedReply = ReplyInput & { readonly respondAsync: boolean };

function toRequest(
  { respondAsync, message, ...body }: AskedReply,
  emailId: string,
  kind: ReplyKind,
  caller: Caller,
): ReplyRequest {
  const authorKeyId = keyIdOf(caller);
  return {
    ...body,
    emailId,
    kind,
    message: { ...message, respondAsync, authorKeyId, authorName: keyNameOf(caller) },
  };
}

function toPreviewJson(preview: ReplyPreview): object {
  return {
    email_id: preview.emailId,
    kind: preview.kind,
    account_id: preview.accountId,
    thread_id: preview.threadId,
    in_reply_to: formatMessageId(preview.inReplyTo),
    from: preview.from === null ? null : toAddressJson(preview.from),
    to: preview.to.map(toAddressJson),
    cc: preview.cc.map(toAddressJson),
    subject: preview.subject,
    quote_text: preview.quoteText,
    quote_html: preview.quoteHtml,
    quote_cut: preview.isQuoteCut,
    attachments: preview.attachments.map(toAttachmentJson),
  };
}
