/** mbox files for tests. Texts are Latin-1: one character for each byte. */
import { createMboxSplitter, type MboxToken } from '../../src/core/mbox/split-mbox.ts';

function tokensOf(file: string, offset = 0, sizes: readonly number[] = []): readonly MboxToken[] {
  const bytes = Buffer.from(file, 'latin1');
  const splitter = createMboxSplitter(offset);
  const tokens: MboxToken[] = [];
  let position = 0;
  for (const size of sizes) {
    tokens.push(...splitter.write(Buffer.from(bytes.subarray(position, position + size))));
    position += size;
  }
  tokens.push(...splitter.write(bytes.subarray(position)), ...splitter.end());
  return tokens;
}

/** The messages; `sizes` are those of the chunks, the last of which takes the rest. */
export function splitMbox(file: string, sizes: readonly number[] = []): string[] {
  const messages: string[] = [];
  for (const token of tokensOf(file, 0, sizes)) {
    if (token.kind === 'start') messages.push('');
    else messages.push((messages.pop() ?? '') + token.bytes.toString('latin1'));
  }
  return messages;
}
splitMbox.tokens = tokensOf;

/** mboxrd of messages that end with a line end. */
export function joinMbox(messages: readonly string[], lineEnd = '\n'): string {
  return messages
    .map(
      (message) =>
        `From ada@example.com Mon Jan  5 10:00:00 2026${lineEnd}` +
        `${message.replace(/^(>*From )/gm, '>$1')}${lineEnd}`,
    )
    .join('');
}
