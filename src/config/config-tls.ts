/** Certificates that the service itself serves, to HTTP clients and to mail servers. */
import { readFileSync } from 'node:fs';
import { ConfigError } from './config-error.ts';
import { integer, readAll, resolvePath, text, type Environment } from './variable.ts';

/** Two years, the time recommended for the preload lists of browsers. */
const MAX_HSTS_DAYS = 730;

export const TLS_VARIABLES = {
  certFile: text(
    'TLS_CERT_FILE',
    'PEM file with the certificate and its chain; HTTP then uses TLS only. The file is read again every 5 seconds, so a renewed ' +
      'certificate needs no restart.',
  ),
  keyFile: text('TLS_KEY_FILE', 'PEM file with its private key, without a passphrase.'),
  hstsDays: integer(
    'HSTS_DAYS',
    0,
    { min: 0, max: MAX_HSTS_DAYS },
    'Days for which browsers use only https for this host, on all ports (RFC 6797). Sent over TLS, also that of a trusted ' +
      'proxy; 0: not sent.',
  ),
  listenCertFile: text(
    'LISTEN_TLS_CERT_FILE',
    'PEM file with the certificate of LMTP_LISTEN, SMTP_LISTEN, SUBMISSION_LISTEN and SUBMISSIONS_LISTEN.',
    '`TLS_CERT_FILE`',
  ),
  listenKeyFile: text('LISTEN_TLS_KEY_FILE', 'PEM file with its private key.', '`TLS_KEY_FILE`'),
};

export interface TlsConfig {
  readonly certVariable: string;
  readonly keyVariable: string;
  /** Absolute paths. */
  readonly certFile: string;
  readonly keyFile: string;
  /** The content of the files at the start. */
  readonly cert: string;
  readonly key: string;
}

export function readTls(env: Environment) {
  const { certFile, keyFile, listenCertFile, listenKeyFile, hstsDays } = readAll(TLS_VARIABLES, env);
  const tls = readPair(env, 'TLS', certFile, keyFile);
  return {
    hstsDays,
    /** null: HTTP without TLS. */
    tls,
    /** Of the listeners for mail; null: none, so no STARTTLS and no submission. */
    listenTls: readPair(env, 'LISTEN_TLS', listenCertFile, listenKeyFile) ?? tls,
  };
}

/** Both files are set, or neither. */
function readPair(
  env: Environment,
  prefix: string,
  certFile: string | null,
  keyFile: string | null,
): TlsConfig | null {
  if (certFile === null && keyFile === null) return null;
  const read = (variable: string, file: string | null) => {
    if (file === null) throw new ConfigError(variable, 'is missing beside the other one');
    const path = resolvePath(env, file);
    try {
      return { path, content: readFileSync(path, 'utf8') };
    } catch {
      throw new ConfigError(variable, 'names a file that can not be read');
    }
  };
  const [certVariable, keyVariable] = [`${prefix}_CERT_FILE`, `${prefix}_KEY_FILE`];
  const cert = read(certVariable, certFile);
  const key = read(keyVariable, keyFile);
  return {
    certVariable,
    keyVariable,
    certFile: cert.path,
    keyFile: key.path,
    cert: cert.content,
    key: key.content,
  };
}
