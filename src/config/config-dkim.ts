/** Reads how an account signs its mail: selectors and private keys, each in a file or in a variable. */
import { createPrivateKey, type KeyObject } from 'node:crypto';
import { readFileSync } from 'node:fs';
import path from 'node:path';
import type { Address } from '../core/address/address.ts';
import { organizationalDomain } from '../core/address/organizational-domain.ts';
import type { DkimSigning } from '../core/mime/compose/dkim-signature.ts';
import { ConfigError } from './config-error.ts';

export interface DkimConfig extends DkimSigning {
  /** Absolute paths of the files that contain private keys. */
  readonly keyFiles: readonly string[];
}

export interface DkimTexts {
  /** null: the domain of the From address. */
  readonly domain: string | null;
  /** Selector → a file, or the key itself in PEM. */
  readonly keys: readonly (readonly [selector: string, key: string])[];
}

/** The settings of the account that DKIM depends on. */
export interface DkimAccount {
  readonly from: Address;
  readonly smtpUrl: string | null;
  /** The base of relative paths; null: each key is given itself, and no file is read. */
  readonly cwd: string | null;
}

/** RFC 6376 §3.1: selectors have the syntax of DNS names. */
const SELECTOR = /^[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?(?:\.[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?)*$/;
const DOMAIN = /^(?=.{1,253}$)[a-z0-9_-]{1,63}(?:\.[a-z0-9_-]{1,63})*$/;
/** RFC 8301 §3.2: signers should use 2048 bits; few verifiers accept keys longer than 4096. */
const RSA_BITS = { min: 2048, max: 4096 };
/** One RSA and one Ed25519 key, and the same again while keys are being changed. */
const MAX_KEYS = 4;

/** Throws ConfigError. */
export function readDkim(where: string, texts: DkimTexts, account: DkimAccount): DkimConfig {
  const { from, smtpUrl, cwd } = account;
  const domain = (texts.domain ?? from.domain).toLowerCase();
  if (!DOMAIN.test(domain)) throw new ConfigError(where, `${domain} is not a domain`);
  if (organizationalDomain(domain) !== organizationalDomain(from.domain)) {
    throw new ConfigError(
      where,
      `signs for ${domain}, but From is of ${from.domain}: to receivers (DMARC) only a signature of that domain, or of one above it, counts`,
    );
  }
  const { keys } = texts;
  if (keys.length === 0 || keys.length > MAX_KEYS)
    throw new ConfigError(where, `must name 1 to ${MAX_KEYS} keys`);
  const selectors = new Set<string>();
  const keyFiles: string[] = [];
  const pemOf = (selector: string, text: string): string => {
    if (text.includes('-----BEGIN')) return text.replaceAll('\\n', '\n');
    if (cwd === null) throw new ConfigError(where, `the key of ${selector} must be a private key in PEM`);
    const file = path.resolve(cwd, text);
    keyFiles.push(file);
    return readFile(where, selector, file);
  };
  const read = keys.map(([selector, text]) => {
    if (!SELECTOR.test(selector)) {
      throw new ConfigError(
        where,
        `${selector} is not a selector: lower-case letters, digits and -, such as mail2026`,
      );
    }
    if (selectors.has(selector)) throw new ConfigError(where, `names the selector ${selector} twice`);
    selectors.add(selector);
    return { selector, privateKey: readKey(where, selector, pemOf(selector, text)) };
  });
  return { domain, keys: read, keyFiles, relayReplacesDate: replacesDate(smtpUrl) };
}

function readFile(where: string, selector: string, file: string): string {
  try {
    return readFileSync(file, 'utf8');
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? String(error.code) : 'unknown error';
    throw new ConfigError(where, `the private key of ${selector} can not be read: ${code}: ${file}`);
  }
}

/** The library's message may quote the key. */
function readKey(where: string, selector: string, pem: string): KeyObject {
  let key: KeyObject;
  try {
    key = createPrivateKey(pem);
  } catch {
    throw new ConfigError(
      where,
      `the private key of ${selector} is no private key in PEM (${pem.includes('ENCRYPTED') ? 'it has a password' : pem.includes('PUBLIC KEY') ? 'it is a public one' : 'it begins with -----BEGIN PRIVATE KEY-----'})`,
    );
  }
  const { asymmetricKeyType: type, asymmetricKeyDetails: details } = key;
  if (type === 'ed25519') return key;
  if (type !== 'rsa')
    throw new ConfigError(where, `the private key of ${selector} is ${type}: it must be RSA or Ed25519`);
  const bits = details?.modulusLength ?? 0;
  if (bits < RSA_BITS.min || bits > RSA_BITS.max) {
    throw new ConfigError(
      where,
      `the RSA key of ${selector} has ${bits} bits: it must have ${RSA_BITS.min} to ${RSA_BITS.max}`,
    );
  }
  return key;
}

/** Seen in practice: Amazon SES replaces Message-ID and Date, whatever their values. */
function replacesDate(smtpUrl: string | null): boolean {
  return (
    smtpUrl !== null && /^email-smtp(?:-fips)?\..*\.amazonaws\.com(?:\.cn)?$/.test(new URL(smtpUrl).hostname)
  );
}

/** `mail2026=keys/rsa.pem,mail2026e=keys/ed25519.pem` */
export function readKeyList(name: string, text: string): DkimTexts['keys'] {
  return text.split(',').map((entry) => {
    const [selector = '', ...key] = entry.split('=');
    if (key.length === 0 || key.join('=').trim() === '') {
      throw new ConfigError(name, 'must be selector=file, several with commas between them');
    }
    return [selector.trim(), key.join('=').trim()];
  });
}

/** `{"domain": "example.com", "keys": {"mail2026": "keys/rsa.pem"}}` */
export function readDkimField(
  where: string,
  value: unknown,
  expand: (text: string) => string,
  account: DkimAccount,
): DkimConfig | null {
  if (value === undefined || value === null) return null;
  const isObject = (one: unknown): one is object =>
    typeof one === 'object' && one !== null && !Array.isArray(one);
  if (!isObject(value)) throw new ConfigError(where, 'must be an object');
  const { domain = null, keys, ...others }: Readonly<Record<string, unknown>> = { ...value };
  const [unknown] = Object.keys(others);
  if (unknown !== undefined) throw new ConfigError(where, `has the unknown field ${unknown}`);
  if (domain !== null && typeof domain !== 'string') throw new ConfigError(where, 'domain must be text');
  if (!isObject(keys))
    throw new ConfigError(where, 'keys must be an object such as {"mail2026": "keys/rsa.pem"}');
  const texts = Object.entries(keys).map(([selector, key]: [string, unknown]) => {
    if (typeof key !== 'string' || key.trim() === '')
      throw new ConfigError(where, `the key of ${selector} must be text`);
    return [selector, expand(key).trim()] as const;
  });
  return readDkim(where, { domain: domain === null ? null : expand(domain).trim(), keys: texts }, account);
}
