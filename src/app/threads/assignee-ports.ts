/** To which keys a thread can be assigned. */
import type { AccountFilter } from '../base/account-filter.ts';

/** Characters of the id of an assignee. */
export const MAX_ASSIGNEE_CHARS = 100;

/** A key that may read and answer in an account. */
export interface Assignee {
  readonly id: string;
  readonly name: string;
}

/** Throws `ServiceError('database_unavailable')`. */
export interface AssigneeReader {
  /** By name. With several accounts, those that may answer in at least one of them. */
  listAssignees(filter: AccountFilter): Promise<readonly Assignee[]>;
}
