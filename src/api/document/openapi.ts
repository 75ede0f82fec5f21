/** Builds the OpenAPI 3.1 document from the schemas of the routes. */
import Fastify from 'fastify';
import type { FastifySchema } from 'fastify';
import { anyRightOf, rightsOf } from '../../platform/http/connections/rights.ts';
import { shareComponents, type Paths } from './components.ts';
import { addExamples } from './examples.ts';
import { shortenErrors } from './error-answers.ts';
import type { DocumentedRoute } from './route-table.ts';

const DESCRIPTION = `Sends and receives email, records it and returns it by thread and by customer.

What an operation does not list is refused: query parameters with 400 \`unknown_parameter\`, fields of a body with 400 \`unknown_field\`, and
with 400 \`unknown_header\` a header of a write that another operation lists (\`If-Match\`, \`Idempotency-Key\`,
\`Prefer: respond-async\` and others), as well as \`If-None-Match\` and \`If-Unmodified-Since\`; of a read only \`If-Match\`.

Every error has \`error\` (German), \`message\` (English), a stable \`code\`, \`request_id\` and \`doc\`, the page about the code. Besides the codes listed for each
operation (\`x-error-codes\`), any may get \`unknown_parameter\`, \`unknown_header\`, \`internal_error\` (500) and \`shutting_down\`, one that writes,
unless it takes a file or a message, \`invalid_json\`, \`duplicate_field\`, \`unknown_field\`, \`invalid_request\`, \`request_timeout\`,
\`payload_too_large\`, \`unsupported_media_type\` and \`unsupported_content_encoding\`, and one that needs a
secret \`missing_credentials\`, \`invalid_credentials\`, \`expired_key\`, \`revoked_key\`, \`forbidden_right\`, \`too_many_failed_logins\`, \`rate_limited\`, \`cross_site_request\` and \`database_unavailable\`.
Any request may get 400 \`invalid_request\` (not valid HTTP, a badly encoded path, or a GET with a body), 400 \`invalid_text\` (NUL, or half of a
surrogate pair, in a parameter or a field), 404 \`not_found\`, 405 \`method_not_allowed\` with \`Allow\`, 408 \`request_timeout\`,
414 \`uri_too_long\`, 421 \`unknown_host\` (without a bearer secret, under a name that is not the service's), 431 \`headers_too_large\`
and 501 \`unsupported_transfer_coding\`.
429, 503 and 409 \`idempotency_in_progress\` come with \`Retry-After\`. Every answer has \`X-Request-Id\`, the name of the request
in the log: that of the caller when it is safe to repeat (letters, digits and \`._:=+/@-\`, at most 128), else a new one. Each key has a share of what the
service does, which every answer to a known caller shows (draft-ietf-httpapi-ratelimit-headers-11): \`RateLimit-Policy: "rate";q=6000;w=60,
"at-once";q=32\`, requests within \`w\` seconds and at the same time, and \`RateLimit: "rate";r=5999;t=1\`, what is left and the seconds until the full rate
is available. 429 \`rate_limited\` refuses what is beyond it.`;

/** `page`: its page of the guide. */
const tag = (name: string, description: string, page: string) => ({
  name,
  description,
  externalDocs: { url: `/api/docs/${page}` },
});

/** Builds the document. Takes some 50 ms, so it is built when first asked for and not at each start. */
export async function buildOpenApiDocument(routes: readonly DocumentedRoute[]): Promise<object> {
  const { default: swagger } = await import('@fastify/swagger');
  const app = Fastify({ logger: false, exposeHeadRoutes: false });
  app.setValidatorCompiler(() => () => true);
  app.setSerializerCompiler(() => () => '');
  await app.register(swagger, {
    openapi: {
      openapi: '3.1.0',
      info: {
        title: 'email-worker',
        version: '1',
        description: DESCRIPTION,
        contact: { name: 'The operator of this installation' },
        license: { name: 'MIT', identifier: 'MIT' },
      },
      servers: [{ url: '/', description: 'This installation.' }],
      tags: [
        tag('Sending', 'Send an email.', 'sending'),
        tag('Receiving', 'Record mail received elsewhere.', 'receiving'),
        tag('Mailboxes', 'Mailboxes and their status.', 'receiving'),
        tag('Suppressions', 'Suppressed addresses.', 'delivery'),
        tag('Unsubscribes', 'Unsubscribed addresses.', 'delivery'),
        tag('Emails', 'Read sent and received emails.', 'search'),
        tag('Threads', 'Threads of emails.', 'threads'),
        tag('Customers', 'Customers and their addresses.', 'customers'),
        tag('Erasure', 'Erase all data of a person.', 'deleting'),
        tag('Events', 'The feed of events, in order.', 'events'),
        tag('Drafts', 'Drafts.', 'replies-and-drafts'),
        tag('Rules', 'Rules on received mail.', 'rules'),
        tag('Templates', 'Templates of emails.', 'templates'),
        tag('Webhooks', 'Post events to a URL.', 'webhooks'),
        tag('Statistics', 'Statistics of mail, and imports.', 'search'),
        tag('Keys', 'API keys, and the audit log.', 'keys'),
        tag('Sessions', 'Log in and out with a browser.', 'keys'),
        tag('Health', 'Health checks.', 'errors'),
        tag('Document', 'The OpenAPI document.', 'guide'),
      ],
      externalDocs: { description: 'API guide', url: '/api/docs/guide' },
      components: {
        securitySchemes: {
          bearer: {
            type: 'http',
            scheme: 'bearer',
            description: 'The shared secret, `API_SECRET`, or a key.',
          },
          session: {
            type: 'apiKey',
            in: 'cookie',
            name: 'email_worker_session',
            description:
              'The cookie that `POST /api/session` sets in a browser; over https its name is `__Host-email_worker_session`. ' +
              'Every method but GET also needs `X-Requested-With: email-worker`.',
          },
        },
      },
      security: [{ bearer: [] }, { session: [] }],
    },
  });
  for (const route of routes) {
    app.route({ method: route.method, url: route.url, schema: withRight(route.schema), handler: () => '' });
  }
  await app.ready();
  // A copy: the generator's document contains the routes' own schemas.
  const document = structuredClone<unknown>(app.swagger()) as { paths: Paths; components: object };
  await app.close();
  addExamples(document.paths);
  shortenErrors(document.paths);
  const { paths, components } = shareComponents(document.paths);
  return { ...document, paths, components: { ...document.components, ...components } };
}

/** Adds the rights that the operation needs: for people in its description, for programs as `x-rights` or `x-any-right`. */
function withRight(schema: FastifySchema): FastifySchema {
  const any = anyRightOf(schema);
  if (any.length > 0) {
    const names = any.map((right) => `\`${right}\``).join(' or ');
    return described(schema, `Needs the right ${names}.`, { 'x-any-right': any });
  }
  const rights = rightsOf(schema);
  if (rights.length === 0) return schema;
  const names = rights.map((right) => `\`${right}\``).join(' and ');
  const text = `Needs the ${rights.length === 1 ? 'right' : 'rights'} ${names}.`;
  return described(schema, text, { 'x-rights': rights });
}

function described(schema: FastifySchema, needs: string, extension: object): FastifySchema {
  return { ...schema, description: `${schema.description ?? ''} ${needs}`, ...extension };
}
