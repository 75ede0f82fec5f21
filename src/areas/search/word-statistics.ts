/**
 * How common words are, for choosing how to search: the result of ANALYZE for `email_search`, kept for a minute. It lists the thousand or
 * so most common words; others are rarer than the rarest of these. A wrong answer only costs time.
 */
import {
  formatTsquery,
  toLexeme,
  type SearchQuery,
  type Term,
  type TermWord,
} from '../../core/search/query.ts';
import { run, statement, type Executor } from '../../platform/db/statement.ts';

export interface WordStatistics {
  /** Number of searched emails. */
  readonly emails: number;
  /** The share of all emails that a query finds, 0 to 1. */
  estimate(query: SearchQuery): number;
  /**
   * The words by which a query is best looked up in the index, as a `tsquery`: the rarest, and others that are rare too. Finds all matches
   * of the query, and more. Having the index also collect the occurrences of a common word takes longer than checking the matches of the
   * rare ones; the more so when the word is a prefix.
   */
  rarest(query: SearchQuery): string;
}

const KEPT_MS = 60_000;

/** Words up to this share of all emails are looked up together. */
const RARE_SHARE = 0.02;

/** So are words up to this many times as common as the rarest: collecting them takes less time than reading all matches of the rarest. */
const COMPARABLE = 2;

/** The share of a word that is not among the most common ones, when those have no statistics. */
const UNKNOWN_SHARE = 0.005;

export function createWordStatistics(pool: Executor): () => Promise<WordStatistics> {
  let kept: Promise<WordStatistics> | null = null;
  let keptUntil = 0;
  return () => {
    if (kept === null || performance.now() > keptUntil) {
      keptUntil = performance.now() + KEPT_MS;
      const reading = readStatistics(pool);
      reading.catch(() => {
        if (kept === reading) kept = null;
      });
      kept = reading;
    }
    return kept;
  };
}

async function readStatistics(pool: Executor): Promise<WordStatistics> {
  const [row] = await run(pool, STATISTICS);
  return toStatistics(row?.emails ?? 0, row?.words ?? [], row?.shares ?? []);
}

const STATISTICS = statement(
  'word-statistics',
  `select greatest(c.reltuples, 0)::float8 as emails, s.most_common_elems::text::text[] as words,
    s.most_common_elem_freqs::float8[] as shares
  from pg_class c
  join pg_namespace n on n.oid = c.relnamespace
  left join pg_stats s on s.schemaname = n.nspname and s.tablename = c.relname and s.attname = 'words'
  where c.oid = 'email_search'::regclass`,
).narrow<{ emails: number }>();

/** The first `shares` belong to `words`; further shares may follow. */
export function toStatistics(
  emails: number,
  words: readonly string[],
  shares: readonly number[],
): WordStatistics {
  const known = words.map((word, index) => ({ word, share: shares[index] ?? 0 }));
  const byWord = new Map(known.map(({ word, share }) => [word, share]));
  const rest =
    known.length === 0 ? UNKNOWN_SHARE : known.reduce((least, { share }) => Math.min(least, share), 1) / 2;

  const shareOfForm = (form: string, isPrefix: boolean): number => {
    if (!isPrefix) return byWord.get(form) ?? rest;
    const beginning = known.filter(({ word }) => word.startsWith(form));
    return beginning.reduce((sum, { share }) => sum + share, beginning.length === 0 ? rest : 0);
  };
  const shareOfWord = ({ forms, isPrefix, part }: TermWord) =>
    Math.min(
      1,
      forms.reduce((sum, form) => sum + shareOfForm(toLexeme(form, part), isPrefix), 0),
    );
  const shareOfTerm = (term: Term) => together(term.map(shareOfWord));
  return {
    emails,
    estimate: ({ terms }) => together(terms.map(shareOfTerm)),
    rarest({ terms: [first, ...others] }) {
      const [rarest, ...rarer] = [...first, ...others.flat()]
        .map((word) => ({ word, share: shareOfWord(word) }))
        .toSorted((a, b) => a.share - b.share);
      const bound = Math.max(RARE_SHARE, COMPARABLE * (rarest?.share ?? 0));
      const together = rarer.filter(({ share }) => share <= bound);
      const words = [...(rarest === undefined ? [] : [rarest]), ...together].map(({ word }): Term => [word]);
      return formatTsquery({ terms: [words[0] ?? first, ...words.slice(1)], excluded: [] });
    },
  };
}

/** The share of all words together: words of one query tend to occur in the same emails, so each further one counts less. */
function together(shares: readonly number[]): number {
  const ascending = shares.toSorted((a, b) => a - b);
  return ascending.reduce((product, share, index) => product * share ** (1 / 2 ** index), 1);
}
