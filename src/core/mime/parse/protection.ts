/**
 * Detects whether a received message is signed or encrypted: RFC 1847 and RFC 8551 (S/MIME), RFC 3156 (PGP/MIME). Nothing
 * is decrypted or verified; signed parts are read like others, and everything stays among the attachments as it came.
 */
import type { Protection } from './parsed-message.ts';
import type { ReceivedPart } from './received-part.ts';

/** null when it is neither. `text` is the message's text. */
export function readProtection(root: ReceivedPart, text: string): Protection | null {
  const { mediaType, parameters } = root;
  const protocol = parameters.get('protocol')?.toLowerCase() ?? '';
  if (mediaType === 'multipart/encrypted') {
    return protocol.includes('pkcs7') ? 'smime_encrypted' : 'pgp_encrypted';
  }
  if (mediaType === 'multipart/signed') return protocol.includes('pgp') ? 'pgp_signed' : 'smime_signed';
  if (/^application\/(?:x-)?pkcs7-mime$/.test(mediaType)) {
    // RFC 8551 §3.2.2.
    return parameters.get('smime-type')?.toLowerCase() === 'signed-data' ? 'smime_signed' : 'smime_encrypted';
  }
  // RFC 9580 §6.2 and §7.
  return /^-----BEGIN PGP (?:MESSAGE|SIGNED MESSAGE)-----[ \t]*$/m.test(text) ? 'pgp_inline' : null;
}
