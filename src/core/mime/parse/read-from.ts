/** The authors of a message: the addresses of its first From field. */
import { parseLenientAddressList, type LenientAddressList } from '../../address/lenient-address-list.ts';
import type { Address } from '../../address/address.ts';
import { fieldValue, type HeaderField } from './header-fields.ts';

export function readFrom(fields: readonly HeaderField[], maxCount: number): LenientAddressList {
  const list = parseLenientAddressList(fieldValue(fields, 'from') ?? '', maxCount);
  return { ...list, addresses: withoutBroken(list.addresses) };
}

/** Unreadable pieces beside a readable author address are the remains of a name. */
export function withoutBroken(addresses: readonly Address[]): readonly Address[] {
  const readable = addresses.filter(({ domain }) => domain !== '');
  return readable.length > 0 ? readable : addresses;
}
