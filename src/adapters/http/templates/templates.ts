/**
 * Templates: POST and GET of /api/templates; GET, PATCH and DELETE of /api/templates/{id}; POST /api/templates/{id}/preview.
 */
import type { FastifyReply } from 'fastify';
import type { XStatic } from 'typebox/schema';
import type { Template as TemplateOf, TemplateSummary } from '../../../app/templates/template-ports.ts';
import type { TemplateChange } from '../../../app/templates/use-cases.ts';
import type { ErrorCode } from '../../../core/errors.ts';
import {
  MAX_TEMPLATE_BODY_CHARS,
  MAX_TEMPLATE_NAME_CHARS,
  MAX_TEMPLATE_SUBJECT_CHARS,
  MAX_TEMPLATE_VERSION,
  MAX_VARIABLES_BYTES,
} from '../../../core/templates/limits.ts';
import { ONE_LINE_PATTERN } from '../../../core/one-line.ts';
import type { HttpContext, HttpServer } from '../answers/context.ts';
import { ifMatch, requiredVersion, wantedVersion } from '../answers/entity-tag.ts';
import { JSON_BODY_ERRORS, optionalJsonBody, smallJsonBody } from '../body/json-body.ts';
import { errorResponses } from '../../../platform/schemas/error-schemas.ts';
import {
  ACCOUNT_PAGE_ERRORS,
  NullableAccountId,
  AccountPageQuery,
  pageSchema,
  toAccountPage,
} from '../../../platform/schemas/page-schemas.ts';
import { jsonResponse, record, Timestamp, Uuid } from '../../../platform/schemas/schemas.ts';

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

const Deleted = record('DeletedTemplate', { template_id: Uuid, deleted_at: Timestamp });

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

const TemplateParams = {
  type: 'object',
  required: ['id'],
  properties: { id: { ...Uuid, description: 'The template.' } },
} as const;

const VersionQuery = {
  type: 'object',
  additionalProperties: false,
  properties: { version: { ...Version, description: 'Default: the newest version.' } },
} as const;

const ETAG = {
  ETag: { type: 'string', description: 'The newest version in quotes, for `If-Match`.' },
} as const;

const FAULTS = [
  'header_injection',
  'invalid_text',
  'template_invalid',
  'template_too_complex',
  'busy',
  'reading_unavailable',
] as const satisfies readonly ErrorCode[];

const CHANGE_ERRORS = [
  ...JSON_BODY_ERRORS,
  ...FAULTS,
  'missing_body',
  'unauthorized',
  'database_unavailable',
] as const satisfies readonly ErrorCode[];

export function registerTemplateRoutes(
  app: HttpServer,
  { applicationFor, operationsFor, limits, clock }: HttpContext,
): void {
  app.post(
    '/api/templates',
    {
      schema: {
        operationId: 'createTemplate',
        right: 'operate',
        tags: ['Templates'],
        summary: 'Create a template',
        description:
          'Stores a template for later sends. Invalid Liquid is refused; `details` has line, column and cause.',
        body: TemplateBody,
        response: {
          200: jsonResponse('Its first version.', Template, ETAG),
          ...errorResponses(...CHANGE_ERRORS, 'unknown_account'),
        },
      },
      preValidation: smallJsonBody(limits, MAX_TEMPLATE_BYTES),
    },
    async (request, reply) => {
      const { account_id: accountId = null, name, subject, text_body, html_body } = request.body;
      const made = await operationsFor(request).createTemplate({
        accountId,
        name,
        subject,
        textBody: text_body ?? null,
        htmlBody: html_body ?? null,
      });
      return answerTemplate(reply, made);
    },
  );

  app.get(
    '/api/templates',
    {
      schema: {
        operationId: 'listTemplates',
        right: 'read',
        tags: ['Templates'],
        summary: 'List templates',
        description:
          'Most recently changed first. With `account_id` the templates of that account and those of all accounts.',
        querystring: AccountPageQuery,
        response: { 200: jsonResponse('One page.', Templates), ...errorResponses(...ACCOUNT_PAGE_ERRORS) },
      },
    },
    async (request) => {
      const { templates, nextCursor } = await applicationFor(request).listTemplates(
        toAccountPage(request.query),
      );
      return { templates: templates.map(toSummaryJson), next_cursor: nextCursor };
    },
  );

  app.get(
    '/api/templates/:id',
    {
      schema: {
        operationId: 'getTemplate',
        right: 'read',
        tags: ['Templates'],
        summary: 'Read a template',
        description: 'The newest version, or the given version.',
        params: TemplateParams,
        querystring: VersionQuery,
        response: {
          200: jsonResponse('The version.', Template, ETAG),
          ...errorResponses(
            'invalid_request',
            'invalid_uuid',
            'unauthorized',
            'template_not_found',
            'database_unavailable',
          ),
        },
      },
    },
    async (request, reply) => {
      const { id } = request.params;
      const { version = null } = request.query;
      return answerTemplate(reply, await applicationFor(request).readTemplate(id.toLowerCase(), version));
    },
  );

  app.patch(
    '/api/templates/:id',
    {
      schema: {
        operationId: 'changeTemplate',
        // The answer shows what was stored before.
        right: ['read', 'operate'],
        tags: ['Templates'],
        summary: 'Change a template',
        description:
          'Creates a new version, unless all values are equal; earlier versions stay and can be used by sends. Absent fields ' +
          'stay unchanged; null removes a body. When another change came first, the response is 412 and `details` has the ' +
          'newest version.',
        params: TemplateParams,
        headers: { type: 'object', properties: ifMatch('The newest version, such as `"3"`. Required.') },
        body: ChangeBody,
        response: {
          200: jsonResponse('The new version.', Template, ETAG),
          ...errorResponses(
            ...CHANGE_ERRORS,
            'invalid_uuid',
            'template_not_found',
            'template_changed',
            'version_required',
          ),
        },
      },
      preValidation: smallJsonBody(limits, MAX_TEMPLATE_BYTES),
    },
    async (request, reply) => {
      const { name, subject, text_body, html_body } = request.body;
      const change: TemplateChange = {
        ...(name === undefined ? {} : { name }),
        ...(subject === undefined ? {} : { subject }),
        ...(text_body === undefined ? {} : { textBody: text_body }),
        ...(html_body === undefined ? {} : { htmlBody: html_body }),
      };
      const version = requiredVersion(request.headers['if-match']);
      return answerTemplate(
        reply,
        await operationsFor(request).changeTemplate(request.params.id.toLowerCase(), version, change),
      );
    },
  );

  app.delete(
    '/api/templates/:id',
    {
      schema: {
        operationId: 'deleteTemplate',
        right: 'operate',
        tags: ['Templates'],
        summary: 'Delete a template',
        description:
          'Deletes all versions. Emails made from the template, also scheduled ones, stay unchanged. Needs no body; a body with ' +
          'fields is refused.',
        params: TemplateParams,
        headers: {
          type: 'object',
          properties: ifMatch('Only when this is the newest version. Absent: any version.'),
        },
        response: {
          200: jsonResponse('Deleted.', Deleted),
          ...errorResponses(
            ...JSON_BODY_ERRORS,
            'invalid_uuid',
            'unauthorized',
            'template_not_found',
            'template_changed',
            'version_required',
            'database_unavailable',
          ),
        },
      },
      preValidation: optionalJsonBody(limits),
    },
    async (request) => {
      const id = request.params.id.toLowerCase();
      await operationsFor(request).deleteTemplate(id, wantedVersion(request.headers['if-match']));
      return { template_id: id, deleted_at: clock().toISOString() };
    },
  );

  app.post(
    '/api/templates/:id/preview',
    {
      schema: {
        operationId: 'previewTemplate',
        right: 'read',
        tags: ['Templates'],
        summary: 'Preview a template',
        description: 'Renders the template; nothing is sent. A missing variable is an error that names it.',
        params: TemplateParams,
        body: PreviewBody,
        response: {
          200: jsonResponse('Subject and bodies.', Preview),
          ...errorResponses(
            ...JSON_BODY_ERRORS,
            ...FAULTS,
            'template_variable_missing',
            'template_empty',
            'variables_too_large',
            'invalid_uuid',
            'unauthorized',
            'template_not_found',
            'database_unavailable',
          ),
        },
      },
      preValidation: optionalJsonBody(limits, MAX_PREVIEW_BYTES),
    },
    async (request) => {
      const { version = null, variables = {} } = request.body;
      const id = request.params.id.toLowerCase();
      const preview = await applicationFor(request).previewTemplate({ id, version, variables });
      return {
        version: preview.version,
        subject: preview.subject,
        text_body: preview.textBody,
        html_body: preview.htmlBody,
      };
    },
  );
}

function answerTemplate(reply: FastifyReply, template: TemplateOf): XStatic<typeof Template> {
  reply.header('etag', `"${template.latestVersion}"`);
  return {
    ...toSummaryJson(template),
    version: template.version,
    text_body: template.textBody,
    html_body: template.htmlBody,
    variables: [...template.variables],
  };
}

function toSummaryJson(template: TemplateSummary) {
  return {
    id: template.id,
    account_id: template.accountId,
    latest_version: template.latestVersion,
    name: template.name,
    subject: template.subject,
    created_at: template.createdAt.toISOString(),
    updated_at: template.updatedAt.toISOString(),
  };
}
