/** The header values by which an operator recognises a message that could not be taken. */
import { cutText } from '../cut-text.ts';
import { MAX_ADDR_SPEC_OCTETS, MAX_DISPLAY_NAME_CHARS } from '../address/limits.ts';
import type { Address } from '../address/address.ts';
import { parseMessage } from '../mime/parse/parse.ts';
import { shortenHeader } from '../mime/parse/shorten-header.ts';

/** A value is null when the mail server did not send it, or it could not be read. */
export interface HeaderSummary {
  /** One line without controls, at most MAX_SUMMARY_SUBJECT_CHARS. */
  readonly subject: string | null;
  /** The first address of From. An address that could not be read has an empty domain and its text as local part. */
  readonly from: Address | null;
  readonly date: Date | null;
  /** As the mail server reports it; may be wrong. */
  readonly sizeBytes: number | null;
}

/** Enough to recognise a message; in UTF-16 units. */
export const MAX_SUMMARY_SUBJECT_CHARS = 500;

/** @param header the fields Date, From and Subject, undecoded; may be cut, and hostile */
export function summariseHeader(header: Buffer, sizeBytes: number): HeaderSummary {
  const { subject, from, date } = parseMessage(shortenHeader(header));
  const [sender] = from;
  return {
    subject: subject === '' ? null : cutText(subject, MAX_SUMMARY_SUBJECT_CHARS),
    from:
      sender === undefined
        ? null
        : {
            name: cutText(sender.name, MAX_DISPLAY_NAME_CHARS),
            localPart: cutText(sender.localPart, MAX_ADDR_SPEC_OCTETS),
            domain: cutText(sender.domain, MAX_ADDR_SPEC_OCTETS),
          },
    date,
    sizeBytes: Number.isSafeInteger(sizeBytes) && sizeBytes > 0 ? sizeBytes : null,
  };
}
