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

/** The path of a field within another one, as errors name it. */
export function fieldPath(path: string, key: string | number): string {
  if (typeof key === 'number') return `${path}[${key}]`;
  return path === '' ? key : `${path}.${key}`;
}

/** Where a text that can't be stored is within a value: its path, such as `addresses[0].name`; null when there is none. */
export function findUnstorable(value: unknown, path = ''): string | null {
  // A stack of our own: nesting has no limit here.
  const rest: { readonly inner: unknown; readonly at: string }[] = [{ inner: value, at: path }];
  for (let one = rest.pop(); one !== undefined; one = rest.pop()) {
    const { inner, at } = one;
    if (typeof inner === 'string' && !isStorable(inner)) return at;
    if (typeof inner !== 'object' || inner === null) continue;
    for (const [key, next] of Object.entries(inner)) {
      const nextAt = fieldPath(at, Array.isArray(inner) ? Number(key) : toStorable(key));
      if (!isStorable(key)) return nextAt;
      rest.push({ inner: next, at: nextAt });
    }
  }
  return null;
}
