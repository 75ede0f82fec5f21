/** Domain names that may be taken for others (Unicode Technical Standard #39): letters of several scripts, or that look like plain ones. */
import { domainToUnicode } from 'node:url';
import unhomoglyph from 'unhomoglyph';

/** UTS #39 §5.2, highly restrictive: these may stand beside Latin letters. */
const WITH_LATIN =
  /^[\p{Script=Latin}\p{Script=Common}\p{Script=Inherited}\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Hangul}\p{Script=Bopomofo}]*$/u;

/** Scripts of living languages, each on its own. */
const ALONE = [
  /^[\p{Script=Cyrillic}\p{Script=Common}\p{Script=Inherited}]*$/u,
  /^[\p{Script=Greek}\p{Script=Common}\p{Script=Inherited}]*$/u,
  /^[\p{Script=Arabic}\p{Script=Common}\p{Script=Inherited}]*$/u,
  /^[\p{Script=Hebrew}\p{Script=Common}\p{Script=Inherited}]*$/u,
  /^[\p{Script=Armenian}\p{Script=Common}\p{Script=Inherited}]*$/u,
  /^[\p{Script=Georgian}\p{Script=Common}\p{Script=Inherited}]*$/u,
  /^[\p{Script=Devanagari}\p{Script=Common}\p{Script=Inherited}]*$/u,
  /^[\p{Script=Bengali}\p{Script=Common}\p{Script=Inherited}]*$/u,
  /^[\p{Script=Tamil}\p{Script=Common}\p{Script=Inherited}]*$/u,
  /^[\p{Script=Thai}\p{Script=Common}\p{Script=Inherited}]*$/u,
];

const ASCII = /^[\x20-\x7e]*$/;

/** As people read it; null for a name that can't be taken for another by its letters. @param domain of A-labels or of letters */
export function lookalikeOf(domain: string): string | null {
  const shown = ASCII.test(domain) ? domainToUnicode(domain.toLowerCase()) : domain.toLowerCase();
  if (ASCII.test(shown)) return null;
  const labels = shown.split('.');
  const isPlainEnding = ASCII.test(labels.at(-1) ?? '');
  return labels.some((label) => isMixed(label) || (isPlainEnding && isLikePlain(label))) ? shown : null;
}

const isMixed = (label: string): boolean =>
  !WITH_LATIN.test(label) && !ALONE.some((script) => script.test(label));

const isLikePlain = (label: string): boolean => !ASCII.test(label) && ASCII.test(unhomoglyph(label));
