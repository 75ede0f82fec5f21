/** GET /api/assignees: to whom a thread can be assigned. */
import { operationsWith } from '../../platform/operation/declaration.ts';
import { AccountId } from '../../platform/schemas/page-schemas.ts';
import { KeyId } from '../../platform/schemas/right.ts';
import { record } from '../../platform/schemas/schemas.ts';
import type { AssigneeReader } from './assignees.ts';

const Assignees = record('Assignees', {
  assignees: {
    type: 'array',
    items: record('AssigneeOption', {
      id: KeyId,
      name: { type: 'string', description: 'Name of the key.' },
    }),
    description: 'By name.',
  },
});

const operation = operationsWith<{ readonly assignees: AssigneeReader }>();

export const assigneeOperations = [
  operation({
    id: 'listAssignees',
    method: 'GET',
    path: '/api/assignees',
    right: 'read',
    account: 'list',
    tag: 'Threads',
    summary: 'List to whom threads can be assigned',
    description:
      'The keys with the rights `read` and `send` in the account, or in any account of the caller; neither revoked nor expired.',
    query: { account_id: { ...AccountId, description: 'Only who may answer in this account.' } },
    answer: 'All of them.',
    output: Assignees,
    run: async (_caller, { accountId = null, within }, { assignees }) => ({
      assignees: await assignees.listAssignees({ accountId, within }),
    }),
  }),
];
