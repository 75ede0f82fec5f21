/**
 * The query that a person types to find a name: every word has to begin a word of the name, in any order. Unlike in a
 * query for emails (query.ts), a single letter is a beginning too: names are few.
 */
import { wordsOf, type WordForms } from './words.ts';

/** Words of a query that count; a name seldom has more. */
const MAX_WORDS = 8;

/** The words of the typed text. */
export function typedWords(text: string): readonly WordForms[] {
  const words: WordForms[] = [];
  for (const forms of wordsOf(text)) {
    words.push(forms);
    if (words.length === MAX_WORDS) break;
  }
  return words;
}

/** Formats PostgreSQL's text form of a `tsquery`; letters and digits only, so nothing needs quoting inside the quotes. */
export const formatPrefixQuery = (words: readonly WordForms[]): string =>
  words.map((forms) => `(${forms.map((form) => `'${form}':*`).join(' | ')})`).join(' & ');

/** The words of a name, each once, in all their forms. */
export const nameWords = (text: string): readonly string[] => [...new Set([...wordsOf(text)].flat())];

/** Formats PostgreSQL's text form of a `tsvector`. */
export const formatWords = (words: readonly string[]): string => words.map((word) => `'${word}'`).join(' ');
