/**
 * What a person typed into a search field, as PostgreSQL's text form of a `tsquery`.
 *
 * All words must be there. A word finds those that begin with it, from three characters on; words in quotes stand
 * together, exactly so; a minus before a word or a quote excludes it. What belongs together by other signs
 * (`@example.com`, `RE-2024/4711`) is found as a phrase whose last word may continue. Every text is a query: signs that mean
 * nothing are left out.
 */
import { PART_SIGNS } from './document.ts';
import { wordsOf, type WordForms } from './words.ts';

/** Characters of a query. */
export const MAX_QUERY_CHARS = 200;

/** Shorter words are found exactly: the index has too many words that begin with them. */
const MIN_PREFIX_CHARS = 3;

/** Where a word has to be. */
export type SearchPart = keyof typeof PART_SIGNS;

/** What was typed for some parts alone. */
export type SearchParts = { readonly [Part in SearchPart]?: string | undefined };

/** One word of a term, and whether it is a prefix. */
export interface TermWord {
  readonly forms: WordForms;
  readonly isPrefix: boolean;
  /** null: anywhere. */
  readonly part: SearchPart | null;
}

/** Words that stand one after the other. */
export type Term = readonly [TermWord, ...TermWord[]];

export interface SearchQuery {
  /** All of them; at least one. */
  readonly terms: readonly [Term, ...Term[]];
  /** None of them. */
  readonly excluded: readonly Term[];
}

/** A quote of any language, or what stands between spaces; a minus before it. */
const TERM = /(?<minus>(?<!\S)[-−–])?(?:["„“”«»](?<quoted>[^"„“”«»]*)["„“”«»]?|(?<bare>[^\s"„“”«»]+))/gu;

const PARTS = [null, 'from', 'to', 'subject'] as const;

/** Whether anything was typed to search for. */
export const isSearch = (text: string | null, parts: SearchParts = {}): boolean =>
  text !== null || Object.values(parts).some((typed) => typed !== undefined);

/** null when there is no word to search for: such a query finds nothing. */
export function parseSearchQuery(text: string | null, parts: SearchParts = {}): SearchQuery | null {
  const terms: Term[] = [];
  const excluded: Term[] = [];
  for (const part of PARTS) {
    for (const { groups } of ((part === null ? text : parts[part]) ?? '')
      .slice(0, MAX_QUERY_CHARS)
      .matchAll(TERM)) {
      const { minus, quoted, bare } = groups ?? {};
      const term = toTerm(quoted ?? bare ?? '', quoted !== undefined, part);
      if (term !== null) (minus === undefined ? terms : excluded).push(term);
    }
  }
  const [first, ...others] = terms;
  return first === undefined ? null : { terms: [first, ...others], excluded };
}

function toTerm(text: string, isExact: boolean, part: SearchPart | null): Term | null {
  const words = [...wordsOf(text)];
  const [first, ...others] = words.map((forms, index): TermWord => ({
    forms,
    part,
    isPrefix: !isExact && index === words.length - 1 && forms[0].length >= MIN_PREFIX_CHARS,
  }));
  return first === undefined ? null : [first, ...others];
}

export function formatTsquery({ terms, excluded }: SearchQuery): string {
  return [...terms.map(formatTerm), ...excluded.map((term) => `!${formatTerm(term)}`)].join(' & ');
}

const formatTerm = (term: Term) => `(${term.map(formatWord).join(' <-> ')})`;

/** As the word stands in the index. */
export const toLexeme = (form: string, part: SearchPart | null): string =>
  part === null ? form : PART_SIGNS[part] + form;

/** Letters, digits and signs of parts only, so nothing needs quoting inside the quotes. */
function formatWord({ forms, isPrefix, part }: TermWord): string {
  return `(${forms.map((form) => `'${toLexeme(form, part)}'${isPrefix ? ':*' : ''}`).join(' | ')})`;
}
