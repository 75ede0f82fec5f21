/**
 * `GET /api/emails`: emails of all threads, newest first, or those that match a query.
 *
 * In the indexes the state comes before the date: a page is merged from ranges of one index, one for each state, each in order (see
 * thread-list-statements.ts). So rare states are found as fast as the others.
 */
import { accountIdsOf, howMany } from '../../platform/base/account-filter.ts';
import { LISTED_DEFECTS, type EmailPage, type EmailsQuery, type ListedDefect } from './email-ports.ts';
import { EMAIL_STATES, type EmailState } from '../../core/delivery/states.ts';
import { formatTsquery } from '../../core/search/query.ts';
import { COMMON_STATES, filteredPages, type FilteredPages } from './filtered-emails.ts';
import { matches } from '../search/matches.ts';
import { LISTING } from './email-json.ts';
import { mergePieces, selectPage, toPage, type PageColumns, type RowBound } from './email-pages.ts';
import { run, statements, type Executor } from '../../platform/db/statement.ts';
import { WALK_COST, type planSearch } from '../search/search-plan.ts';
import { searchPage } from '../search/search-pages.ts';
import { createWordStatistics } from '../search/word-statistics.ts';

type EmailList = (request: EmailsQuery) => Promise<EmailPage>;

export function createEmailList(pool: Executor, choose?: typeof planSearch): EmailList {
  const readStatistics = createWordStatistics(pool);

  return async (asked) => {
    const { search } = asked;
    // One more row shows that there is another page.
    const limit = asked.limit + 1;
    const pages = filteredPages(pool, asked, limit) ?? plainPages(pool, asked, limit);
    if (search === null) return toPage(pool, LISTING, await pages.list(), asked.limit);
    const words = formatTsquery(search);
    const few = await pages.few(words);
    if (few !== null) return toPage(pool, LISTING, few, asked.limit);
    const { emails, estimate, rarest } = await readStatistics();
    const rows = await searchPage(
      { emails, share: estimate(search), limit, walkCost: WALK_COST.emails },
      {
        isNarrow: pages.isNarrow,
        walk: (steps) => pages.walk(words, steps),
        count: async (atMost) => (await pages.count(atMost))[0]?.count ?? 0,
        lookUp: () => pages.lookUp(words, rarest(search)),
      },
      choose,
    );
    return toPage(pool, LISTING, rows, asked.limit);
  };
}

function plainPages(pool: Executor, asked: EmailsQuery, limit: number): FilteredPages {
  const { after, state, defect } = asked;
  const accountIds = accountIdsOf(asked);
  const choice = {
    state,
    defect,
    ofAccounts: howMany(accountIds),
    isNext: after !== null,
  };
  const values = { limit, accountIds, afterDate: after?.date ?? null, afterId: after?.id ?? null };
  return {
    list: () => run(pool, LIST.of(choice), values),
    few: async () => null,
    walk: (words, steps) => run(pool, WALK.of(choice), { ...values, words, steps }),
    count: (atMost) => run(pool, COUNT.of(choice), { ...values, atMost }),
    lookUp: (words, rarest) => run(pool, LOOK_UP.of(choice), { ...values, words, rarest }),
    isNarrow: defect !== null || choice.ofAccounts === 'one' || (state !== null && !COMMON_STATES.has(state)),
  };
}

const ORDER = 'order by e.date desc, e.id desc';

/** The requested filters; each combination is a statement of its own. */
const CHOICES = {
  state: [null, ...EMAIL_STATES],
  defect: [null, ...LISTED_DEFECTS],
  // For one account, the index has the order of the list.
  ofAccounts: [null, 'one', 'some'],
  isNext: [false, true],
} as const;

interface Choice {
  readonly state: EmailState | null;
  readonly defect: ListedDefect | null;
  readonly ofAccounts: 'one' | 'some' | null;
  readonly isNext: boolean;
}

/** All conditions but the state. */
const conditionsOf = ({ defect, ofAccounts, isNext }: Choice): readonly string[] => [
  // In the words of the partial index for this defect.
  ...(defect === null ? [] : [`e.defects @> '{${defect}}'`]),
  ...(ofAccounts === 'one' ? ['e.account_id = ($accountIds::text[])[1]'] : []),
  ...(ofAccounts === 'some' ? ['e.account_id = any ($accountIds::text[])'] : []),
  ...(isNext ? ['(e.date, e.id) < ($afterDate::timestamptz, $afterId::uuid)'] : []),
];

/** At most `rows` entries of the list in its order; only columns that the index has. */
function list(choice: Choice, rows: RowBound): string {
  const { state, defect } = choice;
  const states = state === null ? (defect === null ? EMAIL_STATES : [null]) : [state];
  const pieces = states.map(
    (one) => `select e.id, e.date from emails e
      where ${[...(one === null ? [] : [`e.state = '${one}'`]), ...conditionsOf(choice)].join(' and ')} ${ORDER}`,
  );
  return mergePieces(pieces, 's.id, s.date', 'order by s.date desc, s.id desc', rows);
}

/** `found` returns the identifiers and dates of a page. */
const selectEmails = (found: string) =>
  selectPage(LISTING, `(${found}) p join emails e on e.id = p.id`, '$limit');

const LIST = statements('list-emails', CHOICES, (choice) =>
  selectEmails(list(choice, 'page')),
).narrow<PageColumns>();

const WORDS_DECIDE = { plannedEachTime: 'the best plan depends on how common the words are' };

const WALK = statements(
  'walk-emails',
  CHOICES,
  (choice) =>
    selectEmails(`
    select e.id, e.date from (${list(choice, '$steps')}) e cross join lateral (
      select from email_search x where x.email_id = e.id and ${matches('$words')} limit 1
    ) m ${ORDER} limit $limit`),
  WORDS_DECIDE,
).narrow<PageColumns>();

const COUNT = statements(
  'count-emails',
  CHOICES,
  (choice) => `select count(*)::int as count from (${list(choice, '$atMost')}) e`,
  { plannedEachTime: 'it follows a search, and is rare' },
).narrow<{ count: number }>();

/** `offset 0`: see lookUpThreads of thread-list-rows.ts. */
const LOOK_UP = statements(
  'look-up-emails',
  CHOICES,
  (choice) => {
    const { state, defect, ofAccounts } = choice;
    const found = `select x.email_id as id, x.date from email_search x
      where x.words @@ $rarest::tsquery and ${matches('$words')}`;
    const conditions = [...conditionsOf(choice), ...(state === null ? [] : [`e.state = '${state}'`])];
    // The emails themselves are large, and only read for conditions that the search rows can't answer.
    const isPlain = ofAccounts === null && state === null && defect === null;
    return selectEmails(`
    select e.id, e.date from ${
      isPlain
        ? `(${found}) e`
        : `(${found}) f cross join lateral (select e.* from emails e where e.id = f.id offset 0) e`
    }
    ${conditions.length === 0 ? '' : `where ${conditions.join(' and ')}`} ${ORDER} limit $limit`);
  },
  WORDS_DECIDE,
).narrow<PageColumns>();
