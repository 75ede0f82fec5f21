/**
 * The content of a message as one value: equal for the same email whatever path it came by, different when a text or an
 * attachment differs.
 *
 * Only leaf parts count, decoded, in order. Ignored are the header, multiparts, preambles and epilogues, and also the
 * transfer encoding, the charset of a text, line ends, white space at line ends, empty lines at the end, empty texts, and
 * `>` before `From ` (mbox files): servers change all of these. Where a header exceeds the limits, its unread rest counts:
 * it may contain everything that distinguishes two messages.
 */
import { createHash } from 'node:crypto';
import { decodeTextPart } from './body-text.ts';
import type { LeafDigest } from './leaf-digest.ts';
import type { ReceivedPart } from './received-part.ts';

/** True when servers may change the line ends of a part: of text, and of a part that is sent as lines. */
export function isSentAsLines({ mediaType, encoding }: ReceivedPart): boolean {
  return encoding !== 'base64' || mediaType.startsWith('text/') || mediaType.startsWith('message/');
}

/** Digests of the bytes that were not read: of headers, and after the last part. null: all were read. */
export interface UnreadDigests {
  readonly header: LeafDigest | null;
  readonly rest: LeafDigest | null;
}

/** The digests of a whole message; see `ParsedMessage`. */
export interface ContentDigests {
  readonly contentDigest: string;
  readonly fileDigests: readonly string[];
}

export function digestContent(root: ReceivedPart, { header, rest }: UnreadDigests): ContentDigests {
  const leaves = leavesOf(root).map((part) => ({ values: digestLeaf(part), isFile: !isShownText(part) }));
  const unread = Object.entries({ rest, header }).flatMap(([name, digest]) =>
    digest === null ? [] : [{ values: [name, digest.end()], isFile: true }],
  );
  const all = [...leaves, ...unread];
  return {
    contentDigest: digestOf(all.flatMap(({ values }) => values)),
    fileDigests: all.flatMap(({ values, isFile }) => (isFile ? [digestOf(values)] : [])),
  };
}

const isShownText = ({ digest, mediaType, filename, isAttachment }: ReceivedPart): boolean =>
  digest === null && SHOWN.has(mediaType) && filename === null && !isAttachment;

const SHOWN: ReadonlySet<string> = new Set(['text/plain', 'text/html']);

/** SHA-256 in lower-case hex. A length precedes each value, so that no two lists give the same bytes. */
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
  // A text that is too large to keep counts by its bytes.
  if (part.digest !== null) return [kind, part.filename?.trim() ?? '', part.digest.end()];
  const text = canonicalText(decodeTextPart(part));
  return text === '' ? [] : [kind, '', createHash('sha256').update(text).digest('hex')];
}

/** Written by hand: a single expression would take quadratic time on a run of white space. */
function canonicalText(text: string): string {
  const lines = text.split('\n').map((line) => (line.startsWith('>') ? unquoteFrom(line) : line).trimEnd());
  while (lines.at(-1) === '') lines.pop();
  return lines.join('\n');
}

const unquoteFrom = (line: string): string => line.replace(/^>+(?=From )/, '');
