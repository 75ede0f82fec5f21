/** The use cases of addresses that the edges call. */
import type { Sender } from '../../core/accounts/sender-addresses.ts';
import { addrSpec } from '../../core/address/address.ts';
import { typedAddress } from '../../core/address/typed-address.ts';
import { normaliseAddress } from '../../core/customer/rules.ts';
import { accountIdsOf, type AccountFilter } from '../../platform/base/account-filter.ts';
import type { KnownAddress, KnownAddresses } from './known-addresses.ts';

/** The maximum number of addresses in one answer: as many as a list below a field shows. */
export const MAX_COMPLETED = 50;

export interface CompletionRequest extends AccountFilter {
  /** As typed; null: nothing typed yet. */
  readonly q: string | null;
  /** 1 to MAX_COMPLETED. */
  readonly limit: number;
}

export interface AddressUseCases {
  completeAddresses(request: CompletionRequest): Promise<readonly KnownAddress[]>;
}

/** The addresses of the accounts themselves, which are never offered. What patterns cover is not learned in the first place. */
const ownAddressesOf = (accounts: Iterable<Sender>): readonly string[] =>
  [...accounts]
    .flatMap(({ from, addresses = [] }) => [from, ...addresses.map(({ address }) => address)])
    .map((address) => normaliseAddress(addrSpec(address)));

/** @param accounts those of this process: nothing can be sent from any other */
export function createAddresses(
  known: KnownAddresses,
  accounts: ReadonlyMap<string, Sender>,
): AddressUseCases {
  return {
    async completeAddresses({ q, limit, ...filter }) {
      const words = q === null ? [] : typedAddress(q);
      // Only punctuation was typed: no address begins with it.
      if (q !== null && words.length === 0) return [];
      const accountIds = accountIdsOf(filter) ?? [...accounts.keys()];
      const ownAddresses = ownAddressesOf(accounts.values());
      return known.complete({ accountIds, words, ownAddresses, limit });
    },
  };
}
