/**
 * Undoes `format=flowed`, RFC 3676 §4: lines that end in a space continue in the next one of the same quote depth.
 */

/** `text` has `\n` line ends; with `delSp` the space at a soft line break is not part of the text (§4.4). */
export function unflow(text: string, delSp: boolean): string {
  const out: string[] = [];
  /** Pieces of the current paragraph; null when the next line starts a new one. */
  let paragraph: string[] | null = null;
  let paragraphDepth = 0;
  for (const line of text.split('\n')) {
    const depth = quoteDepth(line);
    const unquoted = line.slice(depth);
    const content = unquoted.startsWith(' ') ? unquoted.slice(1) : unquoted;
    // §4.3: the signature separator is never flowed.
    const isSignature = content === '-- ';
    if (paragraph !== null && (depth !== paragraphDepth || isSignature)) {
      out.push(joinParagraph(paragraph, paragraphDepth));
      paragraph = null;
    }
    const isSoft = content.endsWith(' ') && !isSignature;
    paragraph ??= [];
    paragraphDepth = depth;
    paragraph.push(isSoft && delSp ? content.slice(0, -1) : content);
    if (isSoft) continue;
    out.push(joinParagraph(paragraph, depth));
    paragraph = null;
  }
  if (paragraph !== null) out.push(joinParagraph(paragraph, paragraphDepth));
  return out.join('\n');
}

function joinParagraph(pieces: readonly string[], depth: number): string {
  return `${depth === 0 ? '' : `${'>'.repeat(depth)} `}${pieces.join('')}`;
}

function quoteDepth(line: string): number {
  let depth = 0;
  while (line.charAt(depth) === '>') depth++;
  return depth;
}
