/** The addresses that HTML of a mail leads to or loads, for comparing two versions of it. */

const TARGET = /\b(?:href|src|action|background)\s*=\s*("[^"]*"|'[^']*'|[^\s"'>]+)/gi;

/** In their order, as written. */
export function targetsOf(html: string): readonly string[] {
  return [...html.matchAll(TARGET)].map(([, value = '']) => value.replace(/^["']|["']$/g, ''));
}
