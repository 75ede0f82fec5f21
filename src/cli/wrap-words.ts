/** Lines of at most `width` characters, broken between words; a longer word gets a line of its own. At least one line. */
export function wrapWords(text: string, width: number): readonly [string, ...string[]] {
  const [first = '', ...more] = text.split(/\s+/);
  const lines: [string, ...string[]] = [first];
  for (const word of more) {
    const last = lines[lines.length - 1] ?? '';
    if (last.length + 1 + word.length > width) lines.push(word);
    else lines[lines.length - 1] = `${last} ${word}`;
  }
  return lines;
}
