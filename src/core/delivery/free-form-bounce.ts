/**
 * Bounces written for people: qmail, Exim, Postfix and sendmail without RFC 3464, OpenSMTPD, Exchange and Outlook, Gmail,
 * GMX, Domino. Their common form is read: a line with the address, followed by the reason; then, perhaps, the
 * returned message. The result may name too many addresses, so code that acts on it looks for the sent email's recipients
 * among them. Time grows with the length only.
 */
import { addrSpec } from '../address/address.ts';
import { parseLenientAddressList } from '../address/lenient-address-list.ts';
import type { MessageId } from '../message/message-id.ts';
import { parseMessageIdList } from '../message/references.ts';
import { fieldValue } from '../mime/parse/header-fields.ts';
import { trimEnd } from '../trim-ends.ts';
import type { ParsedMessage } from '../mime/parse/parsed-message.ts';
import {
  classifyFailure,
  findStatus,
  MAX_BOUNCE_RECIPIENTS,
  type BounceRecipient,
} from './bounce-recipient.ts';
import { readDeliveryStatus, tellingStatus } from './delivery-status.ts';
import { cleanReplyText } from './reply.ts';

export interface FreeFormBounce {
  readonly recipients: readonly BounceRecipient[];
  /** The ids of the returned message, when the text contains it. */
  readonly messageIds: readonly MessageId[];
}

/** The line of the text at which the returned message begins. */
const RETURNED =
  /^(?:-+ ?below this line is a copy|-+ ?(?:this is a copy of|the body of)|below is a copy of the original|-+ ?original (?:message|mail)|original message (?:headers|follows)|message headers follow|-+ ?(?:returned|undelivered) (?:message|mail)|-+ ?message header follows|--- returned message|-+ ?unsent message|included is a copy of the message|-+ ?(?:kopie der|ursprüngliche) nachricht|-+ ?hier ist eine kopie)/i;

/** Subjects and words of a warning: delivery continues. */
const DELAYED =
  /\b(?:delayed|warning: message|could not be delivered for the last|will (?:continue to )?(?:be )?(?:retried|try)|still (?:being )?(?:trying|queued)|has not (?:yet )?been delivered|notification: warning|temporarily delayed|delivery of your message (?:is|has been) delayed|verzögert|verzögerung|noch nicht zugestellt|retardé|retrasad[oa]|ritard\w+)\b/i;
const GAVE_UP =
  /\b(?:giving up|gave up|given up|permanent(?:ly)?|has been returned|could not be delivered to|will not be retried|endgültig|definitiv\w*)\b/i;

const ADDRESS = '[^\\s<>()"\'@,;:\\[\\]]{1,64}@[^\\s<>()"\'@,;:\\[\\]]{1,255}';

/** A line about one recipient: it begins with the address; leading white space is already removed. */
const RECIPIENT_LINES: readonly RegExp[] = [
  // qmail, Postfix: `<a@x>:`, `<a@x>: host … said: …`; sendmail: `<a@x>`, and `554 <a@x>... reason`.
  // Input: at most 1,000 characters, MAX_LINE_CHARS.
  new RegExp(`^(?:[45]\\d\\d[ -])?<(${ADDRESS})>(?:[:.]|\\s|$)`),
  // Exim, Gmail, Domino, Exchange, GMX: the address alone, with a colon, in quotes, in a list.
  // Input: at most 1,000 characters, MAX_LINE_CHARS.
  new RegExp(`^[*•-]?\\s*["']?(${ADDRESS})["']?:?\\s*$`),
  // OpenSMTPD, Zoho, mobile carriers: the address and the reason in one line.
  // Input: at most 1,000 characters, MAX_LINE_CHARS.
  new RegExp(`^(${ADDRESS})(?:[:,]\\s|\\s+\\[|\\s+(?=\\w))`),
  // Outlook and Exchange: `a@x (a@x)`, `Max Muster (a@x)`, `'a@x' on 3/1/2026 …`, `a@x<mailto:a@x>`.
  // Input: at most 1,000 characters, MAX_LINE_CHARS.
  new RegExp(`^'?(?:[^()@]{1,100} \\()?(${ADDRESS})'?(?: ?\\(|\\)$|<mailto:| on )`),
  // Domino: `User max (a@x) not listed in Domino Directory`.
  // Input: at most 1,000 characters, MAX_LINE_CHARS.
  new RegExp(`^User \\S{1,100} \\((${ADDRESS})\\) not listed`, 'i'),
  // Amazon WorkMail, Sun Messaging Server: fields of a report in the text.
  // Input: at most 1,000 characters, MAX_LINE_CHARS.
  new RegExp(`^(?:Final-Recipient: *rfc822;|Recipient address:) *<?(${ADDRESS})`, 'i'),
];

/** A line that names the recipient somewhere, when no line begins with one: IMail, DragonFly, Verizon, McAfee. */
// Input: at most 1,000 characters, MAX_LINE_CHARS.
const NAMED_IN_LINE = new RegExp(
  `(?:^|\\s)(?:to|recipients?|addressed to|user|userid|address|mailbox|for|Empfänger|destinataire)(?:[:=] *| +)["'<(]{0,2}(${ADDRESS})`,
  'i',
);

/** Lines are read this far. */
const MAX_LINE_CHARS = 1000;
/** Lines below the address in which its reason is looked for. */
const MAX_REASON_LINES = 25;
const MAX_LINES_ABOVE = 3;
const MAX_LINES = 5000;
/** A text about no single recipient is read this far. */
const MAX_WHOLE_CHARS = 5000;

/** When no recipient can be found in the text, one with an empty address stands for the recipient that it is about. */
export function readFreeFormBounce(
  message: Pick<ParsedMessage, 'text' | 'fields' | 'subject' | 'to' | 'from'>,
): FreeFormBounce {
  const notice = readNotice(message);
  const messageIds = returnedIds(notice.rest);
  const reported = reportedInText(notice.lines, message);
  if (reported.length > 0) return { recipients: reported, messageIds };
  const action = DELAYED.test(notice.opening) && !GAVE_UP.test(notice.opening) ? 'delayed' : 'failed';
  const recipients = new Map<string, BounceRecipient>();
  for (const [address, reason] of reasonsByRecipient(message)) {
    recipients.set(address, toRecipient(address, action, reason));
  }
  // Exim and Gmail name them in a field.
  const failed = parseLenientAddressList(fieldValue(message.fields, 'x-failed-recipients') ?? '', 1000);
  const named = failed.addresses.filter(({ domain }) => domain !== '').map(addrSpec);
  const others = new Set(named.filter((address) => !recipients.has(address)));
  if (recipients.size + others.size === 0) {
    for (const address of mentionedIn(notice.lines, uninvolvedIn(message))) others.add(address);
  }
  if (recipients.size + others.size === 0) others.add('');
  for (const address of others) {
    const recipient = toRecipient(address, action, notice.whole);
    // With several recipients, it is not known which one the text calls unknown.
    const isSure = recipients.size + others.size === 1;
    recipients.set(
      address,
      isSure || recipient.severity !== 'hard' ? recipient : { ...recipient, severity: 'soft' },
    );
  }
  return { recipients: [...recipients.values()], messageIds };
}

/** Seen in practice: a delivery report whose parts became one text on the way. */
function reportedInText(
  lines: readonly string[],
  message: Pick<ParsedMessage, 'to' | 'from'>,
): readonly BounceRecipient[] {
  let start = lines.findIndex((line) => /^(?:original|final)-recipient[ \t]*:/i.test(line));
  if (start === -1) return [];
  // Other fields may precede it.
  while (start > 0 && /^[a-z-]{1,60}[ \t]*:/i.test(lines[start - 1] ?? '')) start -= 1;
  const recipients = readDeliveryStatus(Buffer.from(lines.slice(start).join('\n')));
  return withReasons(recipients.slice(0, MAX_BOUNCE_RECIPIENTS), reasonsIn(lines.slice(0, start), message));
}

/**
 * The recipients, with the reasons from the text where the report has none. Seen in practice: OpenSMTPD writes the
 * server's answer only in the text.
 */
export function withReasons(
  recipients: readonly BounceRecipient[],
  reasons: ReadonlyMap<string, string>,
): readonly BounceRecipient[] {
  return recipients.map((recipient) => {
    const reason = reasons.get(recipient.finalAddress ?? recipient.address) ?? reasons.get(recipient.address);
    if (recipient.diagnostic !== '' || reason === undefined) return recipient;
    const diagnostic = cleanReplyText(reason.replace(/\s+/g, ' '));
    const status = tellingStatus(recipient.status, diagnostic, recipient.action);
    return {
      ...recipient,
      status,
      diagnostic,
      severity: classifyFailure(recipient.action, status, diagnostic),
    };
  });
}

/** For reports that name the recipients elsewhere: the reason in the text for each, on one line. */
export function reasonsByRecipient(
  message: Pick<ParsedMessage, 'text' | 'subject' | 'to' | 'from'>,
): ReadonlyMap<string, string> {
  return reasonsIn(readNotice(message).lines, message);
}

function reasonsIn(
  lines: readonly string[],
  message: Pick<ParsedMessage, 'to' | 'from'>,
): ReadonlyMap<string, string> {
  const uninvolved = uninvolvedIn(message);
  const find = (line: string): string | null => {
    const address = recipientIn(line, RECIPIENT_LINES);
    return address === null || uninvolved.has(address.toLowerCase()) ? null : address;
  };
  const reasons = new Map<string, string>();
  for (const [at, line] of lines.entries()) {
    if (reasons.size >= MAX_BOUNCE_RECIPIENTS) break;
    const address = find(line);
    if (address !== null && !reasons.has(address))
      reasons.set(address, reasonBelow(lines, at, address, find));
  }
  return reasons;
}

interface Notice {
  /** Without the returned message. */
  readonly lines: readonly string[];
  /** Subject and first lines. */
  readonly opening: string;
  readonly whole: string;
  /** The lines in which a returned message may be found. */
  readonly rest: readonly string[];
}

function readNotice({ text, subject }: Pick<ParsedMessage, 'text' | 'subject'>): Notice {
  const all = text.split('\n', MAX_LINES).map((line) => line.slice(0, MAX_LINE_CHARS));
  const returnedAt = all.findIndex((line) => RETURNED.test(line.trim()));
  const lines = returnedAt === -1 ? all : all.slice(0, returnedAt);
  return {
    lines,
    opening: `${subject} ${lines.slice(0, 20).join(' ').slice(0, 2000)}`,
    whole: lines.join(' ').slice(0, MAX_WHOLE_CHARS),
    rest: returnedAt === -1 ? all : all.slice(returnedAt),
  };
}

/** Addresses that are not failed recipients: a notice is addressed to the sender and names its own address. */
function uninvolvedIn({ to, from }: Pick<ParsedMessage, 'to' | 'from'>): ReadonlySet<string> {
  return new Set([...to, ...from].map((one) => addrSpec(one).toLowerCase()));
}

function mentionedIn(lines: readonly string[], uninvolved: ReadonlySet<string>): ReadonlySet<string> {
  const found = new Set<string>();
  for (const line of lines) {
    const address = recipientIn(line, [NAMED_IN_LINE]);
    if (address !== null && !uninvolved.has(address.toLowerCase())) found.add(address);
  }
  return found;
}

function recipientIn(line: string, patterns: readonly RegExp[]): string | null {
  if (!line.includes('@')) return null;
  const begun = line.trimStart();
  for (const pattern of patterns) {
    const named = pattern.exec(begun)?.[1];
    if (named === undefined) continue;
    // A sentence may end after the address.
    const found = trimEnd(named, (character) => character === '.');
    const [address] = parseLenientAddressList(found, 1).addresses;
    if (address !== undefined && address.domain.includes('.')) return addrSpec(address);
  }
  return null;
}

/** The rest of the line and the lines below it, up to the next recipient. */
function reasonBelow(
  lines: readonly string[],
  at: number,
  address: string,
  find: (line: string) => string | null,
): string {
  const own = (lines[at] ?? '').replace(/^\s*(?:[45]\d\d[ -])?(?:<[^<>]*>|\S+@\S+):?/, '');
  // sendmail: the next lines are the transcript of another session.
  if (own.startsWith('...')) return own;
  const reason: string[] = [own];
  for (const line of lines.slice(at + 1, at + 1 + MAX_REASON_LINES)) {
    const other = find(line);
    if (other !== null && other !== address) break;
    reason.push(line);
  }
  if (reason.some((line) => line.trim() !== '')) return reason.join(' ');
  // Seen in practice: Notes gives the reason above the address.
  const above = lines.slice(Math.max(0, at - MAX_LINES_ABOVE), at);
  return above.slice(above.findLastIndex((line) => find(line) !== null) + 1).join(' ');
}

function toRecipient(address: string, action: 'failed' | 'delayed', reason: string): BounceRecipient {
  const diagnostic = cleanReplyText(reason.replace(/\s+/g, ' '));
  const status = findStatus(diagnostic, action);
  return {
    address,
    finalAddress: null,
    action,
    severity: classifyFailure(action, status ?? classOfReply(diagnostic), diagnostic),
    status,
    diagnostic,
  };
}

/** A temporary SMTP code without an enhanced status; a permanent one says too little on its own. */
function classOfReply(diagnostic: string): string | null {
  return /(?<![\d.])4[2-5]\d(?=[ -]\D)/.test(diagnostic) && !/(?<![\d.])5[0-5]\d(?=[ -]\D)/.test(diagnostic)
    ? '4.0.0'
    : null;
}

function returnedIds(lines: readonly string[]): readonly MessageId[] {
  for (const [at, line] of lines.entries()) {
    if (!/^[\s>]{0,20}Message-ID:/i.test(line)) continue;
    // The value may be folded after the name.
    const ids = parseMessageIdList(
      `${line.slice(line.indexOf(':') + 1)} ${lines[at + 1] ?? ''}`.slice(0, 2000),
    );
    return ids.slice(0, 1);
  }
  return [];
}
