/** `client.drafts` */
import { encodeAttachment } from '../base64.ts';
import { Download } from '../download.ts';
import { refuseUnknownOptions, type RequestOptions } from '../options.ts';
import type { Pages } from '../pages.ts';
import { readResult } from '../send.ts';
import { plain, segment, type Transport } from '../transport.ts';
import { toFileParams, type DownloadOptions } from './attachments.ts';
import type {
  DeletedDraft,
  Draft,
  DraftFilter,
  DraftRequest,
  DraftSummary,
  QueryOf,
  Schemas,
  SendResult,
} from '../types.ts';

/** Emails that are still being written; a person may send them later. */
export class Drafts {
  readonly #transport: Transport;

  /** @internal */
  constructor(transport: Transport) {
    this.#transport = transport;
  }

  /** Not retried automatically: a repeat would make another draft. */
  async create(request: DraftRequest, options: RequestOptions = {}): Promise<Draft> {
    const body = await toBody(request);
    return this.#transport.json({ ...options, repeatable: false }, (attempt) =>
      this.#transport.api.POST('/api/drafts', { ...attempt, body }),
    );
  }

  /** Last changed first. */
  list(filter: DraftFilter = {}, options: RequestOptions = {}): Pages<DraftSummary> {
    return this.#transport.pages(
      filter,
      options,
      (attempt, query: QueryOf<'listDrafts'>) =>
        this.#transport.api.GET('/api/drafts', { ...attempt, params: { query } }),
      (data) => data.drafts,
    );
  }

  async get(id: string, options: RequestOptions = {}): Promise<Draft> {
    const path = { id: segment('id', id) };
    return this.#transport.json({ ...options, repeatable: true }, (attempt) =>
      this.#transport.api.GET('/api/drafts/{id}', { ...attempt, params: { path } }),
    );
  }

  /** A file of a draft, whose name and size are in its `attachments`. */
  async download(id: string, attachmentId: string, options: DownloadOptions = {}): Promise<Download> {
    const path = { id: segment('id', id), attachmentId: segment('attachmentId', attachmentId) };
    const params = { path, ...toFileParams(options) };
    const { response } = await this.#transport.answer({ ...options, repeatable: true }, (attempt) =>
      this.#transport.api.GET('/api/drafts/{id}/attachments/{attachmentId}', {
        ...attempt,
        params,
        parseAs: 'stream',
      }),
    );
    return new Download(response);
  }

  /**
   * Fields that are not given keep their values. Fails with `draft_changed` when the draft has another version than `version`; not retried
   * automatically, since a repeat would fail that way.
   */
  async change(
    id: string,
    version: number,
    request: DraftRequest,
    options: RequestOptions = {},
  ): Promise<Draft> {
    const path = { id: segment('id', id) };
    const body = await toBody(request);
    return this.#transport.json({ ...options, repeatable: false }, (attempt) =>
      this.#transport.api.PATCH('/api/drafts/{id}', {
        ...attempt,
        params: { path, header: { 'If-Match': `"${version}"` } },
        body,
      }),
    );
  }

  async delete(id: string, options: RequestOptions = {}): Promise<DeletedDraft> {
    const path = { id: segment('id', id) };
    return this.#transport.json({ ...options, repeatable: false }, (attempt) =>
      this.#transport.api.DELETE('/api/drafts/{id}', { ...attempt, params: { path } }),
    );
  }

  /**
   * Sends this version once, even when the call is repeated; the draft is then gone.
   *
   * @param options `ifNewest`: the email of the thread that was recorded last, as far as the writer has seen it; with a newer one the
   *   call fails with `thread_has_moved_on`
   */
  async send(
    id: string,
    version: number,
    options: RequestOptions & {
      readonly queue?: boolean | undefined;
      readonly ifNewest?: string | undefined;
    } = {},
  ): Promise<SendResult> {
    const { ifNewest } = options;
    refuseUnknownOptions(options, ['queue', 'ifNewest']);
    const path = { id: segment('id', id) };
    const { data, response } = await this.#transport.answer({ ...options, repeatable: true }, (attempt) =>
      this.#transport.api.POST('/api/drafts/{id}/send', {
        ...attempt,
        params: {
          path,
          header: {
            'If-Match': `"${version}"`,
            ...(options.queue === true ? { Prefer: 'respond-async' } : {}),
          },
        },
        body: ifNewest === undefined ? {} : { if_newest: ifNewest },
      }),
    );
    return readResult(data, response, null);
  }
}

async function toBody({ attachments, ...fields }: DraftRequest): Promise<Schemas['DraftRequest']> {
  const files =
    attachments === undefined || attachments === null
      ? attachments
      : await Promise.all(attachments.map((file) => ('id' in file ? file : encodeAttachment(file))));
  return plain<Schemas['DraftRequest']>({
    ...fields,
    ...(files === undefined ? {} : { attachments: files }),
  } as never);
}
