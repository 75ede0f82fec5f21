/** Links in plain text: web addresses as people write them. */

export interface PlainLink {
  readonly index: number;
  /** As it stands in the text. */
  readonly text: string;
  readonly href: string;
  /** The true host, where the text may be read as another one: it has a name before the host, or letters of other scripts. */
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
    const isPlain = url.username === '' && shown.toLowerCase().includes(url.host);
    return [{ index, text: shown, href: url.href, host: isPlain ? null : url.host }];
  });
}
