import type { SMTPServerDataStream } from 'smtp-server';
import type { LineFaultFinder } from './line-fault.ts';

/** Bytes beyond the limit are read and dropped, so that the client receives the refusal. */
export async function* withinLimit(
  stream: SMTPServerDataStream,
  lines: LineFaultFinder,
): AsyncGenerator<Buffer> {
  const chunks = stream.iterator({ destroyOnReturn: false }) as AsyncIterable<Buffer>;
  for await (const chunk of chunks) {
    if (stream.sizeExceeded) continue;
    lines.write(chunk);
    yield chunk;
  }
}
