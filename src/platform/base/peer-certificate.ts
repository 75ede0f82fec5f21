/** The certificates that a remote server presented. */
import { TLSSocket, type DetailedPeerCertificate } from 'node:tls';

/** Real chains are shorter; a circular one ends here. */
const MAX_CHAIN = 10;

/** When the first certificate of the chain to expire does so; null for a connection without TLS. */
export function endOfCertificates(socket: unknown): Date | null {
  if (!(socket instanceof TLSSocket)) return null;
  const ends: number[] = [];
  let certificate: DetailedPeerCertificate | undefined = socket.getPeerCertificate(true);
  while (certificate !== undefined && ends.length < MAX_CHAIN) {
    const end = Date.parse(certificate.valid_to ?? '');
    if (!Number.isNaN(end)) ends.push(end);
    const issuer: DetailedPeerCertificate | undefined = certificate.issuerCertificate;
    certificate = issuer === certificate ? undefined : issuer;
  }
  return ends.length === 0 ? null : new Date(Math.min(...ends));
}
