/**
 * The recipients of a reply, RFC 5322 §3.6.3: Reply-To, else From; for a reply to all, also To and Cc. Bcc is never used. A
 * reply to our own email goes to its recipients.
 */

import type { IsOwnAddress } from '../accounts/sender-addresses.ts';

/** An address as it is recorded: `address` is `local@domain`. */
export interface Mailbox {
  readonly name: string;
  readonly address: string;
}

export interface RepliedEmail {
  readonly direction: 'inbound' | 'outbound';
  readonly from: Mailbox;
  readonly replyTo: readonly Mailbox[];
  readonly to: readonly Mailbox[];
  readonly cc: readonly Mailbox[];
}

export interface ReplyRecipients {
  readonly to: readonly Mailbox[];
  readonly cc: readonly Mailbox[];
}

/**
 * @param isOwn an address of one of our accounts: mail to them would come back to us. They are kept only when there
 * is no other recipient.
 * @param isSelf the address that the account of the email has by name. Whoever else writes in one of our addresses is a colleague, and gets
 * the answer when there is no other recipient. Default: all of ours.
 */
export function replyRecipients(
  email: RepliedEmail,
  {
    toAll,
    isOwn,
    isSelf = isOwn,
  }: { readonly toAll: boolean; readonly isOwn: IsOwnAddress; readonly isSelf?: IsOwnAddress },
): ReplyRecipients {
  const others = (list: readonly Mailbox[]) => list.filter(({ address }) => !isOwn(address));
  const isOurs =
    email.direction === 'outbound' || (email.replyTo.length === 0 && others([email.from]).length === 0);
  const writers = isOurs ? email.to : email.replyTo.length > 0 ? email.replyTo : [email.from];
  // A list that puts its own address, which is ours, into Reply-To: the writer gets the answer.
  const answered = firstFilled(
    others(writers),
    isOurs ? [] : others([email.from]),
    others(email.to),
    email.direction === 'outbound' || isSelf(email.from.address) ? [] : [email.from],
    writers,
  );
  const to = unique(answered, new Set());
  if (!toAll) return { to, cc: [] };
  const taken = new Set(to.map(keyOf));
  return { to, cc: unique(others(isOurs ? email.cc : [...email.to, ...email.cc]), taken) };
}

function firstFilled(...lists: readonly (readonly Mailbox[])[]): readonly Mailbox[] {
  return lists.find((list) => list.length > 0) ?? [];
}

const keyOf = ({ address }: Mailbox): string => address.toLowerCase();

/** The list without those in `taken`, and without repeats. */
function unique(list: readonly Mailbox[], taken: ReadonlySet<string>): readonly Mailbox[] {
  const seen = new Set(taken);
  return list.filter((mailbox) => {
    const key = keyOf(mailbox);
    if (key === '' || seen.has(key)) return false;
    seen.add(key);
    return true;
  });
}
