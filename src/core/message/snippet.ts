/** The beginning of a text, for lists. */

/** Characters of a snippet at most, the ellipsis included. */
export const SNIPPET_MAX_CHARS = 200;

/** The part of a text that `toSnippet` needs, in characters: white space and long rules are left out of the result. */
export const SNIPPET_SOURCE_CHARS = 1000;

/**
 * Most texts need no more than this, and a page has fifty of them: processing all of `SNIPPET_SOURCE_CHARS` took most of
 * the time of a page of threads.
 */
const FIRST_LOOK_CHARS = 320;

/** A run of signs that is cut at the end may not be recognised: up to four signs stay where one would. */
const CUT_RUN_CHARS = 8;

/** One line; cut at a word boundary if possible, with `…` when something is left out. */
export function toSnippet(text: string): string {
  const first = toLine(text.slice(0, FIRST_LOOK_CHARS));
  // The rest of the text can't change the snippet.
  const isEnough = first.length >= SNIPPET_MAX_CHARS + CUT_RUN_CHARS;
  const line = isEnough ? first : toLine(text.slice(0, SNIPPET_SOURCE_CHARS));
  if (line.length <= SNIPPET_MAX_CHARS && text.length <= SNIPPET_SOURCE_CHARS) return line.toWellFormed();
  const cut = line.slice(0, SNIPPET_MAX_CHARS - 1);
  const lastSpace = cut.lastIndexOf(' ');
  const atWord = line.length >= SNIPPET_MAX_CHARS && lastSpace > SNIPPET_MAX_CHARS / 2;
  return `${withoutHalfPair(atWord ? cut.slice(0, lastSpace) : cut)}…`;
}

function toLine(source: string): string {
  return (
    source
      // Control characters, and invisible ones that newsletters fill the preview of mail programs with.
      .replace(/(?:[\p{Cc}\p{Cf}]|\u034f)+/gu, ' ')
      // Rules such as `-----` and `=====`
      .replace(/([^\p{L}\p{N}\s])\1{4,}/gu, '$1')
      .replace(/\s+/gu, ' ')
      .trim()
  );
}

/** A cut between the halves of a surrogate pair leaves one that no encoding takes. */
function withoutHalfPair(text: string): string {
  return (/[\ud800-\udbff]$/.test(text) ? text.slice(0, -1) : text).toWellFormed();
}
