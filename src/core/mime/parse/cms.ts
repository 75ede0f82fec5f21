/**
 * The outermost layer of S/MIME (CMS, RFC 5652): what a file `smime.p7m` is, and the content of a signed one, which needs no
 * key. Nothing is verified or decrypted. asn1js bounds depth and number of the elements that it reads.
 */
import { fromBER, ObjectIdentifier, OctetString, type BaseBlock } from 'asn1js';

export type Cms =
  /** `content` is null when it is elsewhere, as in certificates alone. */
  { readonly kind: 'signed'; readonly content: Buffer | null } | { readonly kind: 'encrypted' };

// RFC 5652 §5.1, §6.1 and §8; RFC 5083.
const SIGNED_DATA = '1.2.840.113549.1.7.2';
const ENCRYPTED = new Set(['1.2.840.113549.1.7.3', '1.2.840.113549.1.7.6', '1.2.840.113549.1.9.16.1.23']);

/** null for anything else. Some texts whose length is wrong make the library throw instead of reporting it. */
function readBer(file: Buffer): BaseBlock | null {
  try {
    const { offset, result } = fromBER(file);
    return offset === -1 ? null : result;
  } catch {
    return null;
  }
}

/** null when it is neither, or too deep or too fragmented to be read. */
export function readCms(file: Buffer): Cms | null {
  const result = readBer(file);
  if (result === null) return null;
  const [type, explicit] = childrenOf(result);
  const oid = type instanceof ObjectIdentifier ? type.getValue() : '';
  if (ENCRYPTED.has(oid)) return { kind: 'encrypted' };
  if (oid !== SIGNED_DATA) return null;
  // SignedData: version, digestAlgorithms, encapContentInfo { eContentType, [0] eContent }
  const [signed] = childrenOf(explicit);
  const [, , encapsulated] = childrenOf(signed);
  const [, wrapped] = childrenOf(encapsulated);
  const [content] = childrenOf(wrapped);
  return { kind: 'signed', content: content instanceof OctetString ? Buffer.from(content.getValue()) : null };
}

function childrenOf(block: BaseBlock | undefined): readonly BaseBlock[] {
  const value: unknown = block?.valueBlock;
  return value !== null && typeof value === 'object' && 'value' in value && Array.isArray(value.value)
    ? (value.value as readonly BaseBlock[])
    : [];
}
