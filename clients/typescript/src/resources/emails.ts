/** `client.emails` */
import { encodeAttachment } from '../base64.ts';
import { Download } from '../download.ts';
import type { CheckOptions, RequestOptions, SendOptions } from '../options.ts';
import type { Pages } from '../pages.ts';
import { checkMessage, sendMessage, type PostSend } from '../send.ts';
import { plain, segment, type Attempt, type Transport } from '../transport.ts';
import type {
  CheckedSend,
  DeletedEmails,
  EmailDetail,
  EmailFilter,
  EmailListing,
  ExplainedPlacement,
  ForwardMessage,
  InvitationAnswer,
  QueryOf,
  ReplyMessage,
  ReplyPreview,
  ReplyPreviewOptions,
  ResolveRequest,
  SafeHtml,
  Schemas,
  SendChange,
  SendResult,
  SendState,
  SentCopy,
  VariantDetail,
} from '../types.ts';

type Path<Params> = { readonly params: { readonly path: Params } };

/** Single emails, and what operators do with sent ones. */
export class Emails {
  readonly #transport: Transport;

  /** @internal */
  constructor(transport: Transport) {
    this.#transport = transport;
  }

  /** Everything about one email: recipients with their replies and reports, attempts, placement, variants. */
  async get(id: string, options: RequestOptions = {}): Promise<EmailDetail> {
    const { api } = this.#transport;
    return this.#json(true, { id: segment('id', id) }, options, (request) =>
      api.GET('/api/emails/{id}', request),
    );
  }

  /** Newest first; by `state`, or with `q` those that contain all the words. */
  list(filter: EmailFilter = {}, options: RequestOptions = {}): Pages<EmailListing> {
    return this.#transport.pages(
      filter,
      options,
      (attempt, query: QueryOf<'listEmails'>) =>
        this.#transport.api.GET('/api/emails', { ...attempt, params: { query } }),
      (data) => data.emails,
    );
  }

  /**
   * The HTML of an email, safe to show, with its images at signed addresses. An email without HTML gives its text in the same form.
   * `remote: 'allow'` keeps images that are loaded from other servers.
   */
  async html(
    id: string,
    options: RequestOptions & { readonly remote?: 'block' | 'allow' | undefined } = {},
  ): Promise<SafeHtml> {
    const { remote = 'block' } = options;
    const safe = await this.#json(true, { id: segment('id', id) }, options, ({ params, ...request }) =>
      this.#transport.api.GET('/api/emails/{id}/html', {
        ...request,
        params: { ...params, query: { remote } },
      }),
    );
    // The service sends a document only to a request that accepts one.
    return safe as SafeHtml;
  }

  /** The message as it was sent or received. */
  async raw(id: string, options: RequestOptions = {}): Promise<Download> {
    const params = { path: { id: segment('id', id) } };
    const { response } = await this.#transport.answer({ ...options, repeatable: true }, (attempt) =>
      this.#transport.api.GET('/api/emails/{id}/raw', { ...attempt, params, parseAs: 'stream' }),
    );
    return new Download(response);
  }

  /** Previews a reply, a reply to all or a forward: recipients, subject and quote. */
  async previewReply(
    id: string,
    query: ReplyPreviewOptions = {},
    options: RequestOptions = {},
  ): Promise<ReplyPreview> {
    const { api } = this.#transport;
    return this.#json(true, { id: segment('id', id) }, options, (request) =>
      api.GET('/api/emails/{id}/reply', {
        ...request,
        params: { ...request.params, query: plain<QueryOf<'previewReply'>>(query) },
      }),
    );
  }

  /** Answers the email's writer; the service fills in recipients, subject, thread and quote. Never sends twice, like `send`. */
  reply(id: string, message: ReplyMessage, options: SendOptions = {}): Promise<SendResult> {
    return sendMessage(this.#transport, message, options, this.#post('reply', id));
  }

  /** Like `reply`, with the email's other recipients in copy. */
  replyAll(id: string, message: ReplyMessage, options: SendOptions = {}): Promise<SendResult> {
    return sendMessage(this.#transport, message, options, this.#post('reply-all', id));
  }

  /** Forwards the email to others, with its files. */
  forward(id: string, message: ForwardMessage, options: SendOptions = {}): Promise<SendResult> {
    return sendMessage(this.#transport, message, options, this.#post('forward', id));
  }

  /** Accepts or declines the invitation in the email. Never sends twice, like `send`; a later answer replaces an earlier one. */
  answerInvitation(id: string, answer: InvitationAnswer, options: SendOptions = {}): Promise<SendResult> {
    return sendMessage(this.#transport, answer, options, this.#post('invitation-answer', id));
  }

  /** The email that `reply` would send; nothing is sent. Also for `replyAll`, `forward` and `answerInvitation`: */
  async checkReply(id: string, message: ReplyMessage, options: CheckOptions = {}): Promise<CheckedSend> {
    return checkMessage(this.#transport, message, options, this.#post('reply', id));
  }

  async checkReplyAll(id: string, message: ReplyMessage, options: CheckOptions = {}): Promise<CheckedSend> {
    return checkMessage(this.#transport, message, options, this.#post('reply-all', id));
  }

  async checkForward(id: string, message: ForwardMessage, options: CheckOptions = {}): Promise<CheckedSend> {
    return checkMessage(this.#transport, message, options, this.#post('forward', id));
  }

  async checkInvitationAnswer(
    id: string,
    answer: InvitationAnswer,
    options: CheckOptions = {},
  ): Promise<CheckedSend> {
    return checkMessage(this.#transport, answer, options, this.#post('invitation-answer', id));
  }

  #post(kind: 'reply' | 'reply-all' | 'forward' | 'invitation-answer', id: string): PostSend {
    const path = { id: segment('id', id) };
    return (init) =>
      this.#transport.api.POST(`/api/emails/{id}/${kind}`, {
        ...init,
        params: { ...init.params, path },
      } as never);
  }

  /**
   * Changes a waiting send: its time or its content. Fields that are not given keep their values. Fails with `email_changed` when the email
   * has another version (`send_version`) than this one; not retried automatically, since a repeat would fail that way.
   */
  async change(
    id: string,
    version: number,
    change: SendChange,
    options: RequestOptions = {},
  ): Promise<EmailDetail> {
    const { attachments, ...fields } = change;
    const files = attachments ? await Promise.all(attachments.map(encodeAttachment)) : attachments;
    const body = plain<Schemas['SendChangeRequest']>({
      ...fields,
      ...(files === undefined ? {} : { attachments: files }),
    } as never);
    return this.#transport.json({ ...options, repeatable: false }, (attempt) =>
      this.#transport.api.PATCH('/api/emails/{id}', {
        ...attempt,
        params: { path: { id: segment('id', id) }, header: { 'If-Match': `"${version}"` } },
        body,
      }),
    );
  }

  /** Takes a queued or deferred email out of the queue. Not retried: after a lost answer, `get` shows the state. */
  async cancel(id: string, options: RequestOptions = {}): Promise<SendState> {
    const { api } = this.#transport;
    return this.#json(false, { id: segment('id', id) }, options, (request) =>
      api.POST('/api/emails/{id}/cancel', request),
    );
  }

  /** Tries now to store a copy that is not in the Sent mailbox yet. Not retried, like `cancel`. */
  async retrySentCopy(id: string, options: RequestOptions = {}): Promise<SentCopy> {
    const { api } = this.#transport;
    return this.#json(false, { id: segment('id', id) }, options, (request) =>
      api.POST('/api/emails/{id}/sent-copy/retry', request),
    );
  }

  /** Deletes an email for ever, with its files. Not retried automatically, like `cancel`; a second call finds nothing. */
  async delete(id: string, options: RequestOptions = {}): Promise<DeletedEmails> {
    const { api } = this.#transport;
    return this.#json(false, { id: segment('id', id) }, options, (request) =>
      api.DELETE('/api/emails/{id}', request),
    );
  }

  /** Throws what `delete` would throw; nothing is deleted. */
  async checkDelete(id: string, options: RequestOptions = {}): Promise<DeletedEmails> {
    return this.#json(true, { id: segment('id', id) }, options, ({ params, ...request }) =>
      this.#transport.api.DELETE('/api/emails/{id}', {
        ...request,
        params: { ...params, query: { dry_run: true } },
      }),
    );
  }

  /** Sends a failed, cancelled or unknown email again, or a deferred one now. Not retried automatically, like `cancel`. */
  async retry(id: string, options: RequestOptions = {}): Promise<SendState> {
    const { api } = this.#transport;
    return this.#json(false, { id: segment('id', id) }, options, (request) =>
      api.POST('/api/emails/{id}/retry', request),
    );
  }

  /** Decides the outcome of an email whose outcome is unknown. Not retried automatically, like `cancel`. */
  async resolve(id: string, request: ResolveRequest, options: RequestOptions = {}): Promise<SendState> {
    const body = plain<Schemas['ResolveRequest']>(request);
    const { api } = this.#transport;
    return this.#json(false, { id: segment('id', id) }, options, (init) =>
      api.POST('/api/emails/{id}/resolve', { ...init, body }),
    );
  }

  /** The reason why the email is in its thread. */
  async placement(id: string, options: RequestOptions = {}): Promise<ExplainedPlacement> {
    const { api } = this.#transport;
    return this.#json(true, { id: segment('id', id) }, options, (request) =>
      api.GET('/api/emails/{id}/placement', request),
    );
  }

  /** A message with the identity of this email but other content. */
  async variant(id: string, variantId: string, options: RequestOptions = {}): Promise<VariantDetail> {
    const { api } = this.#transport;
    return this.#json(true, toVariantPath(id, variantId), options, (request) =>
      api.GET('/api/emails/{id}/variants/{variantId}', request),
    );
  }

  async rawVariant(id: string, variantId: string, options: RequestOptions = {}): Promise<Download> {
    const params = { path: toVariantPath(id, variantId) };
    const { response } = await this.#transport.answer({ ...options, repeatable: true }, (attempt) =>
      this.#transport.api.GET('/api/emails/{id}/variants/{variantId}/raw', {
        ...attempt,
        params,
        parseAs: 'stream',
      }),
    );
    return new Download(response);
  }

  #json<Params, Data>(
    repeatable: boolean,
    path: Params,
    options: RequestOptions,
    request: (init: Attempt & Path<Params>) => Promise<{ data?: Data; response: Response }>,
  ): Promise<NonNullable<Data>> {
    return this.#transport.json({ ...options, repeatable }, (attempt) =>
      request({ ...attempt, params: { path } }),
    );
  }
}

const toVariantPath = (id: string, variantId: string) => ({
  id: segment('id', id),
  variantId: segment('variantId', variantId),
});
