/**
 * A multipart that is Base64 as a whole. RFC 2045 §6.4 forbids it. Seen in practice: from gateways that encode any body.
 */
import { fieldValue } from './header-fields.ts';
import type { ParseLimitName, ParseLimits } from './parse-limits.ts';
import { readParameters } from './read-parameters.ts';
import type { ReceivedPart } from './received-part.ts';
import { StructureReader } from './structure.ts';
import { decodeTransfer } from './transfer-decoding.ts';

/**
 * Gives such a message the parts within its Base64; any other stays as it is. Returns the limits that were exceeded. A body
 * that was too large to keep is not opened.
 */
export function openEncodedMultipart(root: ReceivedPart, limits: ParseLimits): readonly ParseLimitName[] {
  if (root.boundary === null || root.children.length > 0 || root.keep !== 'preamble' || root.isCut) return [];
  const { value } = readParameters(fieldValue(root.fields, 'content-transfer-encoding') ?? '');
  if (value !== 'base64') return [];
  const header = Buffer.from(`Content-Type: ${fieldValue(root.fields, 'content-type') ?? ''}\r\n\r\n`);
  const source = Buffer.concat([header, decodeTransfer(root.kept.bytes(), 'base64')]);
  const reader = new StructureReader(limits);
  reader.write(source);
  const inner = reader.end();
  if (inner.root.children.length === 0) return [];
  for (const part of inner.root.children) placeIn(part, source);
  root.children.push(...inner.root.children);
  root.defects.delete('missing_closing_boundary');
  for (const defect of inner.root.defects) root.defects.add(defect);
  return inner.passedLimits;
}

/** The limit of depth bounds the recursion. */
function placeIn(part: ReceivedPart, source: Buffer): void {
  part.source = source;
  for (const child of part.children) placeIn(child, source);
}
