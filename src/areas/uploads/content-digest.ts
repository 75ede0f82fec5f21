/**
 * The header field Content-Digest, RFC 9530 §2: the digest that a caller declares for the body. RFC 9530 lets a recipient ignore any digest, and
 * lets it demand more: a caller that declares one relies on the check, so that a field without a SHA-256, which alone can be checked
 * here, is refused. Beside it, other algorithms do not count; those that RFC 9530 §5 calls insecure could prove nothing.
 */
import { ServiceError } from '../../core/errors.ts';

/** A dictionary of byte sequences, RFC 8941 §3.2 and §3.3.5. */
const MEMBER = /^[ \t]*([a-z*][a-z0-9_.*-]*)=:([A-Za-z0-9+/]*={0,2}):[ \t]*$/;
const SHA256_BYTES = 32;

/** SHA-256 in lower-case hex; null without the field. Throws `invalid_content_digest`. */
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
  if (digest === null) throw new ServiceError('invalid_content_digest');
  return digest;
}
