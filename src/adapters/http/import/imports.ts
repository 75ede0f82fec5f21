/** GET /api/imports: the progress of imports of files. The command starts them; see cli/import.ts. */
import type { ImportRecord } from '../../../app/import/import-ports.ts';
import { MAX_LISTED_IMPORTS } from '../../../app/import/use-cases.ts';
import type { HttpContext, HttpServer } from '../answers/context.ts';
import { errorResponses } from '../../../platform/schemas/error-schemas.ts';
import { AccountId, ACCOUNT_QUERY_ERRORS } from '../../../platform/schemas/page-schemas.ts';
import { jsonResponse, record, Timestamp, Uuid } from '../../../platform/schemas/schemas.ts';

const STATES = ['running', 'cut_off', 'done', 'stopped', 'failed'] as const satisfies ImportRecord['state'][];

const Count = { title: 'ImportCount', type: 'integer', minimum: 0 } as const;

const Imports = record('Imports', {
  imports: {
    type: 'array',
    maxItems: MAX_LISTED_IMPORTS,
    items: record('Import', {
      id: Uuid,
      account_id: AccountId,
      state: {
        title: 'ImportState',
        $comment:
          '`cut_off`: the command stopped reporting for three minutes without having ended. `stopped`: ended by its operator. ' +
          '`failed`: the database or the file storage stayed away. A new run continues where the last one ended.',
        type: 'string',
        enum: STATES,
      },
      started_at: Timestamp,
      updated_at: { ...Timestamp, description: 'Time of the last report of progress.' },
      imported: { ...Count, description: 'Emails.' },
      known: { ...Count, description: 'Emails already recorded, and files already finished.' },
      left_out: {
        ...Count,
        description: 'Emails and files that were skipped: too old, empty, or in an excluded folder.',
      },
      failed: {
        ...Count,
        description: 'Emails and files that could not be imported; the report of the command lists them.',
      },
      bytes_done: { ...Count, description: 'Of all files.' },
      bytes_total: {
        type: ['integer', 'null'],
        minimum: 0,
        description: 'Of all files; null: not counted yet.',
      },
    }),
    description: 'The newest first.',
  },
});

const ImportsQuery = {
  type: 'object',
  additionalProperties: false,
  properties: { account_id: { ...AccountId, description: 'Only of this account.' } },
} as const;

export function registerImportRoutes(app: HttpServer, { applicationFor }: HttpContext): void {
  app.get(
    '/api/imports',
    {
      schema: {
        operationId: 'listImports',
        right: 'operate',
        tags: ['Statistics'],
        summary: 'List imports and their progress',
        description:
          `The last ${MAX_LISTED_IMPORTS} runs of \`email-worker import\`, with their progress, those that run among them. Kept for 90 days. ` +
          'No name of a file is kept.',
        querystring: ImportsQuery,
        response: {
          200: jsonResponse('The imports.', Imports),
          ...errorResponses(...ACCOUNT_QUERY_ERRORS),
        },
      },
    },
    async (request) => {
      const { account_id: accountId = null } = request.query;
      const imports = await applicationFor(request).listImports({ accountId });
      return { imports: imports.map(toImportJson) };
    },
  );
}

const toImportJson = (one: ImportRecord) => ({
  id: one.id,
  account_id: one.accountId,
  state: one.state,
  started_at: one.startedAt.toISOString(),
  updated_at: one.updatedAt.toISOString(),
  imported: one.imported,
  known: one.known,
  left_out: one.leftOut,
  failed: one.failed,
  bytes_done: one.bytesDone,
  bytes_total: one.bytesTotal,
});
