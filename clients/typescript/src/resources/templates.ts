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

/** Templates for emails: a send names one as `template_id`, with `variables`. */
export class Templates {
  readonly #transport: Transport;

  /** @internal */
  constructor(transport: Transport) {
    this.#transport = transport;
  }

  /** Not retried automatically: a repeat would make another template. */
  create(request: TemplateRequest, options: RequestOptions = {}): Promise<Template> {
    return this.#transport.json({ ...options, repeatable: false }, (attempt) =>
      this.#transport.api.POST('/api/templates', { ...attempt, body: plain(request) }),
    );
  }

  /** Last changed first. */
  list(filter: TemplateFilter = {}, options: RequestOptions = {}): Pages<TemplateSummary> {
    return this.#transport.pages(
      filter,
      options,
      (attempt, query: QueryOf<'listTemplates'>) =>
        this.#transport.api.GET('/api/templates', { ...attempt, params: { query } }),
      (data) => data.templates,
    );
  }

  /** The newest version, or the one asked for. */
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
   * Makes a new version; fields that are not given keep their values. Fails with `template_changed` when the newest version is not this
   * one; not retried automatically, since a repeat would fail that way.
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

  /** Deletes all versions; emails made from the template stay. */
  async delete(id: string, options: RequestOptions = {}): Promise<DeletedTemplate> {
    const path = { id: segment('id', id) };
    return this.#transport.json({ ...options, repeatable: false }, (attempt) =>
      this.#transport.api.DELETE('/api/templates/{id}', { ...attempt, params: { path } }),
    );
  }

  /** Shows the email that the template would give. */
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
