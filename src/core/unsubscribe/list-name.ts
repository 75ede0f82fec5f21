/** Names of lists that recipients can leave. They are shown to recipients, and compared exactly. */
import { isOneLine } from '../one-line.ts';

/** In UTF-16 units. */
export const MAX_LIST_CHARS = 64;

export function isListName(text: string): boolean {
  return text !== '' && text.length <= MAX_LIST_CHARS && isOneLine(text);
}
