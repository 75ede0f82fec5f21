import { readFile } from 'node:fs/promises';
import { Compile } from 'typebox/schema';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { AUTHORIZED, createTestHttpApp, type TestHttpApp } from '../../../test/helpers/http-app.ts';
import { createRecordingApplication } from '../../../test/helpers/recording-application.ts';
import { ERRORS, type ErrorCode } from '../../core/error-registry.ts';
import { RIGHTS, type Right } from '../../core/keys/rights.ts';
import { JSON_BODY_ERRORS } from '../../platform/http/body/json-body.ts';
import { codesOfIntroduction } from './error-answers.ts';

type Content = Readonly<
  Record<
    string,
    { readonly example?: unknown; readonly examples?: Readonly<Record<string, { value: unknown }>> }
  >
>;

interface Operation {
  readonly summary?: string;
  readonly description?: string;
  readonly operationId?: string;
  readonly security?: readonly object[];
  readonly 'x-rights'?: readonly Right[];
  readonly 'x-any-right'?: readonly Right[];
  readonly 'x-error-codes'?: Readonly<Record<string, readonly ErrorCode[]>>;
  readonly parameters?: readonly {
    readonly name: string;
    readonly example?: unknown;
    readonly schema: object;
  }[];
  readonly requestBody?: { readonly content: Content };
  readonly responses: Readonly<
    Record<string, { readonly description: string; readonly headers?: object; readonly content?: Content }>
  >;
}

interface Document {
  readonly openapi: string;
  readonly security: readonly object[];
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>;
  readonly components: Readonly<Record<string, Readonly<Record<string, unknown>>>>;
}

let app: TestHttpApp;
let document: Document;
/** The same document with everything spelt out. */
let spelt: Document;
beforeAll(async () => {
  app = await createTestHttpApp({ application: createRecordingApplication() });
  document = (await app.fastify.inject('/api/openapi.json')).json<Document>();
  spelt = resolveReferences(document, document) as Document;
});
afterAll(() => app.close());

describe('the OpenAPI document', () => {
  it('is the same as docs/openapi.json (else run npm run build and node scripts/openapi.mjs)', async () => {
    const file = await readFile(new URL('../../../docs/openapi.json', import.meta.url), 'utf8');
    const { 'x-generated-by': generator, ...committed } = JSON.parse(file) as Record<string, unknown>;
    expect(generator).toBe('scripts/openapi.mjs');
    expect(document).toEqual(committed);
  });

  it('has every operation of the service', () => {
    expect(document.openapi).toBe('3.1.0');
    const operations = Object.entries(document.paths).flatMap(([path, methods]) =>
      Object.keys(methods).map((method) => `${method} ${path}`),
    );
    expect(operations.sort()).toEqual([
      'delete /api/accounts/{id}',
      'delete /api/blocked-senders/{id}',
      'delete /api/customer/{customerId}/addresses/{address}',
      'delete /api/drafts/{id}',
      'delete /api/emails/{id}',
      'delete /api/keys/{id}',
      'delete /api/rules/{id}',
      'delete /api/session',
      'delete /api/sessions',
      'delete /api/sessions/{id}',
      'delete /api/suppressions/{address}',
      'delete /api/templates/{id}',
      'delete /api/threads',
      'delete /api/threads/{threadId}',
      'delete /api/unsubscribes/{id}',
      'delete /api/webhooks/{id}',
      'get /api/accounts',
      'get /api/accounts/settings',
      'get /api/accounts/{id}',
      'get /api/accounts/{id}/capture/removal',
      'get /api/addresses',
      'get /api/assignees',
      'get /api/attachments/{id}',
      'get /api/audit',
      'get /api/blocked-senders',
      'get /api/clock',
      'get /api/customer/{customerId}',
      'get /api/customer/{customerId}/addresses',
      'get /api/customer/{customerId}/emails',
      'get /api/customers',
      'get /api/customers/ambiguous',
      'get /api/customers/ambiguous/emails',
      'get /api/drafts',
      'get /api/drafts/{id}',
      'get /api/drafts/{id}/attachments/{attachmentId}',
      'get /api/emails',
      'get /api/emails/{id}',
      'get /api/emails/{id}/html',
      'get /api/emails/{id}/placement',
      'get /api/emails/{id}/raw',
      'get /api/emails/{id}/reply',
      'get /api/emails/{id}/variants/{variantId}',
      'get /api/emails/{id}/variants/{variantId}/raw',
      'get /api/erasures/{id}',
      'get /api/events',
      'get /api/events/latest',
      'get /api/folders',
      'get /api/health',
      'get /api/health/ready',
      'get /api/images/{id}',
      'get /api/imports',
      'get /api/keys',
      'get /api/keys/{id}',
      'get /api/left-out',
      'get /api/openapi.json',
      'get /api/quarantine',
      'get /api/refused-merges',
      'get /api/retention',
      'get /api/rules',
      'get /api/rules/{id}',
      'get /api/session',
      'get /api/sessions',
      'get /api/statistics',
      'get /api/suppressions',
      'get /api/suppressions/{address}',
      'get /api/templates',
      'get /api/templates/{id}',
      'get /api/thread/{threadId}',
      'get /api/threads',
      'get /api/threads/{threadId}',
      'get /api/unsubscribes',
      'get /api/webhooks',
      'get /api/webhooks/{id}',
      'get /api/webhooks/{id}/deliveries',
      'patch /api/accounts/{id}',
      'patch /api/drafts/{id}',
      'patch /api/emails/{id}',
      'patch /api/keys/{id}',
      'patch /api/rules/{id}',
      'patch /api/templates/{id}',
      'patch /api/threads',
      'patch /api/threads/{threadId}',
      'patch /api/webhooks/{id}',
      'post /api/accounts',
      'post /api/accounts/check',
      'post /api/accounts/{id}/capture/preview',
      'post /api/accounts/{id}/capture/removal',
      'post /api/accounts/{id}/capture/removal/stop',
      'post /api/accounts/{id}/consent',
      'post /api/accounts/{id}/pause',
      'post /api/accounts/{id}/resume',
      'post /api/accounts/{id}/resync',
      'post /api/blocked-senders',
      'post /api/clock/confirm',
      'post /api/customer/{customerId}/addresses',
      'post /api/drafts',
      'post /api/drafts/{id}/send',
      'post /api/emails/{id}/cancel',
      'post /api/emails/{id}/forward',
      'post /api/emails/{id}/invitation-answer',
      'post /api/emails/{id}/reply',
      'post /api/emails/{id}/reply-all',
      'post /api/emails/{id}/resolve',
      'post /api/emails/{id}/retry',
      'post /api/emails/{id}/sent-copy/retry',
      'post /api/erasures',
      'post /api/inbound',
      'post /api/keys',
      'post /api/keys/{id}/rotate',
      'post /api/quarantine/{id}/retry',
      'post /api/retention/confirm',
      'post /api/rules',
      'post /api/rules/order',
      'post /api/rules/preview',
      'post /api/send',
      'post /api/send/batch',
      'post /api/session',
      'post /api/templates',
      'post /api/templates/{id}/preview',
      'post /api/thread/{threadId}/merge',
      'post /api/thread/{threadId}/move',
      'post /api/thread/{threadId}/read',
      'post /api/thread/{threadId}/split',
      'post /api/thread/{threadId}/unread',
      'post /api/uploads',
      'post /api/webhooks',
      'post /api/webhooks/{id}/pause',
      'post /api/webhooks/{id}/replay',
      'post /api/webhooks/{id}/resume',
      'post /api/webhooks/{id}/rotate-secret',
      'post /api/webhooks/{id}/test',
      'put /api/customer/{customerId}/addresses',
      'put /api/suppressions/{address}',
    ]);
  });

  it('has schemas that compile: they are compiled at the first request alone', async () => {
    const operations = Object.entries(document.paths).flatMap(([path, methods]) =>
      Object.keys(methods).map((method) => ({ path, method })),
    );
    const failed: string[] = [];
    for (const { path, method } of operations) {
      const answer = await app.fastify.inject({
        method: method.toUpperCase() as 'GET',
        url: `${path.replaceAll(/\{\w+\}/g, 'x')}?no_such_parameter=1`,
        headers: AUTHORIZED,
      });
      if (answer.statusCode >= 500) failed.push(`${method} ${path}: ${answer.body}`);
    }
    expect(failed).toEqual([]);
  });

  it('describes each operation, its security and its errors', () => {
    const ids = new Set<string>();
    for (const [path, methods] of Object.entries(spelt.paths)) {
      for (const operation of Object.values(methods)) {
        expect(operation.summary).toMatch(/\S/);
        expect(operation.description).toMatch(/\S/);
        expect(ids).not.toContain(operation.operationId);
        ids.add(operation.operationId ?? '');
        const open = /^\/api\/(health|openapi|images)/.test(path) || operation.operationId === 'openSession';
        // Any key may manage its own sessions.
        const rightless = open || path.startsWith('/api/session');
        expect(operation.security ?? document.security).toEqual(
          open ? [] : [{ bearer: [] }, { session: [] }],
        );
        const rights = operation['x-rights'] ?? operation['x-any-right'] ?? [];
        expect([operation.operationId, rights.length > 0]).toEqual([operation.operationId, !rightless]);
        expect(RIGHTS).toEqual(expect.arrayContaining([...rights]));
        const isSaid = /Needs the rights? `[^.]+`\.$/.test(operation.description ?? '');
        expect([operation.operationId, isSaid]).toEqual([operation.operationId, !rightless]);
        expect(Object.keys(operation.responses)).toContain('default');
      }
    }
  });

  it('lists the codes of each operation by status, and has one answer for all errors', () => {
    const takingJson = new Set(operationsTakingJson());
    const error = Object.values(document.components['responses'] ?? {}).find((answer) =>
      JSON.stringify(answer).includes('#/components/schemas/Error"'),
    );
    for (const operation of operations()) {
      const listed = Object.entries(operation['x-error-codes'] ?? {});
      const said = codesOfIntroduction(operation, takingJson.has(operation));
      for (const [status, codes] of listed) {
        expect(codes.map((code) => ERRORS[code].status)).toEqual(codes.map(() => Number(status)));
        expect(codes.filter((code) => said.has(code))).toEqual([]);
      }
      expect(operation.responses['default']).toEqual(resolveReferences(error, document));
    }
    expect(new Set(operations().flatMap(codesOf)).size).toBeGreaterThan(90);
    const { properties } = Object(document.components['schemas']?.['Error']) as { properties: object };
    expect(Object.keys(properties)).toEqual(expect.arrayContaining(['message', 'field', 'doc']));
  });

  it('lists the codes of a JSON body once, for the operations that its introduction describes', () => {
    const { description = '' } = Object(Object(document)['info']) as { description?: string };
    const takingJson = new Set(operationsTakingJson());
    expect(takingJson.size).toBeGreaterThan(50);
    for (const code of JSON_BODY_ERRORS) expect(description).toContain(`\`${code}\``);
    expect(operations().filter((operation) => codesOf(operation).includes('invalid_json'))).toEqual([]);
  });

  it('has no type for a list of codes, and is small', () => {
    const names = Object.keys(document.components['schemas'] ?? {});
    expect(names.filter((name) => /\d{3}Error|ErrorOr|Or[A-Z]\w+Error/.test(name))).toEqual([]);
    expect(JSON.stringify(document).length).toBeLessThan(400_000);
  });

  it('has an example for each body and each answer, and each is valid', () => {
    const media = operations().flatMap(({ operationId, requestBody, responses }) =>
      Object.values({ ...responses, body: requestBody }).flatMap((one) =>
        Object.values(one?.content ?? {}).map((content) => ({ operationId, ...content })),
      ),
    );
    for (const { operationId, example, examples = {}, ...rest } of media) {
      const validator = Compile((rest as { schema: object }).schema);
      const shown = [example, ...Object.values(examples).map(({ value }) => value)].filter(
        (one) => one !== undefined,
      );
      expect([operationId, shown.length]).not.toEqual([operationId, 0]);
      for (const one of shown)
        expect([operationId, one, validator.Errors(one)[1]]).toEqual([operationId, one, []]);
    }
  });

  it('fills in no parameter: a constant Idempotency-Key would fail from the second try on', () => {
    const filled = operations()
      .flatMap(({ parameters = [] }) => parameters)
      .filter((parameter) => /"examples?":/.test(JSON.stringify(parameter)));
    expect(filled).toEqual([]);
  });

  it('says what is true or false by a boolean', () => {
    expect(JSON.stringify(document)).not.toMatch(/"enum":\["(?:true|false)"/);
  });

  it('says when to try again', () => {
    const answers = operations().flatMap(({ responses }) => Object.entries(responses));
    const waiting = answers.filter(([status]) => status === 'default' || status === '503');
    expect(waiting.filter(([, { headers }]) => !Object.hasOwn(headers ?? {}, 'Retry-After'))).toEqual([]);
  });

  it('describes each parameter and each header field', () => {
    const parameters = operations().flatMap(({ parameters: list = [] }) => list);
    const headers = operations()
      .flatMap(({ responses }) => Object.values(responses))
      .flatMap((answer) => Object.entries(answer.headers ?? {}));
    expect(parameters.length).toBeGreaterThan(100);
    expect(headers.length).toBeGreaterThan(50);
    expect(parameters.filter((parameter) => !('description' in parameter))).toEqual([]);
    expect(headers.filter(([, header]) => !('description' in (header as object)))).toEqual([]);
  });

  it('has no dangling references and no unused component', () => {
    const references = [...JSON.stringify(document).matchAll(/"\$ref":"([^"]+)"/g)].map((match) => match[1]);
    const { securitySchemes, ...components } = document.components;
    expect(securitySchemes).toMatchObject({
      session: { in: 'cookie' },
      bearer: expect.objectContaining({ scheme: 'bearer' }),
    });
    expect(new Set(references)).toEqual(
      new Set(
        Object.entries(components).flatMap(([kind, all]) =>
          Object.keys(all).map((name) => `#/components/${kind}/${name}`),
        ),
      ),
    );
  });

  it('spells out which fields a body needs: redocly takes a reference there for all fields it may have', () => {
    const conditions = Object.values(document.components['schemas'] ?? {}).flatMap((schema) => {
      const { properties, anyOf = [] } = schema as { properties?: object; anyOf?: object[] };
      return properties === undefined ? [] : anyOf;
    });
    expect(conditions.length).toBeGreaterThan(5);
    expect(conditions.filter((condition) => '$ref' in condition)).toEqual([]);
  });

  it('says no schema twice', () => {
    const seen = new Map<string, number>();
    JSON.stringify(
      {
        ...document,
        components: { ...document.components, schemas: Object.values(document.components['schemas'] ?? {}) },
      },
      (key, value: unknown) => {
        if (key === 'example' || key === 'examples') return undefined;
        if (typeof value !== 'object' || value === null) return value;
        const { description, ...schema } = value as { description?: unknown; type?: unknown };
        void description;
        // A type with its bounds is not a concept of its own, nor is the list of required fields of a body.
        const isConcept =
          ('properties' in schema && 'type' in schema) ||
          'pattern' in schema ||
          ('enum' in schema && (schema.enum as unknown[]).length > 1);
        if (isConcept && !Array.isArray(value)) {
          const text = JSON.stringify(schema);
          seen.set(text, (seen.get(text) ?? 0) + 1);
        }
        return value;
      },
    );
    expect(seen.size).toBeGreaterThan(50);
    expect([...seen].filter(([, count]) => count > 1)).toEqual([]);
  });
});

const operations = () => Object.values(spelt.paths).flatMap((methods) => Object.values(methods));

/** Those that write and take no file and no message, as the introduction describes them. */
const operationsTakingJson = () =>
  Object.values(spelt.paths)
    .flatMap((methods) => Object.entries(methods))
    .filter(([method, { requestBody }]) => {
      const types = Object.keys(requestBody?.content ?? {});
      return method !== 'get' && types.every((type) => type === 'application/json');
    })
    .map(([, operation]) => operation);

const codesOf = ({ 'x-error-codes': listed = {} }: Operation) => Object.values(listed).flat();

function resolveReferences(value: unknown, root: Document): unknown {
  if (Array.isArray(value)) return value.map((one) => resolveReferences(one, root));
  if (typeof value !== 'object' || value === null) return value;
  const { $ref } = value as { $ref?: unknown };
  if (typeof $ref === 'string') {
    const [, , kind = '', name = ''] = $ref.split('/');
    return resolveReferences(root.components[kind]?.[name], root);
  }
  return Object.fromEntries(
    Object.entries(value).map(([key, inner]) => [key, resolveReferences(inner, root)]),
  );
}

describe('the page', () => {
  it('works with a strict policy: nothing inline, nothing from elsewhere', async () => {
    const response = await app.fastify.inject('/api/docs');
    expect(response.statusCode).toBe(200);
    expect(response.headers['content-security-policy']).toContain("default-src 'none'; script-src 'self';");
    expect(response.headers['x-content-type-options']).toBe('nosniff');
    expect(response.body).not.toMatch(/<script(?![^>]*\ssrc=)|<style|\son\w+=|https?:\/\//);
    const files = [...response.body.matchAll(/(?:src|href)="([^"]+)"/g)].map((match) => match[1] ?? '');
    expect(files.length).toBeGreaterThan(3);
    for (const file of files) {
      const { statusCode, headers } = await app.fastify.inject(file);
      expect([file, statusCode, headers['x-content-type-options']]).toEqual([file, 200, 'nosniff']);
    }
  });

  it('shows our document', async () => {
    const { body } = await app.fastify.inject('/api/docs/static/swagger-initializer.js');
    expect(body).toContain('/api/openapi.json');
  });

  it.each([
    '/api/docs/static/..%2f..%2fpackage.json',
    '/api/docs/static/%2e%2e/%2e%2e/package.json',
    '/api/docs/static/..%5c..%5cpackage.json',
    '/api/docs/static/%00',
    '/api/docs/nope',
  ])('serves nothing else: %s', async (url) => {
    const response = await app.fastify.inject(url);
    expect(response.statusCode).toBeGreaterThanOrEqual(400);
    expect(response.statusCode).toBeLessThan(500);
    expect(response.body).not.toContain('"version"');
  });

  it.each([
    ['range', 'bytes=99999999-', 416],
    ['if-match', '"other"', 412],
  ])('answers a request that it cannot fulfil with its status: %s: %s', async (name, value, status) => {
    const response = await app.fastify.inject({
      url: '/api/docs/static/swagger-ui.css',
      headers: { [name]: value },
    });
    expect(response.statusCode).toBe(status);
  });
});
