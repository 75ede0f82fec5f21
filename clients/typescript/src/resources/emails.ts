/** `client.emails` */
import { encodeAttachment } from '../base64.ts';
import { Download } from '../download.ts';
import type { RequestOptions, SendOptions } from '../options.ts';
import type { Pages } from '../pages.ts';
import { sendMessage } from '../send.ts';
import { plain, segment, type Attempt, type Transport } from '../transport.ts';
import type {
  DeletedEmails,
  EmailDetail,
  EmailFilter,
  EmailListing,
  ExplainedPlacement,
  ForwardMessage,
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

/** Single emails, and what operators do with those that were sent. */
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

  /** Newest first; by `state`, or with `q` those that have all the words. */
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
   * The HTML of an email, safe to be shown, with its images at signed addresses; its text in the same form where it has none.
   * `remote: 'allow'` keeps images that are fetched from elsewhere.
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
    // A document is sent only to a request that accepts one.
    return safe as SafeHtml;
  }

  /** The message as it went out or came in. */
  async raw(id: string, options: RequestOptions = {}): Promise<Download> {
    const params = { path: { id: segment('id', id) } };
    const { response } = await this.#transport.answer({ ...options, repeatable: true }, (attempt) =>
      this.#transport.api.GET('/api/emails/{id}/raw', { ...attempt, params, parseAs: 'stream' }),
    );
    return new Download(response);
  }

  /** What a reply, a reply to all or a forward would be: recipients, subject and quote. */
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

  /** Answers its writer; recipients, subject, thread and quote are made by the service. Never sends twice, as `send`. */
  reply(id: string, message: ReplyMessage, options: SendOptions = {}): Promise<SendResult> {
    return this.#answer('reply', id, message, options);
  }

  /** As `reply`, with its other recipients in copy. */
  replyAll(id: string, message: ReplyMessage, options: SendOptions = {}): Promise<SendResult> {
    return this.#answer('reply-all', id, message, options);
  }

  /** Sends it on to others, with its files. */
  forward(id: string, message: ForwardMessage, options: SendOptions = {}): Promise<SendResult> {
    return this.#answer('forward', id, message, options);
  }

  #answer(
    kind: 'reply' | 'reply-all' | 'forward',
    id: string,
    message: ReplyMessage | ForwardMessage,
    options: SendOptions,
  ): Promise<SendResult> {
    const path = { id: segment('id', id) };
    return sendMessage(this.#transport, message, options, (init) =>
      this.#transport.api.POST(`/api/emails/{id}/${kind}`, {
        ...init,
        params: { ...init.params, path },
      } as never),
    );
  }

  /**
   * Changes a send that waits: when it goes out, or what it says. What is not named stays. Fails with `email_changed` when it has another
   * version (`send_version`) than this one; not retried by itself, since that is what a repeat would find.
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

  /** Takes a queued or deferred email out of the queue. Not retried: after a lost answer, `get` tells the state. */
  async cancel(id: string, options: RequestOptions = {}): Promise<SendState> {
    const { api } = this.#transport;
    return this.#json(false, { id: segment('id', id) }, options, (request) =>
      api.POST('/api/emails/{id}/cancel', request),
    );
  }

  /** Has a copy that is not in the Sent mailbox yet tried now. Not retried, as `cancel`. */
  async retrySentCopy(id: string, options: RequestOptions = {}): Promise<SentCopy> {
    const { api } = this.#transport;
    return this.#json(false, { id: segment('id', id) }, options, (request) =>
      api.POST('/api/emails/{id}/sent-copy/retry', request),
    );
  }

  /** Deletes an email for ever, with its files. Not retried by itself, as `cancel`; a second one finds nothing. */
  async delete(id: string, options: RequestOptions = {}): Promise<DeletedEmails> {
    const { api } = this.#transport;
    return this.#json(false, { id: segment('id', id) }, options, (request) =>
      api.DELETE('/api/emails/{id}', request),
    );
  }

  /** Sends a failed, cancelled or unknown email again, or a deferred one now. Not retried by itself, as `cancel`. */
  async retry(id: string, options: RequestOptions = {}): Promise<SendState> {
    const { api } = this.#transport;
    return this.#json(false, { id: segment('id', id) }, options, (request) =>
      api.POST('/api/emails/{id}/retry', request),
    );
  }

  /** Says what became of an email whose outcome is unknown. Not retried by itself, as `cancel`. */
  async resolve(id: string, request: ResolveRequest, options: RequestOptions = {}): Promise<SendState> {
    const body = plain<Schemas['ResolveRequest']>(request);
    const { api } = this.#transport;
    return this.#json(false, { id: segment('id', id) }, options, (init) =>
      api.POST('/api/emails/{id}/resolve', { ...init, body }),
    );
  }

  /** Why the email is in its thread. */
  async placement(id: string, options: RequestOptions = {}): Promise<ExplainedPlacement> {
    const { api } = this.#transport;
    return this.#json(true, { id: segment('id', id) }, options, (request) =>
      api.GET('/api/emails/{id}/placement', request),
    );
  }

  /** A message with the identity of this email that says something else. */
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
