/** The name of a customer, with its sort key and its search words. */
import { toShownName } from '../address/display-name.ts';
import { nameWords } from '../search/prefix-query.ts';
import { wordsOf } from '../search/words.ts';

export interface CustomerName {
  readonly name: string;
  /** Sort key of lists: the words of the name without case and accents. */
  readonly key: string;
  /** The words of the name in all their forms; letters and digits only. */
  readonly words: readonly string[];
}

/** Characters of a sort key: as many as fit into a cursor. */
export const MAX_NAME_KEY_CHARS = 200;

/** null when there is nothing to show. */
export function toCustomerName(text: string): CustomerName | null {
  const name = toShownName(text);
  if (name === '') return null;
  const key = [...wordsOf(name)].map(([plain]) => plain).join(' ');
  return {
    name,
    key: [...key].slice(0, MAX_NAME_KEY_CHARS).join(''),
    words: nameWords(name),
  };
}
