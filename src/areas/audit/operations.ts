/** GET /api/audit: who asked for what, and with what result. */
import { operationsWith } from '../../platform/operation/declaration.ts';
import { AuthorSchema, toAuthorJson } from '../../platform/schemas/author.ts';
import { PAGE_PARAMETERS, pageSchema } from '../../platform/schemas/page-schemas.ts';
import { record, Timestamp } from '../../platform/schemas/schemas.ts';
import { createCursorForm, readPage } from '../../platform/base/paging.ts';
import type { AuditLog } from '../../platform/access/audit-ports.ts';

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
const POSITION_CURSOR = createCursorForm<string>(
  (position) => position,
  (text) => (/^[1-9]\d{0,17}$/.test(text) ? text : null),
);

const operation = operationsWith<{ readonly auditLog: Pick<AuditLog, 'list'> }>();

export const auditOperations = [
  operation({
    id: 'listAudit',
    method: 'GET',
    path: '/api/audit',
    right: 'admin',
    account: 'every',
    tag: 'Keys',
    summary: 'Read the audit log',
    description:
      'Actions of operators and commands with their outcomes, and refused logins, newest first. Entries are never changed.',
    query: {
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
    answer: 'One page.',
    output: pageSchema('Audit', 'entries', AuditEntrySchema),
    async run(
      _caller,
      { author = null, act = null, since = null, until = null, limit, cursor = null },
      { auditLog },
    ) {
      const filter = { author, act, since, until };
      const { items, nextCursor } = await readPage(
        POSITION_CURSOR,
        { limit, cursor },
        (before, most) => auditLog.list(filter, before, most),
        ({ position }) => position,
      );
      const entries = items.map((entry) => ({
        ...entry,
        id: entry.position,
        author: toAuthorJson(entry.author),
      }));
      return { entries, nextCursor };
    },
  }),
];
