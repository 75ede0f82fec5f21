/** Changes that people make to threads, in the API: PATCH /api/threads/{threadId}, and PATCH /api/threads for many at once. */
import { keyIdOf } from '../../core/keys/caller.ts';
import { operationsWith } from '../../platform/operation/declaration.ts';
import { DryRun } from '../../platform/schemas/dry-run.ts';
import { ThreadParams } from '../../platform/schemas/schemas.ts';
import {
  CHOSEN_THREADS,
  chooseThreads,
  doForEach,
  MAX_NAMED_THREADS,
  ThreadResults,
  toldChoice,
  toldThreads,
  type ChoosingDeps,
} from './chosen-threads.ts';
import { MAX_THREAD_CHANGE_BYTES, ThreadChangeBody, toThreadChange } from './thread-change-schema.ts';
import { ThreadRecordSchema } from './thread-record-schema.ts';
import type { ThreadUseCases } from './use-cases.ts';

const ManyBody = {
  ...ThreadChangeBody,
  title: 'ThreadsChange',
  properties: {
    ...ThreadChangeBody.properties,
    unread: {
      type: 'boolean',
      description: '`false` marks all received emails of the threads as read, `true` as unread.',
    },
  },
} as const;

const { properties: dryRun } = DryRun(
  'True: nothing is changed; the results are those that the change would have.',
);

const tag = 'Threads';
/** The answer shows what the emails are about, and between whom. */
const right = ['read', 'handle'] as const;
const errors = ['too_many_entries', 'unknown_assignee'] as const;

/** Fields that a change names, for the audit log. */
const namesOf = (change: object): readonly string[] =>
  Object.entries(change).flatMap(([name, value]) => (value === undefined ? [] : [name]));

const operation = operationsWith<Pick<ThreadUseCases, 'changeThread' | 'changeAndMark'> & ChoosingDeps>();

export const threadChangeOperations = [
  operation({
    id: 'changeThread',
    method: 'PATCH',
    path: '/api/threads/:threadId',
    right,
    account: { of: ({ threadId }, { accountOf }) => accountOf.thread(threadId), missing: 'thread_not_found' },
    tag,
    summary: 'Change the status, assignee, labels or customer of a thread',
    description:
      'Absent fields stay unchanged. `labels` applies before `add_labels`; `remove_labels` names none of them. 20 labels at ' +
      'most. A request that changes nothing writes no event.',
    params: ThreadParams.properties,
    body: ThreadChangeBody,
    bodyAs: 'body',
    maxBodyBytes: MAX_THREAD_CHANGE_BYTES,
    ifMatch: { need: 'optional', text: 'The version that the change is for; `*` or absent for any.' },
    answer: 'The updated record.',
    output: ThreadRecordSchema,
    versionOf: ({ version }) => version,
    errors: [...errors, 'thread_changed'],
    act: {
      event: 'thread.changed',
      what: ({ threadId, body }) => ({ threadId, fields: namesOf(body) }),
      after: ({ id, version, status, assignee, labels, customerId, companyId }) => ({
        id,
        version,
        status,
        assignee,
        labels,
        customerId,
        companyId,
      }),
    },
    run: (caller, { threadId, body, version }, { changeThread }) =>
      changeThread(threadId, toThreadChange(body, version), keyIdOf(caller)),
  }),

  operation({
    id: 'changeThreads',
    method: 'PATCH',
    path: '/api/threads',
    right,
    account: 'list',
    tag,
    summary: 'Change many threads',
    description:
      `The same change for up to ${MAX_NAMED_THREADS} threads that \`ids\` names, or for a page of those that the filters of ` +
      '`GET /api/threads` find: repeat it with `next_cursor` until that is null. Each thread is judged and changed for itself. ' +
      'One that got an email after a filter found it is refused with `thread_changed`. Without `ids` and filters the request is refused.',
    query: { ...CHOSEN_THREADS, ...dryRun },
    body: ManyBody,
    bodyAs: 'body',
    maxBodyBytes: MAX_THREAD_CHANGE_BYTES,
    atOnce: 4,
    answer: 'What became of each thread.',
    output: ThreadResults,
    act: {
      event: 'threads.changed',
      unless: ({ dryRun: isDry }) => isDry,
      what: ({ body, dryRun: _dry, ...choice }) => ({ fields: namesOf(body), ...toldChoice(choice) }),
      after: ({ results }) => toldThreads(results, 'changed'),
    },
    async run(caller, { body: { unread, ...body }, dryRun: isDry, ...choice }, deps, signal) {
      const change = toThreadChange(body, null);
      const { threads, nextCursor } = await chooseThreads(choice, deps);
      const options = { keyId: keyIdOf(caller), mark: markOf(unread), dryRun: isDry };
      const results = await doForEach({ threads, within: choice.within, signal }, deps, async (thread) => {
        const { id, isChanged } = await deps.changeAndMark(thread, change, options);
        return { id, outcome: isChanged ? ('changed' as const) : ('unchanged' as const) };
      });
      return { results, nextCursor };
    },
  }),
];

function markOf(unread: boolean | undefined): 'read' | 'unread' | null {
  if (unread === undefined) return null;
  return unread ? 'unread' : 'read';
}
