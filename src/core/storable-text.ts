/**
 * The gate for text that is stored or compared. PostgreSQL's texts and JSON can't contain NUL, nor half of a surrogate pair. Both become
 * U+FFFD in what strangers wrote and what servers answered, so that people see that something was there; callers are refused.
 */

export const isStorable = (text: string): boolean => !text.includes('\0') && text.isWellFormed();

export const toStorable = (text: string): string => text.replaceAll('\0', '\ufffd').toWellFormed();

/** The escapes of JSON.stringify for what is not storable; the first alternative skips escaped backslashes. */
const ESCAPES = /\\(?:\\|u(?:0000|d[89a-f][0-9a-f]{2}))/g;

/** JSON of the value, with storable texts. */
export function toStorableJson(value: unknown): string {
  const json = JSON.stringify(value);
  return json.includes('\\u0000') || json.includes('\\ud')
    ? json.replace(ESCAPES, (escape) => (escape === '\\\\' ? escape : '\ufffd'))
    : json;
}

/** Where a text that can't be stored is within a value: its path, such as `addresses/0`; null when there is none. */
export function findUnstorable(value: unknown, path = ''): string | null {
  if (typeof value === 'string') return isStorable(value) ? null : path;
  if (typeof value !== 'object' || value === null) return null;
  for (const [key, inner] of Object.entries(value)) {
    const at = path === '' ? toStorable(key) : `${path}/${toStorable(key)}`;
    const found = isStorable(key) ? findUnstorable(inner, at) : at;
    if (found !== null) return found;
  }
  return null;
}
