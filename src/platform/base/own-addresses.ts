/** The addresses of all accounts, which change while the process runs. */
import { ownAddresses, type IsOwnAddress, type Sender } from '../../core/accounts/sender-addresses.ts';

interface Made {
  readonly of: readonly Sender[];
  readonly isOwn: IsOwnAddress;
}

const made = new WeakMap<ReadonlyMap<string, Sender>, Made>();

/** Made anew only when the accounts are others: comparing a thousand takes microseconds. */
export function ownAddressesIn(accounts: ReadonlyMap<string, Sender>): IsOwnAddress {
  const known = made.get(accounts);
  const now = [...accounts.values()];
  const isSame = known?.of.length === now.length && known.of.every((one, index) => one === now[index]);
  if (isSame) return known.isOwn;
  const isOwn = ownAddresses(now);
  made.set(accounts, { of: now, isOwn });
  return isOwn;
}
