/** Text from strangers, in a form that PostgreSQL accepts. */
import { toStorable } from '../../core/storable-text.ts';
import type { AddressView } from '../../core/address/address-view.ts';
import { addrSpec, type Address } from '../../core/address/address.ts';

/** Seen in practice: addresses that can't be parsed; their text is in the local part, without a domain. */
export function toView(address: Address): AddressView {
  const text = address.domain === '' ? address.localPart : addrSpec(address);
  return { name: toStorable(address.name), address: toStorable(text) };
}
