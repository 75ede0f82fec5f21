/** The accounts that a caller may send as. */
import { accountsWith } from '../../core/accounts/sender-addresses.ts';
import type { Address } from '../../core/address/address.ts';
import type { Caller } from '../../core/keys/caller.ts';
import type { Account } from '../../platform/base/basics.ts';

/**
 * The account that sends as this address, among those of the caller: the first that names it, else the first with a pattern for it; null:
 * there is none.
 */
export function senderAccountOf(
  accounts: ReadonlyMap<string, Account>,
  { accounts: seen }: Pick<Caller, 'accounts'>,
  address: Address,
): Account | null {
  const own = [...accounts.values()].filter(({ id }) => seen === null || seen.includes(id));
  return accountsWith(own, address)[0] ?? null;
}
