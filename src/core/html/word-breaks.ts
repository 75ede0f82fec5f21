/** Places where a long address may be broken: without them, one line as long as ten makes its table as wide. */
import type { ElementContent } from 'hast';

/** ASCII alone: other scripts have places to break of their own. Neither words nor amounts are as long. */
const LONG = /[\x21-\x7e]{41,}/g;
/** After a sign that separates, or anywhere if there is none. */
const PIECE = /.{1,19}[/?&=_.;:,-](?=.)|.{1,20}/g;

/** The text, with an element `wbr` in its longest words. */
export function withBreaks(text: string): ElementContent[] {
  const content: ElementContent[] = [];
  let start = 0;
  for (const { 0: word, index } of text.matchAll(LONG)) {
    let at = index;
    for (const [piece] of word.matchAll(PIECE)) {
      if (at > index) {
        content.push({ type: 'text', value: text.slice(start, at) });
        content.push({ type: 'element', tagName: 'wbr', properties: {}, children: [] });
        start = at;
      }
      at += piece.length;
    }
  }
  content.push({ type: 'text', value: text.slice(start) });
  return content;
}
