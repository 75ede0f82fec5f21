/** `client.templates` */
import type { RequestOptions } from '../options.ts';
import type { Pages } from '../pages.ts';
import { plain, segment, type Transport } from '../transport.ts';
import type {
  DeletedTemplate,
  QueryOf,
  Template,
  TemplateChange,
  TemplateFilter,
  TemplatePreview,
  TemplatePreviewRequest,
  TemplateRequest,
  TemplateSummary,
} from '../types.ts';

/** What emails are made of: a send names one as `template_id`, with `variables`. */
export class Templates {
  readonly #transport: Transport;

  /** @internal */
  constructor(transport: Transport) {
    this.#transport = transport;
  }

  /** Not retried by itself: a repeat would make another template. */
  create(request: TemplateRequest, options: RequestOptions = {}): Promise<Template> {
    return this.#transport.json({ ...options, repeatable: false }, (attempt) =>
      this.#transport.api.POST('/api/templates', { ...attempt, body: plain(request) }),
    );
  }

  /** The last changed first. */
  list(filter: TemplateFilter = {}, options: RequestOptions = {}): Pages<TemplateSummary> {
    return this.#transport.pages(
      filter,
      options,
      (attempt, query: QueryOf<'listTemplates'>) =>
        this.#transport.api.GET('/api/templates', { ...attempt, params: { query } }),
      (data) => data.templates,
    );
  }

  /** The newest version, or another one. */
  async get(
    id: string,
    options: RequestOptions & { readonly version?: number | undefined } = {},
  ): Promise<Template> {
    const path = { id: segment('id', id) };
    const { version, ...others } = options;
    const query = version === undefined ? {} : { version };
    return this.#transport.json({ ...others, repeatable: true }, (attempt) =>
      this.#transport.api.GET('/api/templates/{id}', { ...attempt, params: { path, query } }),
    );
  }

  /**
   * A new version; what is not named stays. Fails with `template_changed` when the newest version is not this one; not retried by
   * itself, since that is what a repeat would find.
   */
  async change(
    id: string,
    version: number,
    request: TemplateChange,
    options: RequestOptions = {},
  ): Promise<Template> {
    const path = { id: segment('id', id) };
    return this.#transport.json({ ...options, repeatable: false }, (attempt) =>
      this.#transport.api.PATCH('/api/templates/{id}', {
        ...attempt,
        params: { path, header: { 'If-Match': `"${version}"` } },
        body: plain(request),
      }),
    );
  }

  /** With all versions; emails that were made of it stay. */
  async delete(id: string, options: RequestOptions = {}): Promise<DeletedTemplate> {
    const path = { id: segment('id', id) };
    return this.#transport.json({ ...options, repeatable: false }, (attempt) =>
      this.#transport.api.DELETE('/api/templates/{id}', { ...attempt, params: { path } }),
    );
  }

  /** What an email would say. */
  async preview(
    id: string,
    request: TemplatePreviewRequest = {},
    options: RequestOptions = {},
  ): Promise<TemplatePreview> {
    const path = { id: segment('id', id) };
    return this.#transport.json({ ...options, repeatable: true }, (attempt) =>
      this.#transport.api.POST('/api/templates/{id}/preview', {
        ...attempt,
        params: { path },
        body: plain(request),
      }),
    );
  }
}
