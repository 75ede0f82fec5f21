/**
 * Receipts (RFC 8098) of programs that refused a message: RFC 5429 §2.1.2 lets Sieve's `reject` answer so, and Dovecot
 * does so when a mailbox is full. All other receipts report that a message was read, deleted or processed: no failure.
 */
import { fieldValue } from '../mime/parse/header-fields.ts';
import type { ParsedMessage } from '../mime/parse/parsed-message.ts';
import { classifyFailure, findStatus, type BounceRecipient } from './bounce-recipient.ts';
import { readReportFields, reportedAddress } from './delivery-status.ts';
import { cleanReplyText } from './reply.ts';

const RECEIPT_TYPES = new Set([
  'message/disposition-notification',
  'message/global-disposition-notification',
]);

/** True for a receipt of any kind. */
export function isReceipt(message: Pick<ParsedMessage, 'reports' | 'reportType'>): boolean {
  return message.reportType === 'disposition-notification' || receiptPart(message) !== undefined;
}

/** null for a receipt that is not a refusal. */
export function readRejection(
  message: Pick<ParsedMessage, 'reports' | 'subject' | 'text'>,
): BounceRecipient | null {
  const part = receiptPart(message);
  if (part === undefined || !(REJECTED_SUBJECT.test(message.subject) || REJECTED.test(message.text)))
    return null;
  const fields = readReportFields(part.bytes);
  // RFC 5429 §2.1.2: automatic, and deleted. A person who deletes a mail by hand, or does not read it, refuses nothing.
  if (!/^automatic-action\b.*;\s*(?:deleted|denied|failed)/i.test(fieldValue(fields, 'disposition') ?? ''))
    return null;
  const final = reportedAddress(fieldValue(fields, 'final-recipient'));
  const address = reportedAddress(fieldValue(fields, 'original-recipient')) ?? final;
  const diagnostic = cleanReplyText(message.text.slice(0, REASON_WITHIN_CHARS).replace(/\s+/g, ' '));
  const status = findStatus(diagnostic, 'failed');
  return {
    // Seen in practice: Dovecot writes a user without a domain in the field.
    address: address ?? rejectedAddress(message.text) ?? '',
    finalAddress: final === address ? null : final,
    action: 'failed',
    severity: classifyFailure('failed', status, diagnostic),
    status,
    diagnostic,
  };
}

const REJECTED_SUBJECT = /^(?:automatically rejected mail|rejected:)/i;
const REJECTED = /\b(?:was|has been) (?:automatically )?(?:rejected|refused)\b/i;

/** The reason is in the first lines; the rest may be the returned message. */
const REASON_WITHIN_CHARS = 1000;

function rejectedAddress(text: string): string | null {
  const found = /\bmessage to <([^<>\s]{1,320})>/i.exec(text.slice(0, REASON_WITHIN_CHARS))?.[1];
  return reportedAddress(found ?? null);
}

function receiptPart(message: Pick<ParsedMessage, 'reports'>): ParsedMessage['reports'][number] | undefined {
  return message.reports.find(({ contentType }) => RECEIPT_TYPES.has(contentType));
}
