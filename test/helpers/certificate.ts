/**
 * A self-signed certificate for `localhost` and 127.0.0.1, made anew for each test run with Node.js alone.
 * Just enough DER (ITU-T X.690) for one X.509 certificate (RFC 5280).
 */
import { createSign, generateKeyPairSync, randomBytes } from 'node:crypto';

export interface TestCertificate {
  /** PEM; it is its own authority, so clients must trust this certificate. */
  readonly cert: string;
  /** PEM, PKCS #8. */
  readonly key: string;
}

export interface TestCertificateOptions {
  /** Default `['localhost']`. */
  readonly names?: readonly string[];
  /** Default two days ago. */
  readonly notBefore?: Date;
  /** Default a day from now. */
  readonly notAfter?: Date;
}

const DAY_MS = 86_400_000;

export function createCertificate(options: TestCertificateOptions = {}): TestCertificate {
  const names = options.names ?? ['localhost'];
  const notAfter = options.notAfter ?? new Date(Date.now() + DAY_MS);
  const { privateKey, publicKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  const algorithm = sequence(oid('2a8648ce3d040302')); // ecdsa-with-SHA256, RFC 5758 §3.2
  const name = sequence(set(sequence(oid('550403'), der(0x0c, Buffer.from(names[0]!)))));
  const alternatives = sequence(
    ...names.map((dnsName) => der(0x82, Buffer.from(dnsName))),
    der(0x87, Buffer.from([127, 0, 0, 1])),
  );
  const extensions = sequence(
    // basicConstraints, critical: CA
    sequence(
      oid('551d13'),
      der(0x01, Buffer.from([0xff])),
      der(0x04, sequence(der(0x01, Buffer.from([0xff])))),
    ),
    sequence(oid('551d11'), der(0x04, alternatives)),
  );
  const body = sequence(
    der(0xa0, der(0x02, Buffer.from([2]))), // version 3
    der(0x02, Buffer.concat([Buffer.from([1]), randomBytes(8)])),
    algorithm,
    name,
    sequence(time(options.notBefore ?? new Date(Date.now() - 2 * DAY_MS)), time(notAfter)),
    name,
    publicKey.export({ type: 'spki', format: 'der' }),
    der(0xa3, extensions),
  );
  const signature = createSign('sha256').update(body).sign(privateKey);
  const certificate = sequence(body, algorithm, der(0x03, Buffer.concat([Buffer.from([0]), signature])));
  return {
    cert: toPem(certificate),
    key: privateKey.export({ type: 'pkcs8', format: 'pem' }).toString(),
  };
}

function der(tag: number, content: Buffer): Buffer {
  const length = content.length;
  const head =
    length < 128
      ? [tag, length]
      : length < 256
        ? [tag, 0x81, length]
        : [tag, 0x82, length >> 8, length & 255];
  return Buffer.concat([Buffer.from(head), content]);
}

function sequence(...items: readonly Buffer[]): Buffer {
  return der(0x30, Buffer.concat(items));
}

function set(...items: readonly Buffer[]): Buffer {
  return der(0x31, Buffer.concat(items));
}

function oid(hex: string): Buffer {
  return der(0x06, Buffer.from(hex, 'hex'));
}

/** GeneralizedTime, so that there is no century to guess. */
function time(date: Date): Buffer {
  return der(0x18, Buffer.from(`${date.toISOString().replace(/[-:T]/g, '').slice(0, 14)}Z`));
}

function toPem(certificate: Buffer): string {
  const lines = certificate.toString('base64').match(/.{1,64}/g) ?? [];
  return ['-----BEGIN CERTIFICATE-----', ...lines, '-----END CERTIFICATE-----', ''].join('\n');
}
