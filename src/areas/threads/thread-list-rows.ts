/** The common parts of pages of the list of threads: the facets, the order, and the displayed data of each thread. */
import type { AutomaticMail } from '../../core/delivery/automatic.ts';
import type { AddressView } from '../../core/address/address-view.ts';
import { MAX_SHOWN_RECIPIENTS, type ThreadFilter } from './thread-list-ports.ts';
import type { AuthVerdict } from '../../core/message/authentication.ts';
import { SNIPPET_SOURCE_CHARS } from '../../core/message/snippet.ts';
import { LISTED } from '../emails/listed.ts';
import { matches } from '../search/matches.ts';
import { assigneeName } from './assignees.ts';
import { firstAddresses, peopleOf } from './participants.ts';

/** Bits of `thread_summaries.facets`. */
const INBOUND = 1;
const UNREAD = 2;
const UNANSWERED = 4;
const DONE = 8;
/** Alone: threads of spam are in no other list than theirs, and in that of all threads. */
const SPAM = 16;
const OTHER_FACETS = Array.from({ length: 16 }, (_, facets) => facets);
export const ALL_FACETS = [...OTHER_FACETS, SPAM];

/** The values of the facets that pass a filter. */
export function facetsOf({
  direction,
  unread,
  unanswered,
  status,
}: Pick<ThreadFilter, 'direction' | 'unread' | 'unanswered' | 'status'>): number[] {
  const fits = (facets: number, bit: number, wanted: boolean | null) =>
    wanted === null || ((facets & bit) !== 0) === wanted;
  if (status === 'spam') return [SPAM];
  const isAll = [direction, unread, unanswered, status].every((wanted) => wanted === null);
  if (isAll) return ALL_FACETS;
  return OTHER_FACETS.filter(
    (facets) =>
      fits(facets, INBOUND, direction === null ? null : direction === 'inbound') &&
      fits(facets, UNREAD, unread) &&
      fits(facets, UNANSWERED, unanswered) &&
      fits(facets, DONE, status === null ? null : status === 'done'),
  );
}

/** The other filters: parts of a choice. */
export const CONDITIONS = {
  ofCustomer: [false, true],
  ofCompany: [false, true],
  // For one account, the index has the order of the list.
  ofAccounts: [null, 'one', 'some'],
  isNext: [false, true],
} as const;

export interface Conditions {
  readonly ofCustomer: boolean;
  readonly ofCompany: boolean;
  readonly ofAccounts: 'one' | 'some' | null;
  readonly isNext: boolean;
}

export const ORDER = 'order by s.last_activity_at desc, s.thread_id desc';

/** All conditions but the facets. */
export const conditionsOf = ({
  ofCustomer,
  ofCompany,
  ofAccounts,
  isNext,
}: Conditions): readonly string[] => [
  ...(ofCustomer ? ['s.customer_id = $customerId::uuid'] : []),
  ...(ofCompany ? ['s.company_id = $companyId::uuid'] : []),
  ...(ofAccounts === 'one' ? ['s.account_id = ($accountIds::text[])[1]'] : []),
  ...(ofAccounts === 'some' ? ['s.account_id = any ($accountIds::text[])'] : []),
  ...(isNext ? ['(s.last_activity_at, s.thread_id) < ($afterDate::timestamptz, $afterId::uuid)'] : []),
];

const PREVIEW_COLUMNS = `n.from_address as newest_from, ${firstAddresses('n.to_addresses', MAX_SHOWN_RECIPIENTS)} as newest_to, n.automatic ->> 'kind' as newest_automatic,
  n.authentication ->> 'verdict' as newest_verdict, n.date as newest_date,
  left(coalesce(nullif(n.reply_text, ''), n.text_body), ${SNIPPET_SOURCE_CHARS + 1}) as newest_text, f.subject,
  p.people`;

/** The displayed data of each thread beside its summary; of a long thread only its ends are read. */
const PREVIEW = `
  join emails n on n.id = s.newest_email_id
  cross join lateral (
    select e.subject from emails e where e.thread_id = s.thread_id and (${LISTED} or s.email_count = 0) order by e.date, e.id limit 1
  ) f
  cross join lateral (${peopleOf('s.thread_id', `(${LISTED} or s.email_count = 0)`)}) p`;

/** `found` returns the summaries of a page. */
export const selectThreads = (found: string) => `
  select s.thread_id, s.account_id, s.customer_id, s.company_id, s.email_count, s.unread_count, s.has_attachments,
    (s.facets & ${UNANSWERED}) <> 0 as unanswered, (s.facets & ${DONE}) <> 0 as is_done, s.facets = ${SPAM} as is_spam, s.undelivered, s.assignee, ${assigneeName('s.assignee')} as assignee_name,
    s.labels, s.last_activity_at, s.newest_email_id, s.newest_direction,
    ${PREVIEW_COLUMNS}
  from (${found}) s ${PREVIEW}
  ${ORDER}`;

/** A page of a search that looks at each thread of `listed`, in the order of the list. */
export const walkThreads = (listed: string): string =>
  selectThreads(`
    select s.* from (${listed}) s cross join lateral (
      select from emails e join email_search x on x.email_id = e.id
      where e.thread_id = s.thread_id and x.is_listed and ${matches('$words')} limit 1
    ) m ${ORDER} limit $limit`);

/**
 * A page of a search that asks the index. `offset 0` keeps the two parts separate: if the planner joined them freely, it would read the
 * whole table for a few hundred threads.
 */
export const lookUpThreads = (conditions: readonly string[]): string =>
  selectThreads(`
    select s.* from (
      select distinct x.thread_id from email_search x
      where x.words @@ $rarest::tsquery and x.is_listed and ${matches('$words')}
    ) f cross join lateral (
      select s.* from thread_summaries s where s.thread_id = f.thread_id offset 0
    ) s
    where ${conditions.join(' and ')}
    ${ORDER} limit $limit`);

/** The summaries come from subqueries, so the schema does not give their types. */
export interface ListedThreadColumns {
  thread_id: string;
  account_id: string;
  email_count: number;
  unread_count: number;
  has_attachments: boolean;
  unanswered: boolean;
  is_done: boolean;
  is_spam: boolean;
  undelivered: number;
  assignee_name: string | null;
  labels: string[];
  last_activity_at: Date;
  newest_email_id: string;
  newest_direction: 'inbound' | 'outbound';
  newest_verdict: AuthVerdict | null;
  newest_to: AddressView[];
  newest_text: string;
  newest_automatic: AutomaticMail['kind'] | null;
  subject: string;
  /** The people of the newest emails, each with the sender first. */
  people: AddressView[][];
}

export const WORDS_DECIDE = { plannedEachTime: 'the best plan depends on how common the words are' };
