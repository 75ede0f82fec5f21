/** GET /api/folders: counts for the folders that a page shows. */
import { operationsWith } from '../../platform/operation/declaration.ts';
import { AccountId } from '../../platform/schemas/page-schemas.ts';
import { KeyId } from '../../platform/schemas/right.ts';
import { record } from '../../platform/schemas/schemas.ts';
import { ThreadLabel } from '../../platform/schemas/thread-schemas.ts';
import {
  MAX_COUNTED_ACCOUNTS,
  MAX_COUNTED_LABELS,
  MAX_FOLDER_COUNT,
  type FolderCounter,
} from './folder-counts.ts';

const Count = { title: 'FolderCount', type: 'integer', minimum: 0, maximum: MAX_FOLDER_COUNT } as const;

const openThreads = {
  open: Count,
  unread: { ...Count, description: 'Open threads with unread emails.' },
  unanswered: { ...Count, description: 'Open threads that await an answer.' },
} as const;

const Folders = record('Folders', {
  limit: {
    type: 'integer',
    const: MAX_FOLDER_COUNT,
    description: 'Counts stop at this number: 1000 means 1000 or more.',
  },
  threads: record('ThreadFolders', {
    ...openThreads,
    undelivered: { ...Count, description: 'Threads with something undelivered that was not dealt with.' },
    done: Count,
    spam: Count,
    spam_of_customers: { ...Count, description: 'Threads of spam that have a customer, perhaps by mistake.' },
    mine: { ...Count, description: 'Open threads of `assignee`; 0 when none was given.' },
    unassigned: { ...Count, description: 'Open threads without an assignee.' },
  }),
  emails: record('EmailFolders', {
    received: Count,
    sent: Count,
    scheduled: { ...Count, description: 'Sends that are scheduled for later.' },
    queued: { ...Count, description: 'Sends that are queued or being sent, including scheduled ones.' },
    deferred: Count,
    failed: Count,
    unknown: Count,
  }),
  drafts: { ...Count, description: 'Drafts.' },
  labels: {
    type: 'array',
    maxItems: MAX_COUNTED_LABELS,
    items: record('LabelFolder', { label: ThreadLabel, open: Count }),
    description: 'Open threads of each label, in alphabetical order.',
  },
  accounts: {
    type: 'array',
    maxItems: MAX_COUNTED_ACCOUNTS,
    items: record('AccountFolders', { account_id: AccountId, ...openThreads }),
    description: 'Each account that has threads; empty when `account_id` was given.',
  },
});

const operation = operationsWith<{ readonly folders: FolderCounter }>();

export const folderOperations = [
  operation({
    id: 'countFolders',
    method: 'GET',
    path: '/api/folders',
    right: 'read',
    account: 'list',
    tag: 'Threads',
    summary: 'Count threads, emails and drafts by folder',
    description:
      'Threads by status, emails by state, drafts, labels and accounts in one request. Each count stops at 1000, which ' +
      'bounds its cost.',
    query: {
      account_id: { ...AccountId, description: 'Only of this account.' },
      assignee: { ...KeyId, description: 'Assignee whose threads count as `mine`.' },
    },
    answer: 'The counts.',
    output: Folders,
    run: async (_caller, { accountId = null, assignee = null, within }, { folders }) => ({
      ...(await folders.countFolders({ accountId, assignee, within })),
      limit: MAX_FOLDER_COUNT as typeof MAX_FOLDER_COUNT,
    }),
  }),
];
