/** A page of search results, read in the way that search-plan.ts chooses. */
import { MIN_STEPS, planSearch, type SearchSituation } from './search-plan.ts';

export interface SearchedList<Row> {
  /** The list is that of one customer or company, or another part that is usually small. */
  readonly isNarrow: boolean;
  /** Matches among the first `steps` entries of the list, in its order, at most one page. */
  walk(steps: number): Promise<readonly Row[]>;
  /** Counts entries of the list, up to `atMost`. */
  count(atMost: number): Promise<number>;
  /** A page of all matches, in the order of the list. */
  lookUp(): Promise<readonly Row[]>;
}

/** Only tests pass `choose`. */
export async function searchPage<Row>(
  situation: SearchSituation,
  list: SearchedList<Row>,
  choose = planSearch,
): Promise<readonly Row[]> {
  if (list.isNarrow && (await list.count(MIN_STEPS + 1)) <= MIN_STEPS) return await list.walk(MIN_STEPS);
  const plan = choose(situation);
  if (plan.kind === 'walk') {
    const rows = await list.walk(plan.steps);
    if (rows.length === situation.limit || (await list.count(plan.steps + 1)) <= plan.steps) return rows;
  }
  return await list.lookUp();
}
