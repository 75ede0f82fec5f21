/**
 * The header field Content-Digest, RFC 9530 §2: the digest that a caller declares for the body. Algorithms other than SHA-256 do not count.
 */
import { ServiceError } from '../../../core/errors.ts';

/** A dictionary of byte sequences, RFC 8941 §3.2 and §3.3.5. */
const MEMBER = /^[ \t]*([a-z*][a-z0-9_.*-]*)=:([A-Za-z0-9+/]*={0,2}):[ \t]*$/;
const SHA256_BYTES = 32;

/** SHA-256 in lower-case hex; null when the field has none. Throws `invalid_content_digest`. */
export function readContentDigest(field: string | undefined): string | null {
  if (field === undefined) return null;
  let digest: string | null = null;
  for (const member of field.split(',')) {
    const [, algorithm, base64 = ''] = MEMBER.exec(member) ?? [];
    if (algorithm === undefined) throw new ServiceError('invalid_content_digest');
    if (algorithm !== 'sha-256') continue;
    const bytes = Buffer.from(base64, 'base64');
    if (bytes.length !== SHA256_BYTES) throw new ServiceError('invalid_content_digest');
    digest = bytes.toString('hex');
  }
  return digest;
}
