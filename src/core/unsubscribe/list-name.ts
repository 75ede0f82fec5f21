/** Names of lists that recipients can leave. They are shown to recipients, and compared exactly. */

/** In UTF-16 units. */
export const MAX_LIST_CHARS = 64;

const LIST = /^[^\u0000-\u001f\u007f-\u009f]+$/;

export function isListName(text: string): boolean {
  return text.length <= MAX_LIST_CHARS && LIST.test(text) && text.isWellFormed();
}
