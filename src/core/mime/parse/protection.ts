/**
 * Detects whether a received message is signed or encrypted: RFC 1847 and RFC 8551 (S/MIME), RFC 3156 (PGP/MIME). Nothing
 * is decrypted or verified; signed parts are read like others, and everything stays among the attachments as it came.
 */
import { ENCRYPTED_MAIL } from '../../texts.ts';
import type { Protection } from './parsed-message.ts';
import type { ReceivedPart } from './received-part.ts';

/** null when it is neither; encrypted when a part of it is. `text` is the message's text. */
export function readProtection(root: ReceivedPart, text: string): Protection | null {
  const found = new Set(protectionsOf(root));
  // RFC 9580 §6.2 and §7.
  if (/^-----BEGIN PGP MESSAGE-----[ \t]*$/m.test(text)) found.add('pgp_encrypted');
  if (/^-----BEGIN PGP SIGNED MESSAGE-----[ \t]*$/m.test(text)) found.add('pgp_signed');
  const order = ['smime_encrypted', 'pgp_encrypted', 'smime_signed', 'pgp_signed'] as const;
  return order.find((protection) => found.has(protection)) ?? null;
}

/** The text of an encrypted message says that it is one. */
export function withProtection(text: string, protection: Protection | null): string {
  if (protection !== 'smime_encrypted' && protection !== 'pgp_encrypted') return text;
  return `${ENCRYPTED_MAIL[protection]}\n\n${text}`.trimEnd();
}

/** The limit of depth bounds the recursion. */
function protectionsOf(part: ReceivedPart): readonly Protection[] {
  const inner = part.children.flatMap(protectionsOf);
  const own = protectionOf(part);
  return own === null ? inner : [own, ...inner];
}

function protectionOf({ mediaType, parameters, keep, cms }: ReceivedPart): Protection | null {
  const protocol = parameters.get('protocol')?.toLowerCase() ?? '';
  if (mediaType === 'multipart/encrypted') {
    return protocol.includes('pkcs7') ? 'smime_encrypted' : 'pgp_encrypted';
  }
  // Exchange changes the type of the multipart around it.
  if (mediaType === 'application/pgp-encrypted') return 'pgp_encrypted';
  if (mediaType === 'multipart/signed') return protocol.includes('pgp') ? 'pgp_signed' : 'smime_signed';
  if (keep !== 'cms') return null;
  // RFC 8551 §3.2.2, where the file itself can't be read.
  const label = parameters.get('smime-type')?.toLowerCase() ?? '';
  if (cms !== null) return `smime_${cms}`;
  if (label === 'signed-data') return 'smime_signed';
  return /^(?:auth)?-?enveloped-data$/.test(label) ? 'smime_encrypted' : null;
}
