/** Reads the addresses of an account besides its From. */
import { addrSpec, type Address } from '../core/address/address.ts';
import { MAX_SENDER_ADDRESSES, MAX_SENDER_NAME_CHARS } from '../core/accounts/limits.ts';
import { identityFor, patternOf, type SenderAddress } from '../core/accounts/sender-addresses.ts';
import { isOneLine } from '../core/one-line.ts';
import { readClosing } from './config-closing.ts';
import { ConfigError } from './config-error.ts';
import { readFrom } from './config-values.ts';

const FIELDS = new Set(['address', 'name', 'reply_to', 'signature_text', 'signature_html']);

/** Throws ConfigError. @param where the name of the field, for messages */
export function readAddresses(where: string, value: unknown, from: Address): readonly SenderAddress[] {
  if (value === undefined || value === null) return [];
  if (!Array.isArray(value) || value.length > MAX_SENDER_ADDRESSES)
    throw new ConfigError(where, `must be an array of at most ${MAX_SENDER_ADDRESSES} addresses`);
  const addresses: SenderAddress[] = [];
  for (const [index, entry] of value.entries()) {
    const place = `${where}[${index}]`;
    const read = readEntry(place, entry);
    const earlier = identityFor({ from, addresses }, read.address);
    if (earlier?.isExact === true || isIn(addresses, read.address))
      throw new ConfigError(place, `names ${addrSpec(read.address)} again`);
    addresses.push(read);
  }
  return addresses;
}

/** Patterns are equal in the same spelling. */
const isIn = (addresses: readonly SenderAddress[], address: Address): boolean =>
  addresses.some((one) => addrSpec(one.address).toLowerCase() === addrSpec(address).toLowerCase());

function readEntry(place: string, entry: unknown): SenderAddress {
  if (typeof entry !== 'object' || entry === null || Array.isArray(entry))
    throw new ConfigError(place, 'must be an object such as {"address": "sales@example.com"}');
  const fields: Readonly<Record<string, unknown>> = { ...entry };
  const unknown = Object.keys(fields).find((name) => !FIELDS.has(name));
  if (unknown !== undefined) throw new ConfigError(place, `has the unknown field ${unknown}`);
  const textOf = (name: string): string | null => {
    const text = fields[name] ?? null;
    if (text !== null && typeof text !== 'string') throw new ConfigError(`${place}.${name}`, 'must be text');
    return text;
  };
  const address = readFrom(`${place}.address`, textOf('address') ?? '');
  if (patternOf(address) === null)
    throw new ConfigError(
      `${place}.address`,
      'may have * only for a whole domain, as in *@example.com, or for the detail, as in sales+*@example.com',
    );
  const name = textOf('name')?.trim() ?? '';
  if (name.length > MAX_SENDER_NAME_CHARS || !isOneLine(name))
    throw new ConfigError(`${place}.name`, `must be one line of at most ${MAX_SENDER_NAME_CHARS} characters`);
  if (name !== '' && address.name !== '') throw new ConfigError(`${place}.name`, 'is given in address, too');
  const replyTo = textOf('reply_to');
  return {
    address: { ...address, name: name === '' ? address.name : name },
    replyTo: replyTo === null ? null : readFrom(`${place}.reply_to`, replyTo),
    signature: readClosing('signature', fields, (field) => `${place}.${field}`),
  };
}
