/** Reads the text that a person typed into a field for recipients: beginnings of words, of an address or of a domain. */
import { typedWords } from '../search/prefix-query.ts';
import { normaliseAddress } from '../customer/rules.ts';

/** The beginnings to search for, for one typed word; at least one. */
export type TypedWord = readonly [string, ...string[]];

/** Words that are searched for; more of them would find nothing else. */
export const MAX_TYPED_WORDS = 4;

const BETWEEN = /[\s<>",;]+/;

/** Empty when nothing searchable was typed. */
export function typedAddress(text: string): readonly TypedWord[] {
  const words: TypedWord[] = [];
  for (const part of text.split(BETWEEN)) {
    if (part === '') continue;
    // With an at sign or a dot it is a part of an address, and those are indexed as written.
    if (/[@.]/.test(part) && /[^@.]/.test(part)) {
      const address = normaliseAddress(part);
      words.push(address.startsWith('@') ? [address] : [address, `@${address}`]);
    } else {
      words.push(...typedWords(part));
    }
    if (words.length >= MAX_TYPED_WORDS) break;
  }
  return words.slice(0, MAX_TYPED_WORDS);
}
