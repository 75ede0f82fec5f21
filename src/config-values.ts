/** Values of the configuration that are more than a word or a number. All throw ConfigError with the variable's name. */
import { parseAddressList } from './core/address/address-list.ts';
import type { Address } from './core/address/address.ts';
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

/** One email address, with a display name if wanted. */
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
