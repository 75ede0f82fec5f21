/**
 * `GET /api/emails` by more than state, defect and account. A page is read in up to three ways, each bounded; the next one is used when the
 * one before did not come to an end:
 *
 * - A set that is not in the order of the list, such as the emails recorded since a moment, is read whole if it is small.
 * - The set that usually has the fewest emails is walked in the order of the list, and each of its emails is checked: good when many match.
 * - All sets are intersected by their indexes (email-sets.ts): good when few match, however large each set is.
 *
 * Figures: docs/decisions/0042-filtered-lists.md.
 */
import { NO_FILTER, type EmailFilter, type EmailsQuery } from './email-ports.ts';
import { accountIdsOf } from '../../platform/base/account-filter.ts';
import { EMAIL_STATES, type EmailState } from '../../core/delivery/states.ts';
import { run, statements, type Executor } from '../../platform/db/statement.ts';
import { matches } from '../search/matches.ts';
import { LISTING } from './email-json.ts';
import { selectPage, type PageColumns } from './email-pages.ts';
import {
  CONDITIONS,
  firstOf,
  inAll,
  ORDERED,
  someOf,
  TOGETHER,
  UNORDERED,
  type Ordered,
  type Together,
  type Unordered,
} from './email-sets.ts';

/** A list, and the operations that a search in it needs; see search-pages.ts. */
export interface FilteredPages {
  list(): Promise<readonly PageColumns[]>;
  /** The page of the emails that match, if one of the sets is small enough to be read whole; else null. */
  few(words: string): Promise<readonly PageColumns[] | null>;
  walk(words: string, steps: number): Promise<readonly PageColumns[]>;
  count(atMost: number): Promise<readonly { readonly count: number }[]>;
  lookUp(words: string, rarest: string): Promise<readonly PageColumns[]>;
  /** The list is usually short. */
  readonly isNarrow: boolean;
}

/** Emails that are checked per row of a page: if a tenth of them match, a walk fills the page. */
const STEPS_FOR_ROW = 10;

/** A place before every email of a list. */
const BEFORE_ALL = { date: 'infinity', id: 'ffffffff-ffff-ffff-ffff-ffffffffffff' } as const;

/** null if the plain list can serve the request. @param limit one more than the page has */
export function filteredPages(pool: Executor, asked: EmailsQuery, limit: number): FilteredPages | null {
  const { tag, state, defect, after } = asked;
  if (asked.filter === undefined && tag === null) return null;
  const filter = asked.filter ?? NO_FILTER;
  const from = sourceOf(filter, asked);
  const isNext = after !== null;
  const { direction, ...conditions } = filter;
  const states = EMAIL_STATES.filter(
    (one) => (state === null || one === state) && (direction === null || directionOf(one) === direction),
  );
  const accountIds = accountIdsOf(asked);
  const values = {
    ...conditions,
    // For a set that is a single range
    ones: [''],
    // Planned for its value, a single account is a range of the index in the order of the list; several accounts are not.
    accountId: accountIds?.length === 1 ? (accountIds[0] ?? null) : null,
    accountIds: accountIds?.length === 1 ? null : accountIds,
    tag,
    defect,
    states,
    directions: [...new Set(states.map(directionOf))],
    limit,
    afterDate: after?.date ?? BEFORE_ALL.date,
    afterId: after?.id ?? BEFORE_ALL.id,
  };
  const hasDirections = [filter.companyId, filter.label, filter.hasFiles].some((value) => value !== null);
  const together: Together = {
    own:
      [filter.threadId, filter.customerId, filter.messageId, state, defect].some((value) => value !== null) ||
      accountIds !== null ||
      (direction !== null && !hasDirections),
    company: filter.companyId !== null,
    list: filter.listId !== null,
    tag: tag !== null,
    label: filter.label !== null,
    files: filter.hasFiles !== null,
    since: filter.recordedSince !== null,
    queue: isOfQueue(filter),
    bounced: filter.bounced,
  };
  const unordered = UNORDERED.filter((one) => IS_ASKED[one](filter));
  /** The page, from a set in another order; null when no such set is requested, or each has more than `steps` rows. */
  async function few(words: string | null): Promise<readonly PageColumns[] | null> {
    const steps = STEPS_FOR_ROW * limit;
    for (const one of unordered) {
      const rows = await run(pool, FEW.of({ from: one, isNext, ofWords: words !== null }), {
        ...values,
        words,
        steps,
      });
      if (!isCut(rows)) return rows;
    }
    return null;
  }
  return {
    async list() {
      const small = await few(null);
      if (small !== null) return small;
      const rows = await run(pool, LIST.of({ from, isNext }), { ...values, steps: STEPS_FOR_ROW * limit });
      return isCut(rows) ? await run(pool, LIST_TOGETHER.of(together), values) : rows;
    },
    few,
    walk: (words, steps) => run(pool, WALK.of({ from, isNext }), { ...values, words, steps }),
    count: (atMost) => run(pool, COUNT.of({ from, isNext }), { ...values, limit: atMost }),
    lookUp: (words, rarest) => run(pool, LOOK_UP.of(together), { ...values, words, rarest }),
    isNarrow: from !== 'state',
  };
}

const directionOf = (state: EmailState) => (state === 'received' ? 'inbound' : 'outbound');

/** The set that usually has the fewest emails. */
function sourceOf(filter: EmailFilter, { state, tag, defect }: EmailsQuery): Ordered {
  if (filter.threadId !== null) return 'thread';
  if (filter.customerId !== null) return 'customer';
  if (filter.companyId !== null) return 'company';
  if (filter.listId !== null) return 'list';
  if (state !== null && !COMMON_STATES.has(state)) return 'rareState';
  if (defect !== null) return 'defect';
  if (tag !== null) return 'tag';
  if (filter.label !== null) return 'label';
  return filter.hasFiles === null ? 'state' : 'files';
}

const isOfQueue = ({ scheduledSince, scheduledUntil }: EmailFilter) =>
  scheduledSince !== null || scheduledUntil !== null;

const IS_ASKED: Readonly<Record<Unordered, (filter: EmailFilter) => boolean>> = {
  messageId: ({ messageId }) => messageId !== null,
  queue: isOfQueue,
  reports: ({ bounced }) => bounced === true,
  since: ({ recordedSince }) => recordedSince !== null,
};

/** Few emails have any other state. */
export const COMMON_STATES: ReadonlySet<EmailState> = new Set<EmailState>(['sent', 'received']);

interface CutColumns extends PageColumns {
  /** Not an email of the page: it marks where the checked emails end. */
  readonly is_cut: boolean;
}

const isCut = (rows: readonly CutColumns[]): boolean => rows.at(-1)?.is_cut === true;

const ORDER = 'order by e.date desc, e.id desc';
const VALUES_DECIDE = { plannedEachTime: 'a condition without a value is left out of the plan' };
const HAS_WORDS = `cross join lateral (
      select from email_search x where x.email_id = e.id and ${matches('$words')} limit 1
    ) m`;

const selectEmails = (found: string, flag?: string) =>
  selectPage(LISTING, `(${found}) p join emails e on e.id = p.id`, '$limit', flag);

/** `offset 0`: the email of each row is looked up, in the order of the rows, until there are enough. */
const walked = (from: Ordered, isNext: boolean, isEnd: string) => `
    select g.id, g.date, ${isEnd} as is_cut from (${firstOf(from, isNext, '$steps')}) g cross join lateral (
      select from emails e where e.id = g.id and (${isEnd} or (${CONDITIONS})) offset 0
    ) e`;

const ORDERED_CHOICES = { from: ORDERED, isNext: [false, true] } as const;

const LIST = statements(
  'list-filtered-emails',
  ORDERED_CHOICES,
  ({ from, isNext }) =>
    selectEmails(
      `${walked(from, isNext, 'g.n = $steps')} order by g.date desc, g.id desc limit $limit`,
      'is_cut',
    ),
  VALUES_DECIDE,
).narrow<CutColumns>();

const WALK = statements(
  'walk-filtered-emails',
  ORDERED_CHOICES,
  ({ from, isNext }) =>
    selectEmails(
      `select e.id, e.date from (${walked(from, isNext, 'false')}) e ${HAS_WORDS} ${ORDER} limit $limit`,
    ),
  VALUES_DECIDE,
).narrow<PageColumns>();

const COUNT = statements(
  'count-filtered-emails',
  ORDERED_CHOICES,
  ({ from, isNext }) => `select count(*)::int as count from (${firstOf(from, isNext, '$limit')}) e`,
  VALUES_DECIDE,
).narrow<{ count: number }>();

/** Looks nothing up if there are too many rows. */
const FEW = statements(
  'list-few-emails',
  { from: UNORDERED, isNext: [false, true], ofWords: [false, true] },
  ({ from, isNext, ofWords }) => {
    const after = isNext ? 'and (e.date, e.id) < ($afterDate::timestamptz, $afterId::uuid)' : '';
    return selectEmails(
      `with few as materialized (${someOf(from, '$steps')})
    (
      select e.id, e.date, false as is_cut from few f cross join lateral (
        select e.id, e.date from emails e where e.id = f.id and ${CONDITIONS} ${after} offset 0
      ) e ${ofWords ? HAS_WORDS : ''}
      where (select count(*) from few) < $steps ${ORDER} limit $limit
    ) union all (
      select f.id, null, true from few f where (select count(*) from few) >= $steps limit 1
    )`,
      'is_cut',
    );
  },
  VALUES_DECIDE,
).narrow<CutColumns>();

/** Materialized: with only the first page in view PostgreSQL would walk one set and hope to meet the others. */
const allOf = (found: string) =>
  `with found as materialized (${found}) select e.id, e.date from found e ${ORDER} limit $limit`;

const LIST_TOGETHER = statements(
  'list-emails-together',
  TOGETHER,
  (choice) => selectEmails(allOf(inAll(choice, () => ['', 'true']))),
  VALUES_DECIDE,
).narrow<PageColumns>();

const LOOK_UP = statements(
  'look-up-filtered-emails',
  TOGETHER,
  (choice) =>
    selectEmails(
      allOf(
        inAll(choice, (id) => [
          `join email_search x on x.email_id = ${id}`,
          `x.words @@ $rarest::tsquery and ${matches('$words')}`,
        ]),
      ),
    ),
  VALUES_DECIDE,
).narrow<PageColumns>();
