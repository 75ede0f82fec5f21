/**
 * Words of a text, in the same form for stored texts and for queries: letter case, accents and the two ways
 * of writing umlauts make no difference, in any script. Nothing here depends on the database's languages or extensions.
 */
import { cutText } from '../cut-text.ts';

/** Characters of a word that count; a longer one is found by its beginning. */
export const MAX_WORD_CHARS = 64;

/** The forms of one word; the first is the plain one. Letters and digits only, 1 to 64 characters each. */
export type WordForms = readonly [string, ...string[]];

/** Letters, digits and their marks. */
const WORD = /[\p{L}\p{N}\p{M}]+/gu;

/** A script that is written without spaces: each character is a word of its own, and a sequence is found as a phrase. */
const UNSPACED = /[\p{sc=Han}\p{sc=Hiragana}\p{sc=Katakana}\p{sc=Thai}\p{sc=Lao}\p{sc=Khmer}\p{sc=Myanmar}]/u;
const UNSPACED_WORD = new RegExp(`${UNSPACED.source}\\p{M}*|(?:(?!${UNSPACED.source}).)+`, 'gsu');

const PLAIN = /^[a-z0-9]*$/;

/** Accents, Hebrew points and Arabic vowel signs. Marks that are letters of their own (Devanagari, Thai) stay. */
const MARKS = /[\u0300-\u036f\u0591-\u05bd\u05bf\u05c1\u05c2\u05c4\u05c5\u05c7\u064b-\u065f\u0670]/g;

/** Letters that have no decomposition, as people write them without a key for them. */
const PLAIN_LETTERS: Readonly<Record<string, string>> = {
  ß: 'ss',
  æ: 'ae',
  œ: 'oe',
  ø: 'o',
  ł: 'l',
  đ: 'd',
  ð: 'd',
  þ: 'th',
  ı: 'i',
  ħ: 'h',
  ŋ: 'n',
  ſ: 's',
};
const PLAIN_LETTER = /[ßæœøłđðþıħŋſ]/g;

/** The second spelling of these letters: Müller, Mueller. */
const EXPANSIONS: Readonly<Record<string, string>> = { ä: 'ae', ö: 'oe', ü: 'ue', ø: 'oe', å: 'aa' };
const EXPANDED = /[äöüøå]/g;

/** The words in order. Lazy, so that a caller may stop early. */
export function* wordsOf(text: string): Generator<WordForms> {
  // A text in Chinese has few different characters; computing the forms of one takes some µs.
  const known = new Map<string, WordForms | null>();
  for (const [run] of text.toLowerCase().matchAll(WORD)) {
    if (PLAIN.test(run)) {
      yield [run.slice(0, MAX_WORD_CHARS)];
      continue;
    }
    for (const [word] of UNSPACED.test(run) ? run.matchAll(UNSPACED_WORD) : [[run]]) {
      let forms = known.get(word);
      if (forms === undefined) known.set(word, (forms = formsOf(word)));
      if (forms !== null) yield forms;
    }
  }
}

/** null for a word that consists only of marks. */
function formsOf(word: string): WordForms | null {
  const composed = word
    .slice(0, 4 * MAX_WORD_CHARS)
    .normalize('NFKC')
    .toLowerCase();
  const plain = toPlain(composed);
  if (plain === '') return null;
  const expanded = toPlain(composed.replace(EXPANDED, (letter) => EXPANSIONS[letter] ?? letter));
  return expanded === plain ? [plain] : [plain, expanded];
}

function toPlain(word: string): string {
  const bare = word
    .normalize('NFKD')
    .replace(MARKS, '')
    .normalize('NFC')
    .replace(PLAIN_LETTER, (letter) => PLAIN_LETTERS[letter] ?? letter);
  // Compatibility forms decompose into signs too: `½` has a fraction slash, `№` would have a dot.
  return cutText(bare.replace(/[^\p{L}\p{N}\p{M}]+/gu, ''), MAX_WORD_CHARS);
}
