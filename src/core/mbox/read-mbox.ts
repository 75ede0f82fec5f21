/** Reads the messages of an mbox file, one after the other, each as a stream. */
import { createMboxSplitter, type MboxToken } from './split-mbox.ts';

export interface MboxMessage {
  /** Offset of its separator in the file. */
  readonly offset: number;
  /** The time of delivery in its separator; null when the separator has none. */
  readonly date: Date | null;
  /** To be read, as far as wanted, before the next message is asked for. */
  readonly body: AsyncIterable<Buffer>;
}

/** @param offset of the first chunk in the file; see createMboxSplitter */
export async function* readMbox(chunks: AsyncIterable<Buffer>, offset = 0): AsyncGenerator<MboxMessage> {
  const tokens = tokensOf(chunks, offset);
  try {
    let next = await tokens.next();
    async function* readBody(): AsyncGenerator<Buffer> {
      while (next.done !== true && next.value.kind === 'bytes') {
        const { bytes } = next.value;
        next = await tokens.next();
        yield bytes;
      }
    }
    while (next.done !== true) {
      const token = next.value;
      next = await tokens.next();
      // Tokens of bytes are the unread rest of the previous message.
      if (token.kind === 'start') {
        yield { offset: token.offset, date: token.separator.date, body: readBody() };
      }
    }
  } finally {
    await tokens.return(undefined);
  }
}

async function* tokensOf(chunks: AsyncIterable<Buffer>, offset: number): AsyncGenerator<MboxToken> {
  const splitter = createMboxSplitter(offset);
  for await (const chunk of chunks) yield* splitter.write(chunk);
  yield* splitter.end();
}
