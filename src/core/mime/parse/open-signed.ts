/**
 * Opaque-signed S/MIME (RFC 8551 §3.5.2): the message within a signed `smime.p7m`, read like any other. The signature is not
 * verified.
 */
import { MAX_CONTAINED_DEPTH } from '../limits.ts';
import { readCms } from './cms.ts';
import type { ParseLimitName, ParseLimits } from './parse-limits.ts';
import type { ReceivedPart } from './received-part.ts';
import { StructureReader } from './structure.ts';
import { decodeTransfer } from './transfer-decoding.ts';

/**
 * Gives each signed part the part within it, also one that is signed twice, and notes what each CMS file is. Returns the limits
 * that were exceeded. A file that was too large to keep is not opened.
 */
export function openSigned(part: ReceivedPart, limits: ParseLimits, depth = 0): readonly ParseLimitName[] {
  if (part.children.length > 0) return part.children.flatMap((child) => openSigned(child, limits, depth));
  if (part.keep !== 'cms' || part.isCut || depth === MAX_CONTAINED_DEPTH) return [];
  const cms = readCms(decodeTransfer(part.kept.bytes(), part.encoding));
  if (cms === null || (cms.kind === 'signed' && cms.content === null)) return [];
  part.cms = cms.kind;
  if (cms.kind === 'encrypted' || cms.content === null) return [];
  const reader = new StructureReader(limits);
  reader.write(cms.content);
  const { root, passedLimits } = reader.end();
  // A signed document, such as an invoice in XML, is no message.
  if (!root.fields.some(({ name }) => name.startsWith('content-'))) return [];
  placeIn(root, cms.content, part.path);
  part.children.push(root);
  return [...passedLimits, ...openSigned(root, limits, depth + 1)];
}

/** The limit of depth bounds the recursion. */
function placeIn(part: ReceivedPart, source: Buffer, path: string): void {
  part.source = source;
  part.path = part.path === '' ? path : `${path}.${part.path}`;
  for (const child of part.children) placeIn(child, source, path);
}
