import { readFile } from 'node:fs/promises';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createTestHttpApp, type TestHttpApp } from '../../../../test/helpers/http-app.ts';
import { createRecordingApplication } from '../../../../test/helpers/recording-application.ts';

interface Operation {
  readonly summary?: string;
  readonly description?: string;
  readonly operationId?: string;
  readonly security?: readonly object[];
  readonly responses: Readonly<
    Record<
      string,
      {
        readonly content?: Readonly<Record<string, { readonly schema?: object; readonly examples?: object }>>;
      }
    >
  >;
}

interface Document {
  readonly openapi: string;
  readonly security: readonly object[];
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>;
  readonly components: { readonly schemas: Readonly<Record<string, unknown>> };
}

let app: TestHttpApp;
let document: Document;
beforeAll(async () => {
  app = await createTestHttpApp({ application: createRecordingApplication() });
  document = (await app.fastify.inject('/api/openapi.json')).json<Document>();
});
afterAll(() => app.close());

describe('the OpenAPI document', () => {
  it('is the same as docs/openapi.json (else run npm run build and node scripts/openapi.mjs)', async () => {
    const file = await readFile(new URL('../../../../docs/openapi.json', import.meta.url), 'utf8');
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
      'delete /api/suppressions/{address}',
      'get /api/accounts',
      'get /api/attachments/{id}',
      'get /api/customer/{customerId}/addresses',
      'get /api/customer/{customerId}/emails',
      'get /api/customers/ambiguous',
      'get /api/customers/ambiguous/emails',
      'get /api/emails',
      'get /api/emails/{id}',
      'get /api/emails/{id}/placement',
      'get /api/emails/{id}/raw',
      'get /api/emails/{id}/variants/{variantId}',
      'get /api/emails/{id}/variants/{variantId}/raw',
      'get /api/health',
      'get /api/health/ready',
      'get /api/openapi.json',
      'get /api/quarantine',
      'get /api/refused-merges',
      'get /api/suppressions',
      'get /api/suppressions/{address}',
      'get /api/thread/{threadId}',
      'get /api/threads',
      'post /api/emails/{id}/cancel',
      'post /api/emails/{id}/resolve',
      'post /api/emails/{id}/retry',
      'post /api/inbound',
      'post /api/quarantine/{id}/retry',
      'post /api/send',
      'post /api/thread/{threadId}/merge',
      'post /api/thread/{threadId}/move',
      'post /api/thread/{threadId}/read',
      'post /api/thread/{threadId}/split',
      'post /api/thread/{threadId}/unread',
      'put /api/customer/{customerId}/addresses',
      'put /api/suppressions/{address}',
    ]);
  });

  it('describes each operation, its security and its errors', () => {
    const ids = new Set<string>();
    for (const [path, methods] of Object.entries(document.paths)) {
      for (const operation of Object.values(methods)) {
        expect(operation.summary).toMatch(/\S/);
        expect(operation.description).toMatch(/\S/);
        expect(ids).not.toContain(operation.operationId);
        ids.add(operation.operationId ?? '');
        const open = /^\/api\/(health|openapi)/.test(path);
        expect(operation.security ?? document.security).toEqual(open ? [] : [{ bearer: [] }]);
        const errors = Object.entries(operation.responses).filter(([status]) => Number(status) >= 400);
        expect(errors.map(([status]) => status)).toEqual(
          expect.arrayContaining(open ? ['500', '503'] : ['401', '500', '503']),
        );
        const shared = errors.filter(([status]) => path !== '/api/health/ready' || status !== '503');
        for (const [, { content }] of shared) {
          const json = content?.['application/json'];
          expect(json?.schema).toEqual({ $ref: '#/components/schemas/Error' });
          expect(json?.examples).toEqual(expect.objectContaining({}));
        }
      }
    }
  });

  it('has no dangling references', () => {
    const references = [...JSON.stringify(document).matchAll(/"\$ref":"([^"]+)"/g)].map((match) => match[1]);
    expect(new Set(references)).toEqual(
      new Set(Object.keys(document.components.schemas).map((name) => `#/components/schemas/${name}`)),
    );
  });
});

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
    ['if-match', '"other"', 400],
  ])('answers a request that it cannot fulfil with its status: %s: %s', async (name, value, status) => {
    const response = await app.fastify.inject({
      url: '/api/docs/static/swagger-ui.css',
      headers: { [name]: value },
    });
    expect(response.statusCode).toBe(status);
  });
});
