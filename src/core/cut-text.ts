/** The beginning of a text, at most `maxChars` UTF-16 units, without half of a surrogate pair at its end: no encoding takes one. */
export const cutText = (text: string, maxChars: number): string =>
  text.length <= maxChars ? text : text.slice(0, maxChars).replace(/[\ud800-\udbff]$/, '');
