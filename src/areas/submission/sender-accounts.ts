/** The accounts that a caller may send as. */
import { addrSpec, type Address } from '../../core/address/address.ts';
import type { Caller } from '../../core/keys/caller.ts';
import type { Account } from '../../platform/base/basics.ts';

/**
 * The account with this address, among those of the caller; null: there is none. Case does not matter, of ASCII
 * letters: others are other mailboxes, such as one with the Kelvin sign for a K. The address is that of the account
 * alone: none with `+detail`, to which answers would come, but in whose name nothing else is sent.
 */
export function senderAccountOf(
  accounts: ReadonlyMap<string, Account>,
  { accounts: seen }: Pick<Caller, 'accounts'>,
  address: Address,
): Account | null {
  const sought = inLowerCase(address);
  for (const account of accounts.values()) {
    const isSeen = seen === null || seen.includes(account.id);
    if (isSeen && inLowerCase(account.from) === sought) return account;
  }
  return null;
}

const inLowerCase = (address: Address): string =>
  addrSpec(address).replace(/[A-Z]/g, (letter) => letter.toLowerCase());
