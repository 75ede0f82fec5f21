/** Configuration values that are more than a word or a number. All functions throw ConfigError with the variable's name. */
import { isIP } from 'node:net';
import { parseAddressList } from '../core/address/address-list.ts';
import type { Address } from '../core/address/address.ts';
import { ConfigError } from './config-error.ts';

export function readUrl(name: string, text: string | null, protocols: readonly string[]): string | null {
  if (text === null) return null;
  const protocol = URL.canParse(text) ? new URL(text).protocol : null;
  if (protocol === null || !protocols.includes(protocol)) {
    throw new ConfigError(
      name,
      `must be an address that starts with ${protocols.map((p) => `${p}//`).join(' or ')}`,
    );
  }
  return text;
}

/** One of the given words. */
export function readWord<const Words extends readonly string[]>(
  name: string,
  text: string,
  words: Words,
): Words[number] {
  const word = words.find((one) => one === text);
  if (word === undefined) throw new ConfigError(name, `must be one of ${words.join(', ')}`);
  return word;
}

export interface ListenAddress {
  readonly host: string;
  /** 0 picks a free port. */
  readonly port: number;
}

/** `host:port`, an IPv6 address in brackets; null when the variable is not set. */
export function readListen(name: string, text: string | null): ListenAddress | null {
  if (text === null) return null;
  const [, bracketed, plain, port] = /^(?:\[([0-9a-f:.]+)\]|([^:\s[\]]+)):(\d{1,5})$/i.exec(text) ?? [];
  const host = bracketed ?? plain;
  if (host === undefined || Number(port) > 65_535) throw new ConfigError(name, 'must be host:port');
  return { host, port: Number(port) };
}

/** Addresses and networks, separated by commas, such as `127.0.0.1,10.0.0.0/8,fd00::/8`. */
export function readNetworks(name: string, text: string | null): readonly string[] {
  if (text === null) return [];
  const networks = text.split(',').map((network) => network.trim());
  for (const network of networks) {
    const [, address = '', bits] = /^([^/]+)(?:\/(\d{1,3}))?$/.exec(network) ?? [];
    const version = isIP(address);
    // A prefix of 0 would trust every client, and each client could then claim any address.
    const isGood =
      version !== 0 &&
      (bits === undefined || (Number(bits) >= 1 && Number(bits) <= (version === 4 ? 32 : 128)));
    if (!isGood)
      throw new ConfigError(name, `must be addresses or networks such as 10.0.0.0/8, not ${network}`);
  }
  return networks;
}

/** A day such as `2026-01-31`, at 00:00 UTC; null when the variable is not set. */
export function readDay(name: string, text: string | null): Date | null {
  if (text === null) return null;
  const day = /^\d{4}-\d\d-\d\d$/.test(text) ? new Date(`${text}T00:00:00Z`) : new Date(NaN);
  // 2026-02-30 would become a day in March.
  if (Number.isNaN(day.getTime()) || day.toISOString().slice(0, 10) !== text) {
    throw new ConfigError(name, 'must be a day such as 2026-01-31');
  }
  return day;
}

/** One email address, with an optional display name. */
export function readFrom(variable: string, text: string): Address {
  let addresses: readonly Address[];
  try {
    addresses = parseAddressList(text, 'from');
  } catch {
    throw new ConfigError(variable, 'is not an email address');
  }
  const [address, ...others] = addresses;
  if (address === undefined || others.length > 0)
    throw new ConfigError(variable, 'must be one email address');
  return address;
}

const MIN_SECRET_LENGTH = 16;

/** Secrets separated by commas, the newest first; none when the variable is not set. */
export function readSecrets(text: string | null, name: string): readonly string[] {
  if (text === null) return [];
  const secrets = text.split(',').map((secret) => secret.trim());
  for (const secret of secrets) {
    if (secret.length < MIN_SECRET_LENGTH) {
      throw new ConfigError(name, `must have at least ${MIN_SECRET_LENGTH} characters`);
    }
    // RFC 9110 §5.5: the characters that a header field may contain
    if (!/^[\x21-\x7e]+$/.test(secret)) throw new ConfigError(name, 'must be printable ASCII without spaces');
  }
  return secrets;
}
