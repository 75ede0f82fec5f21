/**
 * Converts the text of a search field to PostgreSQL's text form of a `tsquery`.
 *
 * All words must occur. A word finds those that begin with it, from three characters on; words in quotes must occur
 * together, exactly as written; a minus before a word or a quote excludes it. Words joined by other signs (`@example.com`,
 * `RE-2024/4711`) are found as a phrase whose last word may continue. Every text is a query: meaningless signs are left out.
 */
import { PART_SIGNS } from './document.ts';
import { wordsOf, type WordForms } from './words.ts';

/** Characters of a query. */
export const MAX_QUERY_CHARS = 200;

/** Shorter words are matched exactly: too many words of the index begin with them. */
const MIN_PREFIX_CHARS = 3;

/** The part in which a word has to be. */
export type SearchPart = keyof typeof PART_SIGNS;

/** The texts typed for single parts. */
export type SearchParts = { readonly [Part in SearchPart]?: string | undefined };

/** One word of a term, exact or a prefix. */
export interface TermWord {
  readonly forms: WordForms;
  readonly isPrefix: boolean;
  /** null: anywhere. */
  readonly part: SearchPart | null;
}

/** Consecutive words. */
export type Term = readonly [TermWord, ...TermWord[]];

export interface SearchQuery {
  /** Terms that must all match; at least one. */
  readonly terms: readonly [Term, ...Term[]];
  /** Terms none of which may match. */
  readonly excluded: readonly Term[];
}

/** A quote of any language, or text between spaces; perhaps with a minus before it. */
const TERM = /(?<minus>(?<!\S)[-−–])?(?:["„“”«»](?<quoted>[^"„“”«»]*)["„“”«»]?|(?<bare>[^\s"„“”«»]+))/gu;

const PARTS = [null, 'from', 'to', 'subject'] as const;

/** True if a text was given, for everything or for a part. */
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

/** The word's form in the index. */
export const toLexeme = (form: string, part: SearchPart | null): string =>
  part === null ? form : PART_SIGNS[part] + form;

/** The word has only letters, digits and signs of parts, so nothing needs quoting inside the quotes. */
function formatWord({ forms, isPrefix, part }: TermWord): string {
  return `(${forms.map((form) => `'${toLexeme(form, part)}'${isPrefix ? ':*' : ''}`).join(' | ')})`;
}
