/** Operators' decisions about threads, as the edges request them. Throw what `ThreadDecisions` does. */
import { keyIdOf, type Caller } from '../../core/keys/caller.ts';
import type { IdSource } from '../../platform/base/basics.ts';
import type {
  DecisionIds,
  MergeRequest,
  MoveRequest,
  SplitRequest,
  ThreadDecisions,
} from './thread-decisions.ts';

export type Decisions = ReturnType<typeof createDecisions>;

export function createDecisions(store: ThreadDecisions, ids: IdSource) {
  const newIds = (): DecisionIds => ({ decisionId: ids.uuid(), newThreadId: ids.uuid() });
  const once = <T extends { readonly emailIds: readonly string[] }>(request: T): T => ({
    ...request,
    emailIds: [...new Set(request.emailIds)].sort(),
  });
  const named = <T extends object>(caller: Caller, request: T) => ({
    ...request,
    authorKeyId: keyIdOf(caller),
  });
  return {
    /** Moves emails of a thread into a new one. */
    split: (caller: Caller, request: SplitRequest) => store.split(named(caller, once(request)), newIds()),
    /** Makes one thread of two. */
    merge: (caller: Caller, request: MergeRequest) => store.merge(named(caller, request), newIds()),
    /** Moves emails into a thread. */
    move: (caller: Caller, request: MoveRequest) => store.move(named(caller, once(request)), newIds()),
  };
}
