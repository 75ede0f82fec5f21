/**
 * The limits of reading one received message, and their check.
 */
import {
  MAX_HEADER_BYTES,
  MAX_HEADER_FIELDS,
  MAX_MESSAGE_ADDRESSES,
  MAX_PARTS,
  MAX_PART_DEPTH,
  MAX_REPORT_BYTES,
  MAX_TEXT_BYTES,
  MAX_TNEF_BYTES,
} from '../limits.ts';

/** Bounds on one message as a whole; positive integers. Origins and units are in limits.ts. */
export interface ParseLimits {
  /** Default 1,000,000 bytes. */
  readonly headerBytes: number;
  /** Default 10,000. */
  readonly headerFields: number;
  /** Default 1000. */
  readonly parts: number;
  /** Default 50. */
  readonly partDepth: number;
  /** Still encoded; default 10,000,000 bytes. */
  readonly textBytes: number;
  /** Still encoded; default 1,000,000 bytes. The rest is left out without an error. */
  readonly reportBytes: number;
  /** Still encoded; default 32,000,000 bytes. A larger winmail.dat stays packed, which is a defect but no error. */
  readonly tnefBytes: number;
  /** Default 5000. */
  readonly addresses: number;
}

/** The limits that are errors when exceeded. */
export type ParseLimitName =
  'header_bytes' | 'header_fields' | 'parts' | 'part_depth' | 'text_bytes' | 'addresses';

const DEFAULTS: ParseLimits = {
  headerBytes: MAX_HEADER_BYTES,
  headerFields: MAX_HEADER_FIELDS,
  parts: MAX_PARTS,
  partDepth: MAX_PART_DEPTH,
  textBytes: MAX_TEXT_BYTES,
  reportBytes: MAX_REPORT_BYTES,
  tnefBytes: MAX_TNEF_BYTES,
  addresses: MAX_MESSAGE_ADDRESSES,
};

/** The defaults with some replaced. Throws RangeError when one is not a positive integer: no value disables a limit. */
export function toParseLimits(given: Partial<ParseLimits>): ParseLimits {
  const limits = { ...DEFAULTS, ...given };
  for (const [name, value] of Object.entries(limits)) {
    if (!Number.isSafeInteger(value) || value < 1) throw new RangeError(`${name} must be a positive integer`);
  }
  return limits;
}
