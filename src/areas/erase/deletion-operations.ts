/** DELETE /api/emails/{id}, /api/threads/{threadId}, and /api/threads for many at once. */
import { operationsWith } from '../../platform/operation/declaration.ts';
import { DryRun } from '../../platform/schemas/dry-run.ts';
import { DELETION_ERRORS } from '../../platform/schemas/error-schemas.ts';
import {
  EmailParams,
  NullableTimestamp,
  record,
  ThreadParams,
  Uuid,
} from '../../platform/schemas/schemas.ts';
import type { Clock } from '../../platform/base/basics.ts';
import type { AccountOf } from '../../platform/access/account-of.ts';
import {
  CHOSEN_THREADS,
  chooseThreads,
  doForEach,
  MAX_NAMED_THREADS,
  ThreadResults,
  toldChoice,
  toldThreads,
  type ChoosingDeps,
} from '../threads/chosen-threads.ts';
import type { Deletions } from './delete-emails.ts';

const { properties: query } = DryRun(
  'True: nothing is deleted; the response contains the number of emails that would be deleted, or the error.',
);

const DeletedEmails = record('DeletedEmails', {
  id: Uuid,
  emails: { type: 'integer', description: 'Number of deleted emails.' },
  deleted_at: { ...NullableTimestamp, description: 'Time of the deletion; null with `dry_run`.' },
});

const errors = ['not_deletable', ...DELETION_ERRORS] as const;

const operation = operationsWith<{
  readonly deletions: Deletions;
  readonly accountOf: Pick<AccountOf, 'email' | 'thread'>;
  readonly clock: Clock;
  readonly findThreads: ChoosingDeps['findThreads'];
}>();

export const deletionOperations = [
  operation({
    id: 'deleteEmail',
    method: 'DELETE',
    path: '/api/emails/:id',
    right: 'operate',
    account: { of: ({ id }, { accountOf }) => accountOf.email(id), missing: 'email_not_found' },
    tag: 'Emails',
    summary: 'Delete an email permanently',
    description:
      'Deletes the email with its files, variants, deliveries and reports, and customer addresses learned only from it. The ' +
      'event `email.deleted` contains only identifiers. The same email is not recorded again from a mailbox, a mail server ' +
      'or an import. An email that is being sent or whose outcome is unknown is refused: cancel or resolve it first. Needs ' +
      'no body; a body with fields is refused.',
    params: EmailParams.properties,
    query,
    answer: 'Deleted.',
    output: DeletedEmails,
    errors,
    act: {
      event: 'email.deleted',
      unless: ({ dryRun }) => dryRun,
      what: ({ id }) => ({ emailId: id }),
      after: () => null,
    },
    async run(caller, { id, dryRun }, { deletions, clock }) {
      await deletions.email(caller, id, { dryRun });
      return { id, emails: 1, deletedAt: dryRun ? null : clock() };
    },
  }),

  operation({
    id: 'deleteThread',
    method: 'DELETE',
    path: '/api/threads/:threadId',
    right: 'operate',
    account: { of: ({ threadId }, { accountOf }) => accountOf.thread(threadId), missing: 'thread_not_found' },
    tag: 'Threads',
    summary: 'Delete a thread with all its emails permanently',
    description:
      'Deletes each email of the thread, in batches. When the request is cut off, some emails may be left: repeat it. ' +
      'Refused as a whole while an email of the thread is being sent or its outcome is unknown. Needs no body; a body with ' +
      'fields is refused.',
    params: ThreadParams.properties,
    query,
    answer: 'Deleted.',
    output: DeletedEmails,
    errors,
    act: {
      event: 'thread.deleted',
      unless: ({ dryRun }) => dryRun,
      what: ({ threadId }) => ({ threadId }),
      after: ({ emails }) => ({ emails }),
    },
    async run(caller, { threadId, dryRun }, { deletions, clock }) {
      const emails = await (dryRun ? deletions.checkThread(threadId) : deletions.thread(caller, threadId));
      return { id: threadId, emails, deletedAt: dryRun ? null : clock() };
    },
  }),

  operation({
    id: 'deleteThreads',
    method: 'DELETE',
    path: '/api/threads',
    right: ['read', 'operate'],
    account: 'list',
    tag: 'Threads',
    summary: 'Delete many threads with all their emails permanently',
    description:
      `As \`DELETE /api/threads/{threadId}\`, for up to ${MAX_NAMED_THREADS} threads that \`ids\` names, or for a page of those ` +
      'that the filters of `GET /api/threads` find: repeat it with `next_cursor` until that is null. Each thread is deleted or ' +
      'refused for itself; one that got an email after a filter found it is refused with `thread_changed`. Without `ids` and filters the ' +
      'request is refused.',
    query: {
      ...CHOSEN_THREADS,
      ...DryRun('True: nothing is deleted; the results are those that the deletion would have.').properties,
    },
    answer: 'What became of each thread.',
    atOnce: 2,
    output: ThreadResults,
    errors: DELETION_ERRORS,
    act: {
      event: 'threads.deleted',
      unless: ({ dryRun }) => dryRun,
      what: ({ dryRun: _dry, ...choice }) => toldChoice(choice),
      after: ({ results }) => toldThreads(results, 'deleted'),
    },
    async run(caller, { dryRun, ...choice }, deps, signal) {
      const { deletions } = deps;
      const { threads, nextCursor } = await chooseThreads(choice, deps);
      const results = await doForEach({ threads, within: choice.within, signal }, deps, async (thread) => {
        const { id } = thread;
        await (dryRun ? deletions.checkThread(id) : deletions.thread(caller, id, thread.newestEmailId));
        return { id, outcome: 'deleted' as const };
      });
      return { results, nextCursor };
    },
  }),
];
