/**
 * The part of a header that capture rules judge. A mail server is asked for these fields alone (RFC 9051 §6.4.5, HEADER.FIELDS); of a recorded
 * message they are taken out of its header, so that both are judged by the same bytes.
 */

/** The fields that make CaptureFacts. */
export const RULE_FIELDS: readonly string[] =
  'Message-ID From Reply-To To Cc Bcc Subject Sensitivity In-Reply-To References Content-Type Return-Path'.split(
    ' ',
  );

/** A longer part is not judged; in bytes. */
export const MAX_RULE_HEADER_BYTES = 64 * 1024;

const NAMES: ReadonlySet<string> = new Set(RULE_FIELDS.map((name) => name.toLowerCase()));
const END_OF_HEADER = '\r\n';

/**
 * Returns the lines of RULE_FIELDS with an empty line behind them, or null for more than MAX_RULE_HEADER_BYTES. It reads up to the first
 * empty line, as mail servers do.
 */
export function ruleHeader(message: Buffer): Buffer | null {
  // Every byte is one character.
  const text = message.toString('latin1');
  const kept: string[] = [];
  let isWanted = false;
  let sizeBytes = END_OF_HEADER.length;
  for (let start = 0; start < text.length;) {
    const end = text.indexOf('\n', start);
    const line = end === -1 ? text.slice(start) : text.slice(start, end + 1);
    if (line === '\n' || line === '\r\n') break;
    // RFC 5322 §2.2.3: a line that begins with white space continues its field.
    const isContinued = line.startsWith(' ') || line.startsWith('\t');
    if (!isContinued)
      isWanted = NAMES.has(
        line
          .slice(0, Math.max(0, line.indexOf(':')))
          .trimEnd()
          .toLowerCase(),
      );
    if (isWanted) {
      kept.push(line);
      sizeBytes += line.length;
    }
    if (sizeBytes > MAX_RULE_HEADER_BYTES) return null;
    start += line.length;
  }
  return Buffer.from(`${kept.join('')}${END_OF_HEADER}`, 'latin1');
}
