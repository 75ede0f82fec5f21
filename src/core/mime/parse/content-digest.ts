/**
 * What a message says, as one value: equal for the same email by whatever path it came, different when a text or an
 * attachment differs.
 *
 * Only leaf parts count, decoded, in their order. Not the header, multiparts, preambles and epilogues; not the transfer
 * encoding, the charset of a text, line ends, white space at line ends, empty lines at the end, empty texts, and `>` before
 * `From ` (mbox files): servers change all of these. Where a header passes the limits, what is not read of it counts: it may hold
 * everything that tells two messages apart.
 */
import { createHash } from 'node:crypto';
import { decodeTextPart } from './body-text.ts';
import type { LeafDigest } from './leaf-digest.ts';
import type { ReceivedPart } from './received-part.ts';

/** True when servers may change the line ends of a part: of text, and of a part that is sent as lines. */
export function isSentAsLines({ mediaType, encoding }: ReceivedPart): boolean {
  return encoding !== 'base64' || mediaType.startsWith('text/') || mediaType.startsWith('message/');
}

/** Digests of the bytes that were not read: of headers, and behind the last part. null: all were read. */
export interface UnreadDigests {
  readonly header: LeafDigest | null;
  readonly rest: LeafDigest | null;
}

/** Of a whole message. */
export function digestContent(root: ReceivedPart, { header, rest }: UnreadDigests): string {
  const leaves = leavesOf(root).flatMap(digestLeaf);
  const unread = Object.entries({ rest, header }).flatMap(([name, digest]) =>
    digest === null ? [] : [name, digest.end()],
  );
  return digestOf([...leaves, ...unread]);
}

/** SHA-256 in lower-case hex. Lengths stand before the values, so that no two lists give the same bytes. */
export function digestOf(values: readonly string[]): string {
  const hash = createHash('sha256');
  for (const value of values) hash.update(`${Buffer.byteLength(value)}:${value}`);
  return hash.digest('hex');
}

function leavesOf(part: ReceivedPart): readonly ReceivedPart[] {
  return part.children.length === 0 ? [part] : part.children.flatMap(leavesOf);
}

function digestLeaf(part: ReceivedPart): readonly string[] {
  const [kind = ''] = part.mediaType.startsWith('text/') ? [part.mediaType] : part.mediaType.split('/');
  // A text that is too large to be kept is known by its bytes.
  if (part.digest !== null) return [kind, part.filename?.trim() ?? '', part.digest.end()];
  const text = canonicalText(decodeTextPart(part));
  return text === '' ? [] : [kind, '', createHash('sha256').update(text).digest('hex')];
}

/** By hand and not by one expression, which would take time by the square of a run of white space. */
function canonicalText(text: string): string {
  const lines = text.split('\n').map((line) => (line.startsWith('>') ? unquoteFrom(line) : line).trimEnd());
  while (lines.at(-1) === '') lines.pop();
  return lines.join('\n');
}

const unquoteFrom = (line: string): string => line.replace(/^>+(?=From )/, '');
