/** The use cases of templates that the edges call. */
import type { TemplateContent } from '../../core/templates/template.ts';
import type { AccountFilter } from '../base/account-filter.ts';
import type { PageRequest } from '../base/paging.ts';
import type { Template, TemplateSummary } from './template-ports.ts';

/** JSON values. */
export type Variables = Readonly<Record<string, unknown>>;

/** The template that an email is made from. JSON values only. */
export interface TemplateUse {
  readonly id: string;
  /** null: the newest. */
  readonly version: number | null;
  readonly variables: Variables;
  /** The key that asks; absent or null: a secret. */
  readonly authorKeyId?: string | null;
}

export interface NewTemplate extends TemplateContent {
  /** null: any account may use it. */
  readonly accountId: string | null;
  readonly name: string;
  /** The key that asks; absent or null: a secret. */
  readonly authorKeyId?: string | null;
}

/** Absent fields stay as they are; null removes a body. */
export type TemplateChange = Partial<Omit<NewTemplate, 'accountId' | 'authorKeyId'>>;

export interface TemplatesRequest extends AccountFilter, PageRequest {}

export interface TemplatesPage {
  readonly templates: readonly TemplateSummary[];
  /** null on the last page. */
  readonly nextCursor: string | null;
}

/**
 * Faults of a template, or of its variables, are thrown as `template_invalid`, `template_variable_missing`,
 * `template_too_complex`, `template_empty`, `variables_too_large`, `header_injection` or `invalid_text`; `rate_limited` when very many
 * requests of the same key wait.
 */
export interface TemplateUseCases {
  /** Throws `missing_body`, `unknown_account`, and the faults of the template. */
  createTemplate(template: NewTemplate): Promise<Template>;
  /** Throws `template_not_found`. @param version null: the newest */
  readTemplate(id: string, version: number | null): Promise<Template>;
  /** Throws `invalid_cursor`, `unknown_account`. */
  listTemplates(request: TemplatesRequest): Promise<TemplatesPage>;
  /**
   * Makes a new version. Throws `template_not_found`, `template_changed`, `missing_body`, and the faults of the template.
   */
  changeTemplate(
    id: string,
    version: number,
    change: TemplateChange,
    authorKeyId?: string | null,
  ): Promise<Template>;
  /** Emails made from it stay as they are. Throws `template_not_found`, `template_changed`. */
  deleteTemplate(id: string, version: number | null): Promise<void>;
  /** The content that an email would have. Throws `template_not_found`, and the faults of the template. */
  previewTemplate(use: TemplateUse): Promise<TemplateContent & { readonly version: number }>;
}
