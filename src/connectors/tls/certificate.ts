/** A certificate with its private key, both in PEM, checked before it is served. */
import { createPrivateKey, X509Certificate } from 'node:crypto';
import { createSecureContext } from 'node:tls';
import { MIN_TLS_VERSION, type Pem } from '../../platform/base/tls.ts';

export interface Certificate extends Pem {
  readonly validFrom: Date;
  readonly expiresAt: Date;
  /** The first name without a wildcard; null when it has none. */
  readonly name: string | null;
}

/** The message is the end of a sentence that begins with the name of the file or of its variable. */
export class CertificateFault extends Error {
  override readonly name = 'CertificateFault';
  readonly file: keyof Pem;

  constructor(file: keyof Pem, message: string, options?: ErrorOptions) {
    super(message, options);
    this.file = file;
  }
}

/** Does not check if the certificate has expired: that is for the caller to judge. Throws CertificateFault. */
export function checkCertificate({ cert, key }: Pem): Certificate {
  const leaf = attempt('cert', 'has no certificate in PEM', () => new X509Certificate(cert));
  const privateKey = attempt('key', 'has no private key in PEM, or it is encrypted', () =>
    createPrivateKey(key),
  );
  if (!leaf.checkPrivateKey(privateKey)) {
    throw new CertificateFault('key', 'has another key than the one of the certificate');
  }
  // OpenSSL also refuses a broken chain and a key that is too weak.
  attempt('cert', 'is refused by OpenSSL', () =>
    createSecureContext({ cert, key, minVersion: MIN_TLS_VERSION }),
  );
  return {
    cert,
    key,
    validFrom: new Date(leaf.validFrom),
    expiresAt: new Date(leaf.validTo),
    name: findName(leaf),
  };
}

function attempt<T>(file: keyof Pem, fault: string, read: () => T): T {
  try {
    return read();
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    throw new CertificateFault(file, `${fault} (${reason})`, { cause: error });
  }
}

/** RFC 6125 §6.4.4: a certificate's names are its subjectAltName. */
function findName({ subjectAltName }: X509Certificate): string | null {
  const names = (subjectAltName ?? '').split(', ').map((one) => /^DNS:([a-z0-9.-]+)$/i.exec(one)?.[1]);
  return names.find((name) => name !== undefined) ?? null;
}
