/**
 * Bounces written for people: qmail, Exim, Postfix and sendmail without RFC 3464, Exchange and Outlook, Gmail, Domino.
 * What they have in common is read: a line with the address, followed by the reason; then, perhaps, the returned
 * message. Time grows with the length only.
 */
import { addrSpec } from '../address/address.ts';
import { parseLenientAddressList } from '../address/lenient-address-list.ts';
import type { MessageId } from '../message/message-id.ts';
import { parseMessageIdList } from '../message/references.ts';
import { fieldValue } from '../mime/header-fields.ts';
import type { ParsedMessage } from '../mime/parsed-message.ts';
import { classifyFailure, findStatus } from './bounce-recipient.ts';
import type { BounceRecipient } from './bounce-recipient.ts';
import { cleanReplyText } from './reply.ts';

export interface FreeFormBounce {
  readonly recipients: readonly BounceRecipient[];
  /** Of the returned message, where it stands in the text. */
  readonly messageIds: readonly MessageId[];
}

/** Where the returned message begins in the text. */
const RETURNED =
  /^(?:-+ ?below this line is a copy|-+ ?(?:this is a copy of|the body of) |-+ ?original (?:message|mail)|original message headers|-+ ?(?:returned|undelivered) (?:message|mail)|-+ ?message header follows|--- returned message|-+ ?unsent message)/i;

/** Subjects and words of a warning: delivery goes on. */
const DELAYED =
  /\b(?:delayed|warning: message|could not be delivered for the last|will (?:continue to )?(?:be )?(?:retried|try)|still (?:being )?(?:trying|queued)|has not (?:yet )?been delivered|verzögert|retardé)\b/i;
const GAVE_UP = /\b(?:giving up|gave up|permanent(?:ly)?|has been returned|could not be delivered to)\b/i;

const ADDRESS = '[^\\s<>()"\'@,;:]{1,64}@[^\\s<>()"\'@,;:]{1,255}';

/** A line that is about one recipient. */
const RECIPIENT_LINES: readonly RegExp[] = [
  // qmail and Postfix: `<a@x>:`, `<a@x>: host … said: …`; sendmail: `<a@x>`.
  new RegExp(`^\\s*<(${ADDRESS})>:?(?:\\s|$)`),
  // Exim, Gmail, Domino, Exchange: the address alone, or with a colon.
  new RegExp(`^\\s*'?(${ADDRESS})'?:?\\s*$`),
  // Outlook and Exchange: `a@x (a@x)`, `Max Muster (a@x)`, `'a@x' on 3/1/2026 …`, `a@x<mailto:a@x>`.
  new RegExp(`^\\s*'?(?:[^()@]{1,100} \\()?(${ADDRESS})'?(?: ?\\(|\\)$|<mailto:| on \\d)`),
  // Domino: `User max (a@x) not listed in Domino Directory`.
  new RegExp(`^\\s*User \\S{1,100} \\((${ADDRESS})\\) not listed`, 'i'),
];

/** Lines are read this far. */
const MAX_LINE_CHARS = 1000;
/** How far below the address its reason is looked for. */
const MAX_REASON_LINES = 25;
const MAX_LINES = 5000;

/** null when neither a recipient nor a returned message can be found. */
export function readFreeFormBounce(
  message: Pick<ParsedMessage, 'text' | 'fields' | 'subject' | 'to' | 'from'>,
): FreeFormBounce | null {
  const lines = message.text.split('\n', MAX_LINES).map((line) => line.slice(0, MAX_LINE_CHARS));
  const returnedAt = lines.findIndex((line) => RETURNED.test(line.trim()));
  const notice = returnedAt === -1 ? lines : lines.slice(0, returnedAt);
  const opening = `${message.subject} ${notice.slice(0, 20).join(' ').slice(0, 2000)}`;
  const action = DELAYED.test(opening) && !GAVE_UP.test(opening) ? 'delayed' : 'failed';
  // The notice is addressed to the sender and names itself.
  const uninvolved = new Set([...message.to, ...message.from].map((one) => addrSpec(one).toLowerCase()));
  const recipients = new Map<string, BounceRecipient>();
  for (const [at, line] of notice.entries()) {
    const address = recipientIn(line);
    if (address === null || uninvolved.has(address.toLowerCase()) || recipients.has(address)) continue;
    recipients.set(address, toRecipient(address, action, reasonBelow(notice, at, address)));
  }
  // Exim and Gmail name them in a field.
  const failed = parseLenientAddressList(fieldValue(message.fields, 'x-failed-recipients') ?? '', 1000);
  const whole = notice.join(' ').slice(0, 5000);
  for (const one of failed.addresses) {
    const address = addrSpec(one);
    if (one.domain === '' || recipients.has(address)) continue;
    recipients.set(address, toRecipient(address, action, whole));
  }
  const messageIds = returnedIds(returnedAt === -1 ? lines : lines.slice(returnedAt));
  if (recipients.size === 0 && messageIds.length === 0) return null;
  return { recipients: [...recipients.values()], messageIds };
}

function recipientIn(line: string): string | null {
  if (!line.includes('@')) return null;
  for (const pattern of RECIPIENT_LINES) {
    const found = pattern.exec(line)?.[1];
    if (found === undefined) continue;
    const [address] = parseLenientAddressList(found, 1).addresses;
    if (address !== undefined && address.domain.includes('.')) return addrSpec(address);
  }
  return null;
}

/** The rest of the line and what stands below it, up to the next recipient. */
function reasonBelow(lines: readonly string[], at: number, address: string): string {
  const own = (lines[at] ?? '').replace(/^\s*(?:<[^<>]*>|\S+@\S+):?/, '');
  const reason: string[] = [own];
  for (const line of lines.slice(at + 1, at + 1 + MAX_REASON_LINES)) {
    const other = recipientIn(line);
    if (other !== null && other !== address) break;
    reason.push(line);
  }
  return reason.join(' ');
}

function toRecipient(address: string, action: 'failed' | 'delayed', reason: string): BounceRecipient {
  const diagnostic = cleanReplyText(reason.replace(/\s+/g, ' '));
  const status = findStatus(diagnostic);
  return {
    address,
    finalAddress: null,
    action,
    severity: classifyFailure(action, status ?? classOfReply(diagnostic), diagnostic),
    status,
    diagnostic,
  };
}

/** A temporary SMTP code without an enhanced status; a permanent one says too little by itself. */
function classOfReply(diagnostic: string): string | null {
  return /(?<![\d.])4[2-5]\d(?=[ -]\D)/.test(diagnostic) && !/(?<![\d.])5[0-5]\d(?=[ -]\D)/.test(diagnostic)
    ? '4.0.0'
    : null;
}

function returnedIds(lines: readonly string[]): readonly MessageId[] {
  for (const [at, line] of lines.entries()) {
    if (!/^[\s>]{0,20}Message-ID:/i.test(line)) continue;
    // Folded behind the name.
    const ids = parseMessageIdList(
      `${line.slice(line.indexOf(':') + 1)} ${lines[at + 1] ?? ''}`.slice(0, 2000),
    );
    return ids.slice(0, 1);
  }
  return [];
}
