/** The keys to which threads can be assigned: those that may answer in the account. */
import type { Pool } from 'pg';
import { accountIdsOf, type AccountFilter } from '../../platform/base/account-filter.ts';
import { ServiceError } from '../../core/errors.ts';
import { rightsWith, type Right } from '../../core/keys/rights.ts';
import { run, statement, type Executor } from '../../platform/db/statement.ts';

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

/** Assignees that the refusal of an unknown one names. */
const MAX_NAMED = 20;

export function createAssigneeReader(pool: Pool): AssigneeReader {
  return { listAssignees: (filter) => findAssignees(pool, accountIdsOf(filter)) };
}

/** Throws `unknown_assignee`, which names those of the account. @param accountId null: of any account */
export async function requireAssignee(
  executor: Executor,
  id: string,
  accountId: string | null,
): Promise<void> {
  const assignees = await findAssignees(executor, accountId === null ? null : [accountId]);
  if (assignees.some((assignee) => assignee.id === id)) return;
  const named = assignees.slice(0, MAX_NAMED).map((assignee) => `${assignee.id} (${assignee.name})`);
  if (assignees.length > MAX_NAMED) named.push('…');
  const known = named.length === 0 ? '–' : named.join(', ');
  throw new ServiceError('unknown_assignee', { values: { value: id, known } });
}

const findAssignees = (executor: Executor, accountIds: string[] | null): Promise<readonly Assignee[]> =>
  run(executor, FIND, { accountIds });

const having = (right: Right): string => `k.rights && '{${rightsWith(right).join(',')}}'`;

const FIND = statement(
  'find-assignees',
  `select k.id, k.name from api_keys k
  where k.revoked_at is null and (k.expires_at is null or k.expires_at > now())
    and ${having('read')} and ${having('send')}
    and ($accountIds::text[] is null or k.accounts is null or k.accounts && $accountIds)
  order by lower(k.name), k.id`,
);

/** The name of an assignee, also after its key was revoked; null for none. @param column such as `t.assignee` */
export const assigneeName = (column: string): string =>
  `coalesce((select k.name from api_keys k where k.id = ${column}), ${column})`;
