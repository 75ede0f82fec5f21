/**
 * The words of a search, and their places in a text, found the way the service finds them (docs/api/search.md), so that the marks
 * show what was found.
 */

/** Consecutive words. */
export type Term = readonly TermWord[];

interface TermWord {
  readonly forms: readonly string[];
  /** True if the word may continue. */
  readonly isPrefix: boolean;
}

/** A piece of a text, and whether it matches the search. */
export interface Piece {
  readonly text: string;
  readonly isHit: boolean;
}

/** Shorter words match only whole words. */
const MIN_PREFIX_CHARS = 3;
/** Longer texts are not searched for hits: they stay readable without marks. */
const MAX_MARKED_CHARS = 100_000;

const UNSPACED =
  '[\\p{sc=Han}\\p{sc=Hiragana}\\p{sc=Katakana}\\p{sc=Thai}\\p{sc=Lao}\\p{sc=Khmer}\\p{sc=Myanmar}]';
const WORD = new RegExp(`${UNSPACED}\\p{M}*|(?:(?!${UNSPACED})[\\p{L}\\p{N}\\p{M}])+`, 'gu');
const MARKS = /[\u0300-\u036f]/g;
const UMLAUTS: Readonly<Record<string, string>> = { ä: 'ae', ö: 'oe', ü: 'ue' };
const UMLAUT = /[äöü]/g;

const plain = (word: string): string => word.normalize('NFKD').replace(MARKS, '').replaceAll('ß', 'ss');

/** Both spellings of umlauts match. */
function formsOf(word: string): readonly string[] {
  const lower = word.normalize('NFC').toLowerCase();
  const written = plain(lower.replace(UMLAUT, (letter) => UMLAUTS[letter] ?? letter));
  const short = plain(lower);
  return short === written ? [short] : [short, written];
}

/** null: the text contains no word. */
export function toTerm(typed: string, isExact: boolean): Term | null {
  const words = [...typed.matchAll(WORD)].map(([word]) => formsOf(word));
  const term = words.map((forms, index) => ({
    forms,
    isPrefix: !isExact && index === words.length - 1 && (forms[0]?.length ?? 0) >= MIN_PREFIX_CHARS,
  }));
  return term.length === 0 ? null : term;
}

const fits = ({ forms, isPrefix }: TermWord, word: readonly string[]): boolean =>
  word.some((form) => forms.some((wanted) => (isPrefix ? form.startsWith(wanted) : form === wanted)));

/** The text in pieces; a single piece when nothing matches. */
export function markHits(text: string, terms: readonly Term[]): readonly Piece[] {
  if (terms.length === 0) return [{ text, isHit: false }];
  const words = [...text.slice(0, MAX_MARKED_CHARS).matchAll(WORD)].map(({ 0: word, index }) => ({
    start: index,
    end: index + word.length,
    forms: formsOf(word),
  }));
  const pieces: Piece[] = [];
  let end = 0;
  for (let at = 0; at < words.length; at += 1) {
    const length = longestAt(words, at, terms);
    const [first, last] = [words[at], words[at + length - 1]];
    if (length === 0 || first === undefined || last === undefined) continue;
    if (first.start > end) pieces.push({ text: text.slice(end, first.start), isHit: false });
    pieces.push({ text: text.slice(first.start, last.end), isHit: true });
    end = last.end;
    at += length - 1;
  }
  if (end < text.length || pieces.length === 0) pieces.push({ text: text.slice(end), isHit: false });
  return pieces;
}

/** The number of words of the longest term that begins here; 0: none does. */
function longestAt(
  words: readonly { readonly forms: readonly string[] }[],
  at: number,
  terms: readonly Term[],
): number {
  let longest = 0;
  for (const term of terms) {
    const isThere = term.every((wanted, place) => fits(wanted, words[at + place]?.forms ?? []));
    if (isThere && term.length > longest) longest = term.length;
  }
  return longest;
}

export const hasHit = (text: string, terms: readonly Term[]): boolean =>
  markHits(text, terms).some(({ isHit }) => isHit);
