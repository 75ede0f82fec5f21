/** Domain names that may be taken for others (Unicode Technical Standard #39): letters of several scripts, or that look like plain ones. */
import { domainToUnicode } from 'node:url';
import unhomoglyph from 'unhomoglyph';

/** UTS #39 §5.2, highly restrictive: these may stand beside Latin letters. */
const WITH_LATIN =
  /^[\p{Script=Latin}\p{Script=Common}\p{Script=Inherited}\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Hangul}\p{Script=Bopomofo}]*$/u;

/** Scripts of living languages, each on its own. */
const ALONE = 'Cyrillic Greek Arabic Hebrew Armenian Georgian Devanagari Bengali Tamil Thai'
  .split(' ')
  .map((script) => new RegExp(`^[\\p{Script=${script}}\\p{Script=Common}\\p{Script=Inherited}]*$`, 'u'));

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
