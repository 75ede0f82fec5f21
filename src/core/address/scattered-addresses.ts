/**
 * Finds addresses among other words, without the brackets and commas of RFC 5322 §3.4: `Max Muster max@example.com`,
 * `Max [max@example.com]`, `max@example.com eva@example.com`. For received mail only, see lenient-address-list.ts.
 */

/** A piece of a header field: an atom, white space as one blank, or a quoted string without its quotes. */
export interface Word {
  readonly text: string;
  readonly quoted: boolean;
}

export interface Scattered<T> {
  readonly spec: T;
  /** The words before it; for the last address, those after it too. */
  readonly name: readonly Word[];
}

/** The chunks that `read` accepts as addresses, with the words around them, in order; takes time in proportion to the length. */
export function findScattered<T>(
  words: readonly Word[],
  read: (text: string) => T | null,
): readonly Scattered<T>[] {
  const found: { readonly spec: T; readonly name: Word[] }[] = [];
  let before: Word[] = [];
  for (const chunk of chunksOf(words)) {
    const spec = chunk.some(({ text }) => text.includes('@')) ? readChunk(chunk, read) : null;
    if (spec === null) {
      for (const word of chunk) before.push(word);
    } else {
      found.push({ spec, name: before });
      before = [];
    }
  }
  const last = found.at(-1);
  if (last !== undefined) for (const word of before) last.name.push(word);
  return found;
}

/** Words without white space between them; white space is a chunk of its own, and so is each word of a quoted string. */
function* chunksOf(words: readonly Word[]): Generator<readonly Word[]> {
  let chunk: Word[] = [];
  for (const [at, word] of words.entries()) {
    const next = words[at + 1];
    const isLocalPart = next?.quoted === false && next.text.startsWith('@');
    const isLong = word.quoted && !isLocalPart && /\s/.test(word.text);
    if (!isLong && (word.quoted || word.text.trim() !== '')) {
      chunk.push(word);
      continue;
    }
    if (chunk.length > 0) yield chunk;
    chunk = [];
    if (isLong) for (const text of word.text.split(/(\s+)/)) yield [{ text, quoted: text.trim() !== '' }];
    else yield [word];
  }
  if (chunk.length > 0) yield chunk;
}

function readChunk<T>(chunk: readonly Word[], read: (text: string) => T | null): T | null {
  const [only] = chunk;
  const text =
    chunk.length === 1 && only !== undefined
      ? only.text
      : chunk.map(({ text, quoted }) => (quoted ? `"${text.replace(/["\\]/g, '\\$&')}"` : text)).join('');
  if (text.length > MAX_CHUNK_CHARS) return null;
  return read(text) ?? read(text.replace(/^[[({<'"‘“„«]{1,3}/, '').replace(/[\])}>'"’”».!?]{1,3}$/, ''));
}

/** The longest valid address has 320 (RFC 5321 §4.5.3.1); a few punctuation marks may surround it. */
const MAX_CHUNK_CHARS = 330;
