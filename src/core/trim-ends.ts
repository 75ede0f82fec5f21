/**
 * `text` without the characters at its ends for which `isDropped` is true. A loop, since a regular expression such as `\s+$`
 * scans each run of them again from each of its characters, in quadratic time.
 */
export function trimEnds(text: string, isDropped: (character: string) => boolean): string {
  let start = 0;
  while (start < text.length && isDropped(text.charAt(start))) start++;
  return trimEnd(text.slice(start), isDropped);
}

/** Like trimEnds, at the end only. */
export function trimEnd(text: string, isDropped: (character: string) => boolean): string {
  let end = text.length;
  while (end > 0 && isDropped(text.charAt(end - 1))) end--;
  return text.slice(0, end);
}
