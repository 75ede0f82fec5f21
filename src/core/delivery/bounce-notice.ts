/**
 * Decides whether a message that may be a bounce, by its sender or its subject, is one. Programs with the same senders and
 * subjects acknowledge, confirm and announce absences, and repeat our subject. Only a message that also reads like a
 * mail server's notice is a bounce: a wrong decision costs a customer.
 */
import { addrSpec } from '../address/address.ts';
import { parseLenientAddressList } from '../address/lenient-address-list.ts';
import { fieldValue, fieldValues, type HeaderField } from '../mime/parse/header-fields.ts';
import type { ParsedMessage } from '../mime/parse/parsed-message.ts';
import { isMailer, isPostmaster } from './automatic.ts';
import { isBounceSubject } from './bounce-subject.ts';
import type { FreeFormBounce } from './free-form-bounce.ts';

type Notice = Pick<ParsedMessage, 'fields' | 'subject' | 'from' | 'text' | 'contentType'>;

/**
 * @param free read from the text of the message
 * @param returned headers of the messages that it contains
 */
export function isFreeFormNotice(
  message: Notice,
  free: FreeFormBounce,
  returned: readonly (readonly HeaderField[])[],
): boolean {
  if (fieldValue(message.fields, 'x-failed-recipients') !== null) return true;
  if (isFromRecipient(message, returned) || TELLS_OF_SUCCESS.test(message.text.slice(0, MAX_OPENING_CHARS)))
    return false;
  const isReturned = returned.length > 0 || free.messageIds.length > 0;
  const isTold = isReturned || isBounceSubject(message.subject);
  if (message.from.some(isMailer))
    return isTold || SAYS_FAILURE.test(message.text.slice(0, MAX_NOTICE_CHARS));
  if (message.contentType === 'multipart/report' || message.from.some(isPostmaster)) return isTold;
  // Both are needed: a server's words, and a recipient or a returned message.
  const said = free.recipients.some(({ address, status, diagnostic }) =>
    address === '' ? isReturned && hasReply(message.text) : status !== null || SAYS_FAILURE.test(diagnostic),
  );
  return said && isTold;
}

/** Enough of a text to find its topic. */
const MAX_NOTICE_CHARS = 5000;

/** The opening of a text. */
const MAX_OPENING_CHARS = 2000;

const TELLS_OF_SUCCESS =
  /\b(?:(?:has been|was) successfully (?:delivered|relayed|sent)|successfully delivered to|erfolgreich (?:zugestellt|übermittelt))\b/i;

/** Words that servers, and notices about them, use for a failure; a text about anything else may contain them as well. */
const SAYS_FAILURE =
  // Input: at most 5,000 characters, MAX_NOTICE_CHARS.
  /(?<![\d.])[45]\.[0-7]\.\d{1,3}(?![\d.]*\d)|(?<!\d)[45][0-5]\d[ -]|undeliver|n[o']t be delivered|not delivered|delivery|returned|unknown (?:user|host|recipient|address)|(?:user|host|recipient|address)\S{0,40} (?:is )?unknown|reject|refused|quota|mailbox|zugestellt|zustell|unzustellbar|distribu|remis|entreg|recapit|consegn|bezorg|bestell?baar|доставл|配信|送信|配達|无法|退信/i;

function hasReply(text: string): boolean {
  return REPLY.test(text.slice(0, MAX_NOTICE_CHARS));
}

/** A reply of a server. Input: at most 5,000 characters, MAX_NOTICE_CHARS. */
const REPLY = /(?<![\d.])[45]\.[0-7]\.\d{1,3}(?![\d.]*\d)|(?<!\d)[45][0-5]\d[ -](?=[\d<a-z])/i;

/** A recipient of the returned message who writes did receive it. */
function isFromRecipient({ from }: Notice, returned: readonly (readonly HeaderField[])[]): boolean {
  const senders = new Set(from.map((one) => addrSpec(one).toLowerCase()));
  return returned.some((header) =>
    [...fieldValues(header, 'to'), ...fieldValues(header, 'cc')].some((value) =>
      parseLenientAddressList(value, MAX_RETURNED_RECIPIENTS).addresses.some((one) =>
        senders.has(addrSpec(one).toLowerCase()),
      ),
    ),
  );
}

const MAX_RETURNED_RECIPIENTS = 1000;
