/**
 * The person who an email is really about, where From names one of us: a group or a form that writes in a customer's name, a colleague who
 * forwards a customer's mail, or one who writes to a customer with a blind copy to us. A suggestion, and no more: any sender can write
 * all of this, so it links nothing to a customer.
 */
import { sendsAs, type IsOwnAddress, type Sender } from '../accounts/sender-addresses.ts';
import { addrSpec, type Address } from '../address/address.ts';
import { parseLenientAddressList } from '../address/lenient-address-list.ts';
import { isPublicDomain } from '../customer/public-domain.ts';
import { fieldValue } from '../mime/parse/header-fields.ts';
import type { ParsedMessage } from '../mime/parse/parsed-message.ts';
import { readBaseSubject } from './base-subject.ts';

/**
 * `rewritten`: From was rewritten by a group or list, which names the author elsewhere. `reply_to`: one of us asks for answers to that address,
 * as forms do. `forwarded`: the author of the email that one of us forwards. `recipient`: one of us wrote to them, with a blind copy.
 */
export const SUGGESTION_REASONS = ['rewritten', 'reply_to', 'forwarded', 'recipient'] as const;
export type SuggestionReason = (typeof SUGGESTION_REASONS)[number];

export interface SuggestedCounterparty {
  readonly name: string;
  /** `local@domain`. */
  readonly address: string;
  readonly reason: SuggestionReason;
}

type Asked = Pick<ParsedMessage, 'fields' | 'from' | 'replyTo' | 'to' | 'cc' | 'subject'>;

/**
 * null: From is no address of ours, or nothing names another person.
 *
 * @param forwardedFrom see forwardedAuthors
 * @param account the receiving one
 * @param isOwn an address of one of our accounts
 */
export function suggestCounterparty(
  message: Asked,
  forwardedFrom: readonly Address[],
  account: Sender,
  isOwn: IsOwnAddress = () => false,
): SuggestedCounterparty | null {
  const [from] = message.from;
  if (from === undefined) return null;
  const isOfCompany = isOwnFor(account.from);
  const isOurs = (one: Address) =>
    isOfCompany(one) || sendsAs(account, addrSpec(one)) || isOwn(addrSpec(one));
  const toSuggestion = (reason: SuggestionReason, candidates: readonly Address[]) => {
    const found = candidates.find((one) => one.domain !== '' && !isOurs(one) && !isSame(one, from));
    return found === undefined ? null : { name: found.name, address: addrSpec(found), reason };
  };
  const originalFrom = parseLenientAddressList(
    fieldValue(message.fields, 'x-original-from') ?? '',
    1,
  ).addresses;
  if (isRewritten(message, from, isOurs)) {
    return toSuggestion('rewritten', [...originalFrom, ...message.replyTo]);
  }
  if (!isOurs(from)) return null;
  return (
    toSuggestion('reply_to', message.replyTo) ??
    (readBaseSubject(message.subject).isReply ? null : toSuggestion('forwarded', forwardedFrom)) ??
    (isBlindCopy(message, account) ? toSuggestion('recipient', message.to) : null)
  );
}

/** Google Groups, and Mailman: `'Ada' via Sales`, from an address of ours or of the list. */
function isRewritten({ fields }: Asked, from: Address, isOurs: (address: Address) => boolean): boolean {
  if (!/ via \S/i.test(from.name) && fieldValue(fields, 'x-original-from') === null) return false;
  const listPost = fieldValue(fields, 'list-post')?.toLowerCase() ?? '';
  return isOurs(from) || listPost.includes(`mailto:${addrSpec(from).toLowerCase()}`);
}

const isBlindCopy = ({ to, cc }: Asked, account: Sender): boolean =>
  ![...to, ...cc].some((one) => sendsAs(account, addrSpec(one)));

const isSame = (a: Address, b: Address): boolean => addrSpec(a).toLowerCase() === addrSpec(b).toLowerCase();

/** The account's address, and all of its domain, unless anyone can have an address there. */
export function isOwnFor(own: Address): (address: Address) => boolean {
  const domain = own.domain.toLowerCase();
  const isCompany = !isPublicDomain(domain, false);
  return (address) => isSame(address, own) || (isCompany && address.domain.toLowerCase() === domain);
}
