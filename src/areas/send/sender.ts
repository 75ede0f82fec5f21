/** In which name a send goes out, and which account has it. */
import { parseAddress } from '../../core/address/address-list.ts';
import type { Address } from '../../core/address/address.ts';
import { organizationalDomain } from '../../core/address/organizational-domain.ts';
import type { ClosingText } from '../../core/accounts/closing.ts';
import { accountsWith, identityFor } from '../../core/accounts/sender-addresses.ts';
import { invalidRequest, ServiceError } from '../../core/errors.ts';
import type { DkimSigning } from '../../core/mime/compose/dkim-signature.ts';
import type { Account } from '../../platform/base/basics.ts';
import { parseFrom } from './read-additions.ts';

export interface ChosenSender {
  readonly from: Address;
  /** Used unless the send names other addresses for answers. */
  readonly replyTo: readonly Address[];
  /** That of the address, else of the account; with its variables. */
  readonly signature: ClosingText | null;
}

/**
 * Throws `forbidden_from` when the account does not send as this address.
 *
 * @param asked as a caller writes it; its name counts before the configured one. null: From of the account
 */
export function senderOf(account: Account, asked: string | null): ChosenSender {
  const { from: usual, signature: usualSignature = null } = account;
  const address = parseFrom(asked);
  if (address === null) return { from: usual, replyTo: [], signature: usualSignature };
  const identity = identityFor(account, address);
  if (identity === null) throw new ServiceError('forbidden_from', { values: { field: 'from' } });
  const { from, declared } = identity;
  return {
    from: address.name === '' ? from : { ...from, name: address.name },
    replyTo: declared?.replyTo ? [declared.replyTo] : [],
    signature: declared?.signature ?? usualSignature,
  };
}

/**
 * The account of a send that names From and no account: the only one that sends as this address, or the default one among several. Throws
 * `forbidden_from`, and `invalid_request` when the caller has to name one.
 *
 * @param seen the accounts of the caller; null: all. Others count as if they did not exist
 */
export function accountOfFrom(
  { accounts, defaultAccountId }: SenderPorts,
  asked: string,
  seen: readonly string[] | null,
): string {
  const own = [...accounts.values()].filter(({ id }) => seen === null || seen.includes(id));
  const ids = accountsWith(own, parseAddress(asked, 'from')).map(({ id }) => id);
  const [first] = ids;
  if (first === undefined) throw new ServiceError('forbidden_from', { values: { field: 'from' } });
  if (ids.length === 1) return first;
  if (ids.includes(defaultAccountId)) return defaultAccountId;
  throw invalidRequest('missing', { field: 'account_id' });
}

export interface SenderPorts {
  readonly accounts: ReadonlyMap<string, Account>;
  readonly defaultAccountId: string;
}

/**
 * What signs mail of this domain: the account itself, else an account of that domain. A signature of another domain proves nothing to
 * receivers (DMARC), but is better than none, and what there was before. null: none.
 */
export function signingFor(
  accounts: ReadonlyMap<string, Account>,
  { from, dkim }: Account,
  { domain }: Address,
): DkimSigning | null {
  if (domain === from.domain) return dkim ?? null;
  const site = organizationalDomain(domain);
  const isAligned = (one: DkimSigning) => organizationalDomain(one.domain) === site;
  if (dkim !== undefined && isAligned(dkim)) return dkim;
  for (const { dkim: other } of accounts.values()) if (other !== undefined && isAligned(other)) return other;
  return dkim ?? null;
}
