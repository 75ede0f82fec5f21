/** The content of a copy of a sent email that no relay changes; sent-copy.ts compares it. */
import { addrSpec, type Address } from '../address/address.ts';
import { fieldValue, type HeaderField } from '../mime/parse/header-fields.ts';
import type { ParsedMessage } from '../mime/parse/parsed-message.ts';
import { parseMessageId, type MessageId } from './message-id.ts';

/** The content of an email that no relay changes. Addresses are `local@domain`; their order does not count. */
export interface EmailContent {
  /** Milliseconds do not count. */
  readonly date: Date | null;
  readonly from: readonly string[];
  readonly to: readonly string[];
  readonly cc: readonly string[];
  /** Also empty for a copy whose relay does not reveal them. */
  readonly bcc: readonly string[];
  readonly subject: string;
  readonly inReplyTo: readonly string[];
  readonly text: string;
  readonly html: string | null;
  /** SHA-256 of each, lower-case hex. */
  readonly attachmentDigests: readonly string[];
}

export interface CopyContent extends EmailContent {
  /** Its previous Message-IDs, as the relay reports them. */
  readonly originalIds: readonly MessageId[];
}

// Seen in practice: Outlook.com and Gmail, where they replace a Message-ID.
const ORIGINAL_ID_FIELDS = ['x-microsoft-original-message-id', 'x-google-original-message-id'];

/** The Message-IDs that a relay reports to have replaced. */
function originalMessageIds(fields: readonly HeaderField[]): readonly MessageId[] {
  return ORIGINAL_ID_FIELDS.flatMap((name) => {
    const value = fieldValue(fields, name);
    const messageId = value === null ? null : parseMessageId(value);
    return messageId === null ? [] : [messageId];
  });
}

/** The copy in a parsed message. */
export function toCopyContent(message: ParsedMessage, attachmentDigests: readonly string[]): CopyContent {
  return {
    ...message,
    from: toTexts(message.from),
    to: toTexts(message.to),
    cc: toTexts(message.cc),
    bcc: toTexts(message.bcc),
    attachmentDigests,
    originalIds: originalMessageIds(message.fields),
  };
}

const toTexts = (addresses: readonly Address[]) => addresses.map(addrSpec);
