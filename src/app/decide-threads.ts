/** Operators' decisions about threads, as the edges ask for them. */
import type { Application } from './application.ts';
import type { IdSource } from './ports.ts';
import type { DecisionIds, ThreadDecisions } from './thread-decisions.ts';

export function createDecisions(
  store: ThreadDecisions,
  ids: IdSource,
): Pick<Application, 'splitThread' | 'mergeThreads' | 'moveEmails'> {
  const newIds = (): DecisionIds => ({ decisionId: ids.uuid(), newThreadId: ids.uuid() });
  const once = <T extends { readonly emailIds: readonly string[] }>(request: T): T => ({
    ...request,
    emailIds: [...new Set(request.emailIds)].sort(),
  });
  return {
    splitThread: (request) => store.split(once(request), newIds()),
    mergeThreads: (request) => store.merge(request, newIds()),
    moveEmails: (request) => store.move(once(request), newIds()),
  };
}
