/** The size, bytes and checksum of a content, wherever it is stored. */
import { createHash } from 'node:crypto';
import type { Content } from './file-ports.ts';

export interface ContentPorts {
  readonly openFile: (path: string) => AsyncIterable<Buffer>;
}

/** In bytes. */
export function sizeOf(content: Content): number {
  return content.kind === 'bytes' ? content.bytes.length : content.sizeBytes;
}

/** The bytes of a content, in pieces. */
export async function* readContent(ports: ContentPorts, content: Content): AsyncGenerator<Buffer> {
  if (content.kind === 'bytes') yield content.bytes;
  else yield* ports.openFile(content.path);
}

/** Lower-case hex. */
export async function sha256(ports: ContentPorts, content: Content): Promise<string> {
  const hash = createHash('sha256');
  for await (const chunk of readContent(ports, content)) hash.update(chunk);
  return hash.digest('hex');
}
