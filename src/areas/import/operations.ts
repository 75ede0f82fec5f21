/** GET /api/imports: the progress of imports of files. The command starts them; see cli/import.ts. */
import { operationsWith } from '../../platform/operation/declaration.ts';
import { AccountId } from '../../platform/schemas/page-schemas.ts';
import { record, Timestamp, Uuid } from '../../platform/schemas/schemas.ts';
import type { ImportLog, ImportRecord } from './import-ports.ts';

/** More than an operator runs; older ones say nothing about today. */
const MAX_LISTED_IMPORTS = 100;

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

const operation = operationsWith<{ readonly imports: Pick<ImportLog, 'list'> }>();

export const importOperations = [
  operation({
    id: 'listImports',
    method: 'GET',
    path: '/api/imports',
    right: 'operate',
    account: 'list',
    tag: 'Statistics',
    summary: 'List imports and their progress',
    description:
      `The last ${MAX_LISTED_IMPORTS} runs of \`email-worker import\`, with their progress, those that run among them. Kept for 90 days. ` +
      'No name of a file is kept.',
    query: { account_id: { ...AccountId, description: 'Only of this account.' } },
    answer: 'The imports.',
    output: Imports,
    run: async (_caller, { accountId = null, within }, { imports }) => ({
      imports: await imports.list({ accountId, within }, MAX_LISTED_IMPORTS),
    }),
  }),
];
