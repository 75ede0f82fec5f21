/** Makes the content of an email from a template and its variables. Both may be hostile, so a reading process does it. */
import { invalidRequest, ServiceError } from '../../core/errors.ts';
import { textTokens } from '../../core/mime/compose/header.ts';
import { MAX_VARIABLES_BYTES } from '../../core/templates/limits.ts';
import type { TemplateContent, TemplateFault } from '../../core/templates/template.ts';
import type { Logger } from '../../platform/base/basics.ts';
import {
  askerOf,
  type MessageReader,
  type ReadingKind,
  type Readings,
} from '../../platform/reading/reading-ports.ts';
import type { Template, TemplateStore, TemplateUse, Variables } from './template-ports.ts';

export interface TemplateReadingPorts {
  readonly reader: MessageReader;
  readonly logger: Logger;
}

export interface FillTemplatePorts extends TemplateReadingPorts {
  readonly templates: Pick<TemplateStore, 'read'>;
}

/** Throws `template_not_found`, also for a template of another account, and the faults of the template. */
export type FillTemplate = (use: TemplateUse, accountId: string) => Promise<TemplateContent>;

export function createFillTemplate(ports: FillTemplatePorts): FillTemplate {
  return async (use, accountId) => {
    const template = await findTemplate(ports.templates, use);
    if (template.accountId !== null && template.accountId !== accountId) {
      throw new ServiceError('template_not_found');
    }
    return fillTemplate(ports, template, use);
  };
}

/** Throws `template_not_found`. */
export async function findTemplate(
  templates: Pick<TemplateStore, 'read'>,
  { id, version }: Pick<TemplateUse, 'id' | 'version'>,
): Promise<Template> {
  const template = await templates.read(id, version);
  if (template === null) throw new ServiceError('template_not_found');
  return template;
}

/** Throws the faults of the template, or of the variables. */
export async function fillTemplate(
  ports: TemplateReadingPorts,
  { subject, textBody, htmlBody, variables: used }: Pick<Template, keyof TemplateContent | 'variables'>,
  { variables, authorKeyId }: Pick<TemplateUse, 'variables' | 'authorKeyId'>,
): Promise<TemplateContent> {
  const json = toJson(variables);
  refuseUnused(variables, used);
  const content = { subject, textBody, htmlBody };
  const result = await readTemplate(ports, 'template', { content, variables: json }, authorKeyId);
  if (result.kind !== 'filled') throw toError(result);
  // A variable must not add a header.
  textTokens(result.content.subject, 'subject');
  return result.content;
}

/** The variables that an email has to give. Throws the faults of the template. */
export async function checkTemplate(
  ports: TemplateReadingPorts,
  { subject, textBody, htmlBody }: TemplateContent,
  authorKeyId: string | null | undefined,
): Promise<readonly string[]> {
  const result = await readTemplate(ports, 'templateCheck', { subject, textBody, htmlBody }, authorKeyId);
  if (result.kind !== 'valid') throw toError(result);
  return result.variables;
}

/** The first part of a path such as `order.number` or `lines[0].title`. */
const HEAD = /^[^.[]+/;

/** Throws `invalid_request` for a variable that the template does not name: it is misspelt, or meant for another template. */
function refuseUnused(variables: Variables, used: readonly string[]): void {
  const heads = new Set(used.map((path) => HEAD.exec(path)?.[0]));
  // A path that begins with a bracket may name anything.
  if (heads.has(undefined)) return;
  const unused = Object.keys(variables).find((name) => !heads.has(name));
  if (unused !== undefined) throw invalidRequest('not_in_template', { field: `variables.${unused}` });
}

/** Throws `variables_too_large`. */
function toJson(variables: Variables): string {
  const tooLarge = (cause?: unknown) =>
    new ServiceError('variables_too_large', { values: { limit: MAX_VARIABLES_BYTES }, cause });
  let json: string;
  try {
    json = JSON.stringify(variables);
  } catch (error) {
    // Nested deeper than the stack allows.
    if (error instanceof RangeError) throw tooLarge(error);
    throw error;
  }
  if (Buffer.byteLength(json) > MAX_VARIABLES_BYTES) throw tooLarge();
  return json;
}

async function readTemplate<K extends ReadingKind & ('template' | 'templateCheck')>(
  { reader, logger }: TemplateReadingPorts,
  kind: K,
  asked: Readings[K]['asked'],
  authorKeyId: string | null | undefined,
): Promise<Readings[K]['given'] | TemplateFault> {
  const result = await reader.read(kind, asked, askerOf(authorKeyId));
  if (result.kind === 'read') return result.value;
  const { reason, detail } = result;
  // The template engine's own bounds stop nearly all excess; the process's limits of time and memory stop the rest.
  if (reason !== 'crash') return { kind: 'too_much', field: null };
  logger.error({ reason, detail }, 'a template could not be rendered');
  throw new ServiceError('internal_error', { cause: new Error(detail) });
}

function toError(fault: TemplateFault): ServiceError {
  switch (fault.kind) {
    case 'missing_variable': {
      const { variable, field, line } = fault;
      return new ServiceError('template_variable_missing', { values: { variable, field, line } });
    }
    case 'invalid': {
      const { detail, field, line, column } = fault;
      return new ServiceError('template_invalid', { values: { field, line, column }, details: detail });
    }
    case 'too_much':
      return new ServiceError('template_too_complex', {
        values: { field: fault.field ?? 'subject, text_body, html_body' },
      });
    case 'empty':
      return new ServiceError('template_empty', { values: { field: fault.field } });
  }
}
