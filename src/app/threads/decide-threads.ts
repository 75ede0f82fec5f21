/** Operators' decisions about threads, as the edges request them. */
import type { ThreadUseCases } from './use-cases.ts';
import type { IdSource } from '../base/basics.ts';
import type { DecisionIds, ThreadDecisions } from './thread-decisions.ts';

export function createDecisions(
  store: ThreadDecisions,
  ids: IdSource,
): Pick<ThreadUseCases, 'splitThread' | 'mergeThreads' | 'checkMergeThreads' | 'moveEmails'> {
  const newIds = (): DecisionIds => ({ decisionId: ids.uuid(), newThreadId: ids.uuid() });
  const once = <T extends { readonly emailIds: readonly string[] }>(request: T): T => ({
    ...request,
    emailIds: [...new Set(request.emailIds)].sort(),
  });
  return {
    splitThread: (request) => store.split(once(request), newIds()),
    mergeThreads: (request) => store.merge(request, newIds()),
    checkMergeThreads: (request) => store.merge({ ...request, dryRun: true }, newIds()),
    moveEmails: (request) => store.move(once(request), newIds()),
  };
}
