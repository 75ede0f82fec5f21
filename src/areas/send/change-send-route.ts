/** PATCH /api/emails/{id}: changes a send that waits for its time. */
import { routed, type SendDeps } from './routed.ts';
import type { SendChange } from './use-cases.ts';
import { invalidRequest, ServiceError } from '../../core/errors.ts';
import { Mistakes } from '../../core/mistakes.ts';
import type { HttpContext, HttpServer } from '../../platform/http/answers/context.ts';
import { OF_EMAIL } from '../../platform/http/operations/account-rules.ts';
import { schemaOfOperation } from '../../platform/http/operations/operation-schema.ts';
import type { EmailDetail } from '../emails/email-ports.ts';
import { keyIdOf } from '../../core/keys/caller.ts';
import { ifMatch, requiredVersion } from '../../platform/http/answers/entity-tag.ts';
import { JSON_BODY_ERRORS, refuseOtherMedia } from '../../platform/http/body/json-body.ts';
import type { HttpLimits } from '../../platform/http/connections/limits.ts';
import { EmailDetailSchema, toEmailDetailJson } from '../emails/email-detail.ts';
import { errorResponses } from '../../platform/schemas/error-schemas.ts';
import { EmailParams, jsonResponse, readUuidParameter } from '../../platform/schemas/schemas.ts';
import { SEND_ERRORS } from './send-answer.ts';
import { refuseUnknown, toFields } from '../../platform/http/body/fields.ts';
import type { EmailJson } from './attachment-body.ts';
import { readSendFields, refuseMistakes, SendBody } from './send-body.ts';
import type { SendInput } from './send-input.ts';

const { to, cc, bcc, subject, text_body, html_body, attachments } = SendBody.properties;

const ChangeBody = {
  type: 'object',
  title: 'SendChangeRequest',
  additionalProperties: false,
  properties: {
    send_at: {
      anyOf: [{ const: 'now' }, { type: 'string', format: 'date-time' }],
      description:
        'When it is sent from now on, earlier or later, at most a year ahead. `now`: at once; null is refused, since a client ' +
        'that clears a field must not send.',
    },
    to,
    cc,
    bcc,
    subject: { ...subject, description: 'May not be empty.' },
    text_body: {
      ...text_body,
      description:
        'The bodies change together: where the email has both, both are named. Null: none, or made of the HTML.',
    },
    html_body: { ...html_body, description: 'As `text_body`; null: none.' },
    attachments: {
      ...attachments,
      description: 'Replaces all files: kept files by `attachment_id`, new files as in a send.',
    },
  },
} as const;

const FIELDS = new Set(Object.keys(ChangeBody.properties));

/** Returns only the fields of the body. Throws ServiceError with status 400, or `attachments_too_large`. */
export function readSendChange(json: EmailJson, limits: HttpLimits): SendChange {
  const body = toFields(json.value);
  if (body === null) throw invalidRequest('not_an_object');
  const mistakes = new Mistakes();
  refuseUnknown(body, FIELDS, '', mistakes.note);
  const isBody = 'text_body' in body || 'html_body' in body;
  const { send_at: sendAt, ...ofSend } = body;
  if (sendAt === null) mistakes.note(invalidRequest('null_send_at'));
  const isNow = sendAt === 'now';
  const read = readSendFields(isNow ? ofSend : body, json, limits, mistakes);
  if ('to' in body && (read.to as typeof read.to | undefined)?.length === 0)
    mistakes.note(new ServiceError('missing_recipient_or_subject', { values: { field: 'to' } }));
  refuseMistakes(read, mistakes);
  const named = <T extends object>(field: string, value: T): Partial<T> => (field in body ? value : {});
  return {
    ...named('send_at', { sendAt: read.sendAt }),
    ...named('to', { to: read.to }),
    ...named('cc', { cc: read.cc }),
    ...named('bcc', { bcc: read.bcc }),
    ...named('subject', { subject: read.subject }),
    ...(isBody
      ? {
          body: {
            ...named('text_body', { textBody: read.textBody }),
            ...named('html_body', { htmlBody: read.htmlBody }),
          },
        }
      : {}),
    ...named('attachments', { attachments: read.attachments }),
  };
}

/** Errors that a change can't cause: it has no key, template or thread, and the other fields stay as in the send. */
const UNUSED_ERRORS: ReadonlySet<string> = new Set([
  'invalid_idempotency_key',
  'idempotency_key_reused',
  'idempotency_in_progress',
  'send_failed',
  'send_deferred',
  'send_unknown',
  'email_deleted',
  'template_invalid',
  'template_variable_missing',
  'template_too_complex',
  'template_empty',
  'template_not_found',
  'variables_too_large',
  'header_not_allowed',
  'invalid_tag',
  'metadata_too_large',
  'invalid_lane',
  'invalid_list',
  'invalid_message_id',
  'thread_not_found',
]);

const changeSend = routed<
  { readonly id: string; readonly version: number; readonly change: SendChange },
  EmailDetail
>()({
  id: 'changeSend',
  method: 'PATCH',
  path: '/api/emails/:id',
  // The answer contains the email, and a new recipient would receive it.
  right: ['read', 'send'],
  tag: 'Sending',
  summary: 'Change a queued send',
  description:
    'Changes a queued email that was never tried and that no process is sending; its message is composed again with the ' +
    'same Message-ID. Absent fields stay unchanged. The email is sent once, as after the last change that got 200; later ' +
    'changes get 409. When another change came first, the response is 412 and `details` has the current version.',
  account: OF_EMAIL,
  act: {
    event: 'send.changed',
    what: ({ id, version, change }) => ({ emailId: id, version, fields: Object.keys(change) }),
    after: ({ sendVersion, nextAttemptAt }) => ({ version: sendVersion, sendAt: nextAttemptAt }),
  },
});

export function registerChangeSendRoute(
  app: HttpServer,
  { perform, ownSenders }: Pick<HttpContext<SendDeps>, 'perform' | 'ownSenders'>,
  input: SendInput,
): void {
  app.patch(
    changeSend.path,
    {
      // The body is read as a stream and checked by readSendChange; the schema is for the document.
      validatorCompiler: () => () => true,
      schema: {
        ...schemaOfOperation(changeSend),
        params: EmailParams,
        headers: {
          type: 'object',
          required: ['If-Match'],
          properties: ifMatch('The `send_version` to change, in quotes, such as `"3"`.'),
        },
        body: ChangeBody,
        response: {
          200: jsonResponse('As it is now.', EmailDetailSchema, {
            ETag: {
              type: 'string',
              description: 'Its `send_version` in quotes; none where it is taken already.',
            },
          }),
          ...errorResponses(
            ...SEND_ERRORS.filter((code) => !UNUSED_ERRORS.has(code)),
            ...JSON_BODY_ERRORS,
            'email_not_found',
            'content_missing',
            'not_editable',
            'email_changed',
            'version_required',
          ),
        },
      },
    },
    (request, reply) => {
      const id = readUuidParameter(request.params as object, 'id');
      refuseOtherMedia(request.headers);
      const version = requiredVersion(request.headers['if-match']);
      return input.withBody(request, reply, readSendChange, async (change, folder) => {
        const email = await perform(
          request,
          changeSend,
          { id, version, change },
          (_, sends, caller) => sends.changeSend(id, version, change, folder, keyIdOf(caller)),
          folder,
        );
        if (email.sendVersion !== null) reply.header('etag', `"${email.sendVersion}"`);
        return toEmailDetailJson(email, ownSenders);
      });
    },
  );
}
