/** The certificates that a listener serves over TLS. */

/** RFC 8996: older versions must not be used. */
export const MIN_TLS_VERSION = 'TLSv1.2';

export interface Pem {
  /** The certificate of this service first, then its chain. */
  readonly cert: string;
  /** Not encrypted. */
  readonly key: string;
}

/** A certificate that is renewed while it is served. */
export interface CertificateSource {
  readonly current: Pem;
  /** The listener is called with each new one. @returns ends it */
  follow(listener: (certificate: Pem) => void): () => void;
}
