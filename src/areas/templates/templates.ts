/** Creates, changes and reads templates. */
import { naming, ServiceError } from '../../core/errors.ts';
import { keyIdOf, type Caller } from '../../core/keys/caller.ts';
import { textTokens } from '../../core/mime/compose/header.ts';
import type { TemplateContent } from '../../core/templates/template.ts';
import type { AccountFilter } from '../../platform/base/account-filter.ts';
import type { IdSource } from '../../platform/base/basics.ts';
import { PLACE_CURSOR, readPage, type PageRequest } from '../../platform/base/paging.ts';
import { checkTemplate, fillTemplate, findTemplate, type TemplateReadingPorts } from './fill-template.ts';
import type {
  NewTemplate,
  TemplateChange,
  TemplateRefusal,
  TemplateStore,
  TemplateUse,
} from './template-ports.ts';
import { isStorable } from '../../core/storable-text.ts';

export interface TemplatePorts extends TemplateReadingPorts {
  readonly templates: TemplateStore;
  readonly ids: IdSource;
}

export type Templates = ReturnType<typeof createTemplates>;

/**
 * Faults of a template, or of its variables, are thrown as `template_invalid`, `template_variable_missing`,
 * `template_too_complex`, `template_empty`, `variables_too_large`, `header_injection` or `invalid_text`; `rate_limited` when very many
 * requests of the same key wait. All that take an id throw `template_not_found`.
 */
export function createTemplates(ports: TemplatePorts) {
  const { templates, ids } = ports;
  return {
    /** Throws `missing_body`. */
    async create(caller: Caller, template: NewTemplate) {
      refuseUnusable(template);
      const variables = await checkTemplate(ports, template, keyIdOf(caller));
      const id = ids.uuid();
      await naming(id, templates.create({ ...template, id, variables }));
      return await naming(id, findTemplate(templates, { id, version: 1 }), true);
    },

    /** @param version null: the newest */
    read: (id: string, version: number | null) => findTemplate(templates, { id, version }),

    /** Throws `invalid_cursor`. */
    async list({ cursor, limit, ...filter }: AccountFilter & PageRequest) {
      const { items, nextCursor } = await readPage(
        PLACE_CURSOR,
        { cursor, limit },
        (after, most) => templates.list(filter, after, most),
        ({ updatedAt: date, id }) => ({ date, id }),
      );
      return { templates: items, nextCursor };
    },

    /** Makes a new version. Throws `template_changed`, `missing_body`. */
    async change(caller: Caller, id: string, version: number, change: TemplateChange) {
      const old = await findTemplate(templates, { id, version: null });
      if (old.version !== version) throw refusal({ kind: 'changed', version: old.version });
      const { name, subject, textBody, htmlBody } = { ...old, ...change };
      const changed = { id, name, subject, textBody, htmlBody };
      const isSame = Object.entries(change).every(
        ([field, value]) => value === undefined || value === old[field as keyof typeof change],
      );
      if (isSame) return old;
      refuseUnusable(changed);
      const result = await templates.change(version, {
        ...changed,
        variables: await checkTemplate(ports, changed, keyIdOf(caller)),
      });
      if (result.kind !== 'done') throw refusal(result);
      return findTemplate(templates, { id, version: version + 1 });
    },

    /** Emails made from it stay as they are. Throws `template_changed`. */
    async delete(id: string, version: number | null) {
      const result = await templates.delete(id, version);
      if (result.kind !== 'done') throw refusal(result);
    },

    /** The content that an email would have. */
    async preview(caller: Caller, asked: Omit<TemplateUse, 'authorKeyId'>) {
      const use = { ...asked, authorKeyId: keyIdOf(caller) };
      const template = await findTemplate(templates, use);
      const content = await fillTemplate(ports, template, use);
      return { ...content, version: template.version };
    },
  };
}

/** Throws `missing_body`, `header_injection`, `invalid_text`. */
function refuseUnusable({ subject, textBody, htmlBody }: TemplateContent): void {
  if (textBody === null && htmlBody === null) throw new ServiceError('missing_body');
  textTokens(subject, 'subject');
  for (const [field, text] of Object.entries({ text_body: textBody, html_body: htmlBody })) {
    if (text !== null && !isStorable(text)) {
      throw new ServiceError('invalid_text', { values: { field } });
    }
  }
}

function refusal(result: TemplateRefusal): ServiceError {
  return result.kind === 'not_found'
    ? new ServiceError('template_not_found')
    : new ServiceError('template_changed', { details: String(result.version) });
}
