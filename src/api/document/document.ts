/** GET /api/openapi.json: the description of this API. GET /api/docs: the same as a page, and the guide; both work without the network. */
import Fastify from 'fastify';
import type { FastifyInstance } from 'fastify';
import type { StaticDocumentSpec } from '@fastify/swagger';
import { ServiceError } from '../../core/errors.ts';
import type { HttpContext, HttpServer } from '../../platform/http/answers/context.ts';
import { createErrorHandler } from '../../platform/http/answers/error-handler.ts';
import { createGuide, GUIDE_STYLE } from './guide.ts';
import { buildOpenApiDocument } from './openapi.ts';
import type { RouteTable } from './route-table.ts';
import { errorResponses } from '../../platform/schemas/error-schemas.ts';
import { jsonResponse } from '../../platform/schemas/schemas.ts';

const DOCUMENT_PATH = '/api/openapi.json';
const PAGE_PATH = '/api/docs';

/** Everything is loaded from here; the page's images are part of its style sheet, and its script sets inline styles. */
const PAGE_CSP = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self' 'unsafe-inline'",
  "img-src 'self' data:",
  "connect-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join('; ');

const GUIDE_CSP =
  "default-src 'none'; style-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

/** `folder`: the folder of the guide's pages; null: no guide. */
export function registerDocumentRoutes(
  app: HttpServer,
  context: HttpContext,
  routes: RouteTable,
  folder: string | null,
): void {
  const document = once(() => buildOpenApiDocument(routes.documented()));
  app.get(
    DOCUMENT_PATH,
    {
      schema: {
        operationId: 'getOpenApiDocument',
        tags: ['Document'],
        summary: 'Read this description',
        description: 'OpenAPI 3.1. Needs no secret.',
        security: [],
        response: {
          200: jsonResponse('The document.', {
            title: 'OpenApiDocument',
            type: 'object',
            additionalProperties: true,
          }),
          ...errorResponses('invalid_request'),
        },
      },
    },
    async () => document(),
  );

  const guide = createGuide(folder, PAGE_PATH);
  const page = once(() => buildPage(context, document));
  app.addHook('onClose', async () => {
    if (page.started()) await (await page()).close();
  });
  app.get(`${PAGE_PATH}/guide.css`, { schema: { hide: true } }, async (_, reply) =>
    reply.type('text/css; charset=utf-8').send(GUIDE_STYLE),
  );
  for (const url of [PAGE_PATH, `${PAGE_PATH}/*`]) {
    app.route({
      method: ['GET', 'HEAD'],
      url,
      handler: async (request, reply) => {
        const html = await guide.page((request.params as { readonly '*'?: string })['*'] ?? '');
        if (html !== null)
          return reply
            .header('content-security-policy', GUIDE_CSP)
            .type('text/html; charset=utf-8')
            .send(html);
        const { routing } = await page();
        // The page overrides some of the headers of every answer.
        for (const [name, value] of Object.entries(reply.getHeaders()))
          if (value !== undefined) reply.raw.setHeader(name, value);
        request.raw.headers['x-request-id'] = request.id;
        reply.hijack();
        routing(request.raw, reply.raw);
      },
    });
  }
}

/** The page is an application of its own, created when first asked for: its files take time to load. */
async function buildPage(
  { limits, lingering, logger }: HttpContext,
  document: () => Promise<object>,
): Promise<FastifyInstance> {
  const [{ default: swagger }, { default: swaggerUi }] = await Promise.all([
    import('@fastify/swagger'),
    import('@fastify/swagger-ui'),
  ]);
  const page = Fastify({
    logger: false,
    genReqId: ({ headers }) => String(headers['x-request-id']),
  });
  page.setErrorHandler(createErrorHandler(limits, lingering, logger));
  page.setNotFoundHandler(() => {
    throw new ServiceError('not_found');
  });
  const specification = { document: await document() } as StaticDocumentSpec;
  await page.register(swagger, { mode: 'static', specification });
  await page.register(swaggerUi, {
    routePrefix: PAGE_PATH,
    staticCSP: PAGE_CSP,
    theme: { title: 'email-worker API' },
    uiConfig: {
      url: DOCUMENT_PATH,
      docExpansion: 'list',
      deepLinking: true,
      validatorUrl: null,
      showExtensions: true,
    },
  });
  await page.ready();
  return page;
}

/** Calls `make` again only after a failure. */
function once<T>(make: () => Promise<T>): { (): Promise<T>; started(): boolean } {
  let made: Promise<T> | undefined;
  const get = (): Promise<T> => {
    if (made === undefined) {
      made = make();
      made.catch(() => (made = undefined));
    }
    return made;
  };
  return Object.assign(get, { started: () => made !== undefined });
}
