/** Templates as the database stores them. */
import type { TemplateContent } from '../../core/templates/template.ts';
import type { AccountFilter } from '../../platform/base/account-filter.ts';
import type { Place } from '../../platform/base/paging.ts';

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
}

/** Absent fields stay as they are; null removes a body. */
export type TemplateChange = Partial<Omit<NewTemplate, 'accountId'>>;

/** The fields of a template in lists; those of the newest version. */
export interface TemplateSummary {
  readonly id: string;
  /** null: any account may use it. */
  readonly accountId: string | null;
  readonly latestVersion: number;
  /** For people. */
  readonly name: string;
  readonly subject: string;
  readonly createdAt: Date;
  /** When its newest version was made. */
  readonly updatedAt: Date;
}

/** One version of a template. It never changes. */
export interface Template extends TemplateSummary, TemplateContent {
  /** From 1 to `latestVersion`. */
  readonly version: number;
  /** Names and paths that an email has to give. */
  readonly variables: readonly string[];
}

/** A version to store. */
export interface TemplateRecord extends TemplateContent {
  readonly id: string;
  readonly name: string;
  readonly variables: readonly string[];
}

/** The reason why a template could not be changed. `changed`: it has another version. */
export type TemplateRefusal =
  { readonly kind: 'not_found' } | { readonly kind: 'changed'; readonly version: number };

/** All throw `ServiceError('database_unavailable')`; a change may then have been made nevertheless. */
export interface TemplateStore {
  create(record: TemplateRecord & { readonly accountId: string | null }): Promise<void>;
  /** @param version null: the newest */
  read(id: string, version: number | null): Promise<Template | null>;
  /** The most recently changed first; includes those that any account may use. */
  list(filter: AccountFilter, after: Place | null, limit: number): Promise<readonly TemplateSummary[]>;
  /** Makes the version after this one. */
  change(version: number, record: TemplateRecord): Promise<{ readonly kind: 'done' } | TemplateRefusal>;
  /** Deletes all versions. @param version null: whichever is the newest */
  delete(id: string, version: number | null): Promise<{ readonly kind: 'done' } | TemplateRefusal>;
}
