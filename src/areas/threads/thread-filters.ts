/** What selects threads: query parameters of their list, and of acts on many of them. */
import { invalidRequest } from '../../core/errors.ts';
import type { ValueOf } from '../../platform/operation/values.ts';
import {
  AccountId,
  SEARCH_PART_PARAMETERS,
  SearchQuery,
  toSearchParts,
} from '../../platform/schemas/page-schemas.ts';
import { KeyId } from '../../platform/schemas/right.ts';
import { Direction, Moment, Uuid } from '../../platform/schemas/schemas.ts';
import { ThreadLabel, ThreadStatusText } from '../../platform/schemas/thread-schemas.ts';
import type { ThreadsRequest } from './use-cases.ts';

export const THREAD_FILTERS = {
  q: { ...SearchQuery, description: 'Only threads with an email that matches all its words.' },
  ...SEARCH_PART_PARAMETERS,
  customer_id: { ...Uuid, description: 'Only threads of this customer.' },
  company_id: { ...Uuid, description: 'Only threads of this company.' },
  account_id: { ...AccountId, description: 'Only of this account.' },
  direction: {
    ...Direction,
    description: 'Only threads whose newest email has this direction.',
  },
  unread: { type: 'boolean', description: 'Only threads with unread emails, or only those without.' },
  unanswered: {
    type: 'boolean',
    description:
      '`true`: only threads whose newest email not written by a machine (`written_by`) is inbound; `false`: only the others.',
  },
  undelivered: {
    type: 'boolean',
    description:
      'Only threads with a send that failed, is unclear, was refused for some recipients, or bounced, and that was not dealt ' +
      'with; or only the others.',
  },
  status: { ...ThreadStatusText, description: 'Only threads of this status.' },
  assignee: { ...KeyId, description: 'Only threads of this assignee.' },
  assigned: {
    type: 'boolean',
    description: 'Only threads with an assignee, or only those without one.',
  },
  label: { ...ThreadLabel, description: 'Only threads with this label.' },
  has_attachments: {
    type: 'boolean',
    description: 'Only threads with attachments, or only those without.',
  },
  active_since: { ...Moment, description: 'Only threads whose last activity was at or after this time.' },
  active_until: { ...Moment, description: 'Only threads whose last activity was before this time.' },
} as const;

export type ThreadFilters = ValueOf<typeof THREAD_FILTERS>;

/** Throws `invalid_request` for filters that exclude one another. */
export function requestOf({ q, from, to, subject, assigned, ...filters }: ThreadFilters) {
  if (filters.assignee !== undefined && assigned === false)
    throw invalidRequest('not_with', { field: 'assignee', other: 'assigned=false' });
  return {
    q: q ?? null,
    searchIn: toSearchParts({ from, to, subject }),
    customerId: filters.customerId ?? null,
    companyId: filters.companyId ?? null,
    accountId: filters.accountId ?? null,
    direction: filters.direction ?? null,
    unread: filters.unread ?? null,
    unanswered: filters.unanswered ?? null,
    undelivered: filters.undelivered ?? null,
    status: filters.status ?? null,
    assignee: filters.assignee ?? null,
    isAssigned: assigned ?? null,
    label: filters.label ?? null,
    hasAttachments: filters.hasAttachments ?? null,
    activeSince: filters.activeSince ?? null,
    activeUntil: filters.activeUntil ?? null,
  } satisfies Omit<ThreadsRequest, 'limit' | 'cursor'>;
}
