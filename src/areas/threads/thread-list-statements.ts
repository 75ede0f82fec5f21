/**
 * The list of threads, and searches in it, with any assignee and in any state. The indexes have the facets before the time. A page is
 * merged from ranges of one index, one for each value of the facets that passes the filter; each range is in order, so no more is read than
 * the page and one row of each range.
 */
import type { ThreadFilter } from './thread-list-ports.ts';
import { statements } from '../../platform/db/statement.ts';
import { mergePieces, type RowBound } from '../emails/email-pages.ts';
import {
  ALL_FACETS,
  CONDITIONS,
  conditionsOf,
  facetsOf,
  lookUpThreads,
  ORDER,
  selectThreads,
  walkThreads,
  WORDS_DECIDE,
  type Conditions,
  type ListedThreadColumns,
} from './thread-list-rows.ts';

/** The requested filters; each combination is a statement of its own, so that each finds its index. */
const CHOICES = {
  direction: [null, 'inbound', 'outbound'],
  unread: [null, false, true],
  unanswered: [null, false, true],
  ...CONDITIONS,
} as const;

type Choice = Conditions & Pick<ThreadFilter, 'direction' | 'unread' | 'unanswered'>;

const facets = (choice: Choice) => facetsOf({ ...choice, status: null });

/** The list in its order, at most `rows` of it. */
function list(choice: Choice, rows: RowBound): string {
  const pieces = facets(choice).map(
    (value) => `select s.* from thread_summaries s
      where ${[`s.facets = ${value}`, ...conditionsOf(choice)].join(' and ')} ${ORDER}`,
  );
  return mergePieces(pieces, 's.*', ORDER, rows);
}

/** The filters with which a list is opened most, beside those for all threads. */
const isInbox = ({ direction, unread, unanswered, ofCustomer, ofCompany, ofAccounts }: Choice): boolean =>
  direction === null && unread !== false && unanswered !== false && !(ofCustomer || ofCompany || ofAccounts);

export const LIST = statements('list-threads', CHOICES, (choice) => selectThreads(list(choice, 'page')), {
  plannedEachTime: 'kept plans take some 400 kB each, and with filters there would be hundreds',
  when: (choice) => facets(choice).length < ALL_FACETS.length && !isInbox(choice),
}).narrow<ListedThreadColumns>();

export const WALK = statements(
  'walk-threads',
  CHOICES,
  (choice) => walkThreads(list(choice, '$steps')),
  WORDS_DECIDE,
).narrow<ListedThreadColumns>();

export const COUNT = statements(
  'count-threads',
  CHOICES,
  (choice) => `select count(*)::int as count from (${list(choice, '$atMost')}) s`,
  { plannedEachTime: 'it follows a search, and is rare' },
).narrow<{ count: number }>();

export const LOOK_UP = statements(
  'look-up-threads',
  CHOICES,
  (choice) => lookUpThreads([`s.facets in (${facets(choice).join(', ')})`, ...conditionsOf(choice)]),
  WORDS_DECIDE,
).narrow<ListedThreadColumns>();
