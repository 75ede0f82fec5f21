/**
 * Which received mail an absence may answer, by the message alone: RFC 3834 §2 and §4, RFC 5230 §4.6. In doubt nothing is sent: an answer
 * that is missing costs little, and one to a list, to a program or to the victim of a forgery harms others.
 *
 * Not decided here: who wrote the email (delivery/writer.ts), when it arrived, and who got an answer lately.
 */
import { ownAddresses, type IsOwnAddress, type Sender } from '../accounts/sender-addresses.ts';
import { addrSpec, type Address } from '../address/address.ts';
import type { AutomaticMail } from '../delivery/automatic.ts';
import type { MailAuthentication } from '../message/authentication.ts';
import { fieldValue, fieldValues } from '../mime/parse/header-fields.ts';
import type { ParsedMessage } from '../mime/parse/parsed-message.ts';
import { parseAddressList } from '../address/address-list.ts';

export interface AbsenceFacts {
  readonly message: Pick<ParsedMessage, 'fields' | 'from' | 'sender' | 'replyTo' | 'to' | 'cc' | 'subject'>;
  /** The sender of the envelope, null for `<>`; undefined: Return-Path has it, as in a mailbox. */
  readonly mailFrom: string | null | undefined;
  /** Any mark forbids an answer, also one that only asks for none. */
  readonly automatic: AutomaticMail | null;
  /** null: nothing is known. */
  readonly authentication: MailAuthentication | null;
  readonly account: Sender;
  /** An address of one of all accounts. */
  readonly isOwn: IsOwnAddress;
}

/** The address that gets the answer, in lower case; null: the email is not answered. */
export function absenceRecipient(facts: AbsenceFacts): string | null {
  const { message, automatic, authentication, account, isOwn } = facts;
  const { fields, from, sender, replyTo, to, cc } = message;
  const [writer] = from;
  if (writer === undefined || from.length > 1 || automatic !== null) return null;
  if (authentication?.verdict === 'failed') return null;
  if (fields.some(({ name }) => LIST_FIELD.test(name)) || isSpam(message)) return null;
  const address = addrSpec(writer).toLowerCase();
  // RFC 3834 §4: to no other address than Return-Path. One that differs from From is that of a list, a bulk mailer or a forwarder; or of the
  // victim of a forger who writes his own address into From, which passes every check.
  if (returnPathOf(facts)?.toLowerCase() !== address) return null;
  const involved = [writer, ...(sender === null ? [] : [sender]), ...replyTo];
  if (involved.some((one) => isProgram(one) || isOwn(addrSpec(one).toLowerCase()))) return null;
  // RFC 3834 §2: a personal responder answers only what names its address.
  const isOfAccount = ownAddresses([account]);
  return [...to, ...cc].some((one) => isOfAccount(addrSpec(one))) && isSendable(address) ? address : null;
}

/** RFC 2369, RFC 2919, and fields of no standard: only lists write such. */
const LIST_FIELD = /^list-/i;

/** Local parts of programs, besides those that are marks; RFC 5230 §4.6, RFC 2142, others seen in practice. */
const PROGRAMS: readonly RegExp[] = [
  /^(?:mailer-daemon|postmaster|listserv|majordomo|abuse|daemon|root|nobody|notifications?|newsletter|news|alerts?)$/i,
  /^(?:owner-|bounces?(?![a-z])|keine?[-_.]?(?:antwort|reply))/i,
  /-(?:request|owner|relay|bounces?)$/i,
  /(?:no|not|dont)[-_.+]?reply/i,
];

function isProgram({ localPart }: Address): boolean {
  const read = localPart.slice(0, MAX_LOCAL_CHARS);
  return PROGRAMS.some((pattern) => pattern.test(read));
}

/** RFC 5321 §4.5.3.1.1; longer ones belong to no person. */
const MAX_LOCAL_CHARS = 64;

/** Seen in practice: SpamAssassin and rspamd. */
function isSpam({ fields }: AbsenceFacts['message']): boolean {
  return ['x-spam-flag', 'x-spam-status', 'x-spam'].some((name) =>
    /^\s*(?:yes|true)\b/i.test(fieldValue(fields, name) ?? ''),
  );
}

/** null: there is none, or the null one. */
function returnPathOf({ mailFrom, message }: AbsenceFacts): string | null {
  if (mailFrom !== undefined) return mailFrom;
  const values = fieldValues(message.fields, 'return-path');
  // RFC 5321 §4.4: one, written by the last server. A second is the sender's.
  if (values.length !== 1) return null;
  return /^\s*<([^<>\s]{1,320})>\s*$/.exec(values[0] ?? '')?.[1] ?? null;
}

/** A received header may have an address that nothing can be sent to. */
function isSendable(address: string): boolean {
  try {
    return parseAddressList(address, 'to').length === 1;
  } catch {
    return false;
  }
}
