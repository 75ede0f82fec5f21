/** A part of the composition root: the certificates of HTTP and of the listeners for mail, one when both use the same files. */
import { CertificateFault, checkCertificate, type Certificate } from '../connectors/tls/certificate.ts';
import { CertificateFiles } from '../connectors/tls/certificate-files.ts';
import type { Clock, Logger } from '../platform/base/basics.ts';
import { ConfigError } from '../config/config-error.ts';
import type { Config } from '../config/config.ts';
import type { TlsConfig } from '../config/config-tls.ts';
import type { Teardown } from './teardown.ts';

export interface Certificates {
  /** null: without TLS. */
  readonly http: CertificateFiles | null;
  readonly mail: CertificateFiles | null;
}

/** Throws ConfigError when a certificate can't be served. */
export function openCertificates(
  config: Pick<Config, 'tls' | 'listenTls'>,
  parts: { readonly clock: Clock; readonly logger: Logger },
  teardown: Teardown,
): Certificates {
  const open = (tls: TlsConfig): CertificateFiles => {
    const { certFile, keyFile } = tls;
    const files = new CertificateFiles({ certFile, keyFile, first: checkConfigured(tls), ...parts });
    teardown.push(() => files.stop());
    return files;
  };
  const { tls, listenTls } = config;
  const http = tls === null ? null : open(tls);
  if (listenTls === null) return { http, mail: null };
  const isSame = listenTls.certFile === tls?.certFile && listenTls.keyFile === tls.keyFile;
  return { http, mail: isSame ? http : open(listenTls) };
}

/** Throws ConfigError. */
export function checkConfigured(tls: TlsConfig): Certificate {
  try {
    return checkCertificate(tls);
  } catch (error) {
    if (!(error instanceof CertificateFault)) throw error;
    throw new ConfigError(error.file === 'cert' ? tls.certVariable : tls.keyVariable, error.message);
  }
}
