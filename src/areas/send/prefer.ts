/** The Prefer header, RFC 7240: only `respond-async` is supported; other preferences are ignored, as §2 requires. */

/** True when the request prefers an answer before the work is done (RFC 7240 §4.1). */
export function prefersAsync(header: string | readonly string[] | undefined): boolean {
  const preferences = [header ?? []].flat().flatMap((value) => value.split(','));
  // RFC 7240 §2: names are case-insensitive; parameters after `;` mean nothing here.
  return preferences.some((text) => /^[ \t]*respond-async[ \t]*(?:;|$)/i.test(text));
}
