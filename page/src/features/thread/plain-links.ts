/** Links in plain text: web addresses as people write them. */

export interface PlainLink {
  readonly index: number;
  /** As it stands in the text. */
  readonly text: string;
  readonly href: string;
  /** The true host, where the text may be read as another one: it has a name before the host, or letters that are not those of European names. */
  readonly host: string | null;
}

const LINK = /\b(?:https?:\/\/|www\.(?=[^\s.]+\.))[^\s<>"'`]+/giu;
/** Signs after an address that end a sentence, not the address; brackets only where none was opened within it. */
const END = /[.,;:!?\]}]+$|(?<!\([^()]*)\)[.,;:!?)]*$/;

export function linksIn(text: string): readonly PlainLink[] {
  return [...text.matchAll(LINK)].flatMap(({ 0: found, index }) => {
    const shown = found.replace(END, '');
    const url = URL.parse(/^https?:/i.test(shown) ? shown : `https://${shown}`);
    if (url === null) return [];
    return [{ index, text: shown, href: url.href, host: isPlain(shown, url) ? null : url.host }];
  });
}

/** Latin letters with accents (Unicode blocks Latin-1 Supplement and Latin Extended-A), without those that look like plain ones. */
const EUROPEAN = /^[a-z0-9.:-]*(?:(?![ıĸŀŉſ])[ß-öø-ž][a-z0-9.:-]*)*$/;

function isPlain(shown: string, { username, host }: URL): boolean {
  if (username !== '') return false;
  const text = shown.toLowerCase();
  if (text.includes(host)) return true;
  const [, written = ''] = /^(?:https?:\/\/)?([^/?#]*)/.exec(text) ?? [];
  return host.includes('xn--') && EUROPEAN.test(written) && URL.parse(`https://${written}`)?.host === host;
}
