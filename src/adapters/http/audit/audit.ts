/** GET /api/audit: who asked for what, and with what result. */
import type { HttpContext, HttpServer } from '../answers/context.ts';
import { AuthorSchema, toAuthorJson } from '../../../platform/schemas/author.ts';
import { errorResponses } from '../../../platform/schemas/error-schemas.ts';
import { PAGE_PARAMETERS, pageSchema, toPageRequest } from '../../../platform/schemas/page-schemas.ts';
import { jsonResponse, record, Timestamp, toMoment } from '../../../platform/schemas/schemas.ts';

const AuditEntrySchema = record('AuditEntry', {
  id: { type: 'string', pattern: '^[0-9]+$', description: 'Increasing number.' },
  at: Timestamp,
  author: AuthorSchema,
  act: {
    type: 'string',
    description: 'Action, such as `key.created`; docs/operations.md lists all actions.',
  },
  target: {
    type: ['string', 'null'],
    description: 'Identifier of the target; for an address a keyed digest.',
  },
  details: {
    type: 'object',
    additionalProperties: true,
    description: 'Details of the request, without addresses and secrets.',
  },
  outcome: {
    type: 'string',
    enum: ['done', 'refused', 'unknown'],
    description: 'Outcome. `unknown`: the service stopped before the action ended.',
  },
  code: { type: ['string', 'null'], description: 'Error code of the refusal.' },
  result: { type: ['object', 'null'], additionalProperties: true, description: 'Details of the outcome.' },
});
const Audit = pageSchema('Audit', 'entries', AuditEntrySchema);

const AuditQuery = {
  type: 'object',
  // A misspelt filter must not return more than was asked for.
  additionalProperties: false,
  properties: {
    author: {
      type: 'string',
      minLength: 1,
      maxLength: 100,
      description:
        'Only entries of the key with this id, or of this kind: `secret`, `key`, `command` or `stranger`.',
    },
    act: { type: 'string', minLength: 1, maxLength: 100, description: 'Only this action.' },
    since: { ...Timestamp, description: 'Only entries at or after this time.' },
    until: { ...Timestamp, description: 'Only entries before this time.' },
    ...PAGE_PARAMETERS,
  },
} as const;

export function registerAuditRoutes(app: HttpServer, { applicationFor }: HttpContext): void {
  app.get(
    '/api/audit',
    {
      schema: {
        operationId: 'listAudit',
        right: 'admin',
        tags: ['Keys'],
        summary: 'Read the audit log',
        description:
          'Actions of operators and commands with their outcomes, and refused logins, newest first. Entries are never changed.',
        querystring: AuditQuery,
        response: {
          200: jsonResponse('One page.', Audit),
          ...errorResponses('invalid_request', 'invalid_cursor', 'unauthorized', 'forbidden_account'),
        },
      },
    },
    async (request) => {
      const { author = null, act = null, since, until, ...page } = request.query;
      const { entries, nextCursor } = await applicationFor(request).listAudit({
        author,
        act,
        since: since === undefined ? null : toMoment('since', since),
        until: until === undefined ? null : toMoment('until', until),
        ...toPageRequest(page),
      });
      return {
        entries: entries.map(({ position, at, author: by, ...entry }) => ({
          id: position,
          at: at.toISOString(),
          author: toAuthorJson(by),
          ...entry,
        })),
        next_cursor: nextCursor,
      };
    },
  );
}
