/** Templates in the API: /api/templates. */
import type { ErrorCode } from '../../core/error-registry.ts';
import { ONE_LINE_PATTERN } from '../../core/one-line.ts';
import {
  MAX_TEMPLATE_BODY_CHARS,
  MAX_TEMPLATE_NAME_CHARS,
  MAX_TEMPLATE_SUBJECT_CHARS,
  MAX_TEMPLATE_VERSION,
  MAX_VARIABLES_BYTES,
} from '../../core/templates/limits.ts';
import { operationsWith, type ActFields } from '../../platform/operation/declaration.ts';
import {
  NullableAccountId,
  PAGE_PARAMETERS,
  AccountId,
  pageSchema,
} from '../../platform/schemas/page-schemas.ts';
import { record, Timestamp, Uuid } from '../../platform/schemas/schemas.ts';
import type { Clock } from '../../platform/base/basics.ts';
import type { Template as StoredTemplate } from './template-ports.ts';
import type { Templates as TemplatesOf } from './templates.ts';

/** Texts, HTML and subject at their maximum length, with each UTF-16 unit written as `\uXXXX` in JSON. */
const MAX_TEMPLATE_BYTES =
  6 * (2 * MAX_TEMPLATE_BODY_CHARS + MAX_TEMPLATE_SUBJECT_CHARS + MAX_TEMPLATE_NAME_CHARS) + 1024;

/** Variables at their maximum size, and the version; the use case refuses variables that are too large. */
const MAX_PREVIEW_BYTES = 2 * MAX_VARIABLES_BYTES;

const Version = {
  title: 'TemplateVersion',
  $comment: 'Version, starting at 1. Every change creates a new version; versions are immutable.',
  type: 'integer',
  minimum: 1,
  maximum: MAX_TEMPLATE_VERSION,
} as const;

const OwnAccount = {
  ...NullableAccountId,
  description: 'The only account that may use the template; null: any account.',
} as const;

const summary = {
  id: Uuid,
  account_id: OwnAccount,
  latest_version: Version,
  name: { type: 'string', description: 'For people.' },
  subject: { type: 'string', description: 'Liquid.' },
  created_at: Timestamp,
  updated_at: { ...Timestamp, description: 'When the newest version was made.' },
} as const;

const Template = record('Template', {
  ...summary,
  version: Version,
  text_body: { type: ['string', 'null'], description: 'Liquid; null: none.' },
  html_body: { type: ['string', 'null'], description: 'Liquid; values are escaped; null: none.' },
  variables: {
    type: 'array',
    items: { type: 'string' },
    description:
      'Names and paths of the variables that the template uses, as far as known without rendering it.',
  },
});

const Templates = pageSchema('Templates', 'templates', record('TemplateSummary', summary));

const Preview = record('TemplatePreview', {
  version: Version,
  subject: { type: 'string' },
  text_body: { type: ['string', 'null'] },
  html_body: {
    type: ['string', 'null'],
    description: 'Rendered HTML. Show it in a frame without scripts.',
  },
});

const Body = (description: string) =>
  ({ type: ['string', 'null'], minLength: 1, maxLength: MAX_TEMPLATE_BODY_CHARS, description }) as const;

const fields = {
  name: {
    title: 'TemplateName',
    type: 'string',
    minLength: 1,
    maxLength: MAX_TEMPLATE_NAME_CHARS,
    pattern: ONE_LINE_PATTERN,
    $comment: 'For people, in one line.',
  },
  subject: {
    type: 'string',
    minLength: 1,
    maxLength: MAX_TEMPLATE_SUBJECT_CHARS,
    description: 'Liquid, on one line.',
  },
  text_body: Body('Liquid. At least one of `text_body` and `html_body` is required.'),
  html_body: Body('Liquid; values are escaped. At least one of `text_body` and `html_body` is required.'),
} as const;

const TemplateBody = {
  type: 'object',
  title: 'TemplateRequest',
  additionalProperties: false,
  required: ['name', 'subject'],
  properties: {
    ...fields,
    account_id: {
      ...OwnAccount,
      description: 'The only account that may use the template. Default: null, any account.',
    },
  },
} as const;

const ChangeBody = {
  type: 'object',
  title: 'TemplateChange',
  additionalProperties: false,
  properties: fields,
} as const;

const PreviewBody = {
  type: 'object',
  title: 'TemplatePreviewRequest',
  additionalProperties: false,
  properties: {
    version: { ...Version, description: 'Default: the newest version.' },
    variables: {
      type: 'object',
      additionalProperties: true,
      description: `As in a send: any JSON object up to ${MAX_VARIABLES_BYTES} bytes.`,
    },
  },
} as const;

const FAULTS = [
  'header_injection',
  'invalid_text',
  'template_invalid',
  'template_too_complex',
  'busy',
  'reading_unavailable',
] as const satisfies readonly ErrorCode[];

const CHANGE_ERRORS = [...FAULTS, 'missing_body'] as const;

const params = { id: { ...Uuid, description: 'The template.' } } as const;
const version = { ...Version, description: 'Default: the newest version.' } as const;
const tag = 'Templates';

interface Deps {
  readonly templates: TemplatesOf;
  readonly clock: Clock;
}

const operation = operationsWith<Deps>();

const accountOf = async ({ id }: { readonly id: string }, { templates }: Deps) =>
  (await templates.read(id, null)).accountId;

/** Every caller may read those that any account may use; only a caller who sees all accounts changes them. */
const OWN = { of: accountOf, missing: 'template_not_found', shared: 'refused' } as const;

const versionOf = ({ latestVersion }: { readonly latestVersion: number }) => latestVersion;

export const templateOperations = [
  operation({
    id: 'createTemplate',
    method: 'POST',
    path: '/api/templates',
    right: 'operate',
    account: {
      async decide({ accountId = null, ...input }, seen) {
        const isForAll = accountId === null && seen.accounts === null;
        return { ...input, accountId: isForAll ? null : await seen.chosen(accountId) };
      },
    },
    tag,
    summary: 'Create a template',
    description:
      'Stores a template for later sends. Invalid Liquid is refused; `details` has line, column and cause.',
    body: TemplateBody,
    maxBodyBytes: MAX_TEMPLATE_BYTES,
    answer: 'Its first version.',
    creates: true,
    output: Template,
    versionOf,
    errors: CHANGE_ERRORS,
    act: { event: 'template.created', what: ({ name }) => ({ name }), after: actFields },
    run: (caller, { accountId = null, textBody = null, htmlBody = null, ...template }, { templates }) =>
      templates.create(caller, { ...template, accountId, textBody, htmlBody }),
  }),

  operation({
    id: 'listTemplates',
    method: 'GET',
    path: '/api/templates',
    right: 'read',
    account: 'list',
    tag,
    summary: 'List templates',
    description:
      'Most recently changed first. With `account_id` the templates of that account and those of all accounts.',
    query: { account_id: { ...AccountId, description: 'Only of this account.' }, ...PAGE_PARAMETERS },
    answer: 'One page.',
    output: Templates,
    run: (_caller, { accountId = null, within, limit, cursor = null }, { templates }) =>
      templates.list({ accountId, within, limit, cursor }),
  }),

  operation({
    id: 'getTemplate',
    method: 'GET',
    path: '/api/templates/:id',
    right: 'read',
    account: { shown: ({ accountId }) => accountId, missing: 'template_not_found', shared: 'allowed' },
    tag,
    summary: 'Read a template',
    description: 'The newest version, or the given version.',
    params,
    query: { version },
    answer: 'The version.',
    output: Template,
    versionOf,
    run: (_caller, { id, version = null }, { templates }) => templates.read(id, version),
  }),

  operation({
    id: 'changeTemplate',
    method: 'PATCH',
    path: '/api/templates/:id',
    // The answer shows what was stored before.
    right: ['read', 'operate'],
    account: OWN,
    tag,
    summary: 'Change a template',
    description:
      'Creates a new version, unless all values are equal; earlier versions stay and can be used by sends. Absent fields ' +
      'stay unchanged; null removes a body. When another change came first, the response is 412 and `details` has the ' +
      'newest version.',
    params,
    ifMatch: { need: 'required', text: 'The newest version, such as `"3"`. Required.' },
    body: ChangeBody,
    maxBodyBytes: MAX_TEMPLATE_BYTES,
    answer: 'The new version.',
    output: Template,
    versionOf,
    errors: [...CHANGE_ERRORS, 'template_changed'],
    act: {
      event: 'template.changed',
      what: ({ id, version, ...change }) => ({ templateId: id, version, fields: Object.keys(change) }),
      after: actFields,
    },
    run: (caller, { id, version, ...change }, { templates }) => templates.change(caller, id, version, change),
  }),

  operation({
    id: 'deleteTemplate',
    method: 'DELETE',
    path: '/api/templates/:id',
    right: 'operate',
    account: OWN,
    tag,
    summary: 'Delete a template',
    description:
      'Deletes all versions. Emails made from the template, also scheduled ones, stay unchanged. Needs no body; a body with ' +
      'fields is refused.',
    params,
    ifMatch: { need: 'optional', text: 'Only when this is the newest version. Absent: any version.' },
    answer: 'Deleted.',
    output: record('DeletedTemplate', { template_id: Uuid, deleted_at: Timestamp }),
    errors: ['template_changed'],
    act: {
      event: 'template.deleted',
      what: ({ id, version }) => ({ templateId: id, version }),
      after: () => null,
    },
    async run(_caller, { id, version }, { templates, clock }) {
      await templates.delete(id, version);
      return { templateId: id, deletedAt: clock() };
    },
  }),

  operation({
    id: 'previewTemplate',
    method: 'POST',
    path: '/api/templates/:id/preview',
    right: 'read',
    account: { of: accountOf, missing: 'template_not_found', shared: 'allowed' },
    tag,
    summary: 'Preview a template',
    description: 'Renders the template; nothing is sent. A missing variable is an error that names it.',
    params,
    body: PreviewBody,
    bodyOptional: true,
    maxBodyBytes: MAX_PREVIEW_BYTES,
    answer: 'Subject and bodies.',
    output: Preview,
    errors: [...FAULTS, 'template_variable_missing', 'template_empty', 'variables_too_large'],
    run: (caller, { id, version = null, variables = {} }, { templates }) =>
      templates.preview(caller, { id, version, variables }),
  }),
];

/** Without its content. */
function actFields({
  id,
  accountId,
  name,
  version,
}: Pick<StoredTemplate, 'id' | 'accountId' | 'name' | 'version'>): ActFields {
  return { id, accountId, name, version };
}
