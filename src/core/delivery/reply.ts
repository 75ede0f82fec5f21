/**
 * Reading an SMTP reply: RFC 5321 §4.2, enhanced status codes by RFC 2034 and RFC 3463.
 * Also reads the Message-ID that some relays report to have given a message. Does not decide what a reply means for a
 * send as a whole; that depends on the command it answers, and is up to the transport.
 */
import { cutText } from '../cut-text.ts';
import { parseMessageId, type MessageId } from '../message/message-id.ts';
import type { Reply } from './states.ts';

/** A reply's text is kept this far, in UTF-16 units; the standard limits a line to 512 octets, but not the number of lines. */
const MAX_REPLY_TEXT = 1000;

// RFC 5321 §4.2: three digits, then a space (last line), a hyphen (more lines follow) or nothing at all.
const REPLY_LINE = /^([2-5]\d\d)(?:([ -])(.*))?$/s;

// RFC 2034 §4: status-code ::= class "." subject "." detail, at the start of the text of every line.
const ENHANCED_STATUS = /^([245]\.\d{1,3}\.\d{1,3})(?:\s+|$)/;

/**
 * Parses one whole reply, its lines separated by CRLF or LF, the last line break optional.
 * null when it is not a reply by RFC 5321 §4.2: no three-digit code of 200 to 599, lines with different codes
 * (§4.2.1 wants the same one on each), or a last line that announces another.
 */
export function parseReply(raw: string): Reply | null {
  const lines = raw.split(/\r?\n/);
  while (lines.length > 1 && lines.at(-1) === '') lines.pop();
  let code: string | null = null;
  let enhancedStatus: string | null = null;
  const texts: string[] = [];
  for (const [index, line] of lines.entries()) {
    const match = REPLY_LINE.exec(line);
    if (match === null) return null;
    const [, lineCode = '', separator = ' ', rest = ''] = match;
    if (code !== null && lineCode !== code) return null;
    const continues = index < lines.length - 1;
    if (continues !== (separator === '-')) return null;
    code = lineCode;
    const status = ENHANCED_STATUS.exec(rest);
    enhancedStatus ??= status?.[1] ?? null;
    // RFC 2034 §4: every line of a reply repeats the status.
    texts.push(status === null ? rest : rest.slice(status[0].length));
  }
  return { code: Number(code), enhancedStatus, text: cleanReplyText(texts.join(' ')) };
}

/** Makes a peer's text fit for a record or a log line: no control characters, one line, at most 1,000 characters. */
export function cleanReplyText(text: string): string {
  const line = text
    .replace(/[\t\r\n]+/g, ' ')
    .replace(/[\u0000-\u001f\u007f-\u009f\u2028\u2029]/g, '')
    .toWellFormed()
    .trim();
  return cutText(line, MAX_REPLY_TEXT);
}

/** A reply on one line, such as `550 5.1.1 No such user`. */
export function formatReply(reply: Reply): string {
  return [String(reply.code), reply.enhancedStatus, reply.text].filter(Boolean).join(' ');
}

/**
 * The meaning of a final reply, RFC 5321 §4.2.1: 2yz `accepted`, 4yz `deferred`, 5yz `rejected`. null for 3yz, which is
 * never final.
 */
export function classifyReply(reply: Reply): 'accepted' | 'deferred' | 'rejected' | null {
  if (reply.code >= 500) return 'rejected';
  if (reply.code >= 400) return 'deferred';
  return reply.code < 300 ? 'accepted' : null;
}

// Seen in practice: Microsoft 365 and Outlook.com, "250 2.0.0 OK <id@host.prod.outlook.com> [Hostname=…]".
const OUTLOOK_TEXT = /^OK (<[^<>\s]+\.prod\.outlook\.com>)/i;

// Seen in practice: Amazon SES, "250 Ok 0100018b5c3c0a4f-…-000000": the local part of the Message-ID it sets.
const SES_TEXT = /^Ok ([0-9a-f]+(?:-[0-9a-f]+)+)$/i;

// An AWS region such as eu-west-1, a label of the host name of an SES endpoint.
const AWS_REGION = /^[a-z]{2}(?:-[a-z]+)+-\d+$/;

/**
 * The Message-ID with which a relay says it replaced ours, from its reply to the end of DATA.
 * Only forms that are known to carry one are read: other servers put queue numbers and addresses there.
 *
 * @param host name of the relay as configured; SES gives only half of its Message-ID; the region gives the rest
 * @returns null when the reply names none
 */
export function parseRelayMessageId(reply: Reply, host: string): MessageId | null {
  if (classifyReply(reply) !== 'accepted') return null;
  const outlook = OUTLOOK_TEXT.exec(reply.text)?.[1];
  if (outlook !== undefined) return parseMessageId(outlook);
  const local = SES_TEXT.exec(reply.text)?.[1];
  const domain = sesMessageIdDomain(host);
  if (local === undefined || domain === null) return null;
  return parseMessageId(`<${local.toLowerCase()}@${domain}>`);
}

/** The domain of the Message-IDs that an SES endpoint generates: `email.…` in us-east-1, the region elsewhere. */
function sesMessageIdDomain(host: string): string | null {
  const labels = host.toLowerCase().replace(/\.$/, '').split('.');
  const owner = labels.slice(-2).join('.');
  if (owner !== 'amazonaws.com' && owner !== 'awsapps.com') return null;
  const region = labels.slice(0, -2).find((label) => AWS_REGION.test(label));
  if (region === undefined) return null;
  return `${region === 'us-east-1' ? 'email' : region}.amazonses.com`;
}
