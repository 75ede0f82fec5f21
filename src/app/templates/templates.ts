/** Creates, changes and reads templates. */
import { naming, ServiceError } from '../../core/errors.ts';
import { textTokens } from '../../core/mime/compose/header.ts';
import type { TemplateContent } from '../../core/templates/template.ts';
import type { IdSource } from '../base/basics.ts';
import { PLACE_CURSOR, readPage } from '../base/paging.ts';
import { checkTemplate, fillTemplate, findTemplate, type TemplateReadingPorts } from './fill-template.ts';
import type { TemplateRefusal, TemplateStore } from './template-ports.ts';
import type { TemplateUseCases } from './use-cases.ts';
import { isStorable } from '../../core/storable-text.ts';

export interface TemplatePorts extends TemplateReadingPorts {
  readonly templates: TemplateStore;
  readonly ids: IdSource;
}

export function createTemplates(ports: TemplatePorts): TemplateUseCases {
  const { templates, ids } = ports;
  return {
    async createTemplate({ authorKeyId, ...template }) {
      refuseUnusable(template);
      const variables = await checkTemplate(ports, template, authorKeyId);
      const id = ids.uuid();
      await naming(id, templates.create({ ...template, id, variables }));
      return await naming(id, findTemplate(templates, { id, version: 1 }), true);
    },

    readTemplate: (id, version) => findTemplate(templates, { id, version }),

    async listTemplates({ cursor, limit, ...filter }) {
      const { items, nextCursor } = await readPage(
        PLACE_CURSOR,
        { cursor, limit },
        (after, most) => templates.list(filter, after, most),
        ({ updatedAt: date, id }) => ({ date, id }),
      );
      return { templates: items, nextCursor };
    },

    async changeTemplate(id, version, change, authorKeyId) {
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
        variables: await checkTemplate(ports, changed, authorKeyId),
      });
      if (result.kind !== 'done') throw refusal(result);
      return findTemplate(templates, { id, version: version + 1 });
    },

    async deleteTemplate(id, version) {
      const result = await templates.delete(id, version);
      if (result.kind !== 'done') throw refusal(result);
    },

    async previewTemplate(use) {
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
