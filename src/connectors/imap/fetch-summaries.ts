/**
 * Facts about messages without reading them: date, size, whether it was seen, and some header fields: with the trace, which no other
 * message has, or those that capture rules need.
 */
import type { FetchQueryObject } from 'imapflow';
import type { MessageSummary, SummaryFields, Uid } from '../../areas/mailboxes/mailbox-ports.ts';
import { RULE_FIELDS } from '../../core/mailbox/rule-header.ts';
import { fetchRows, findPresent, isRefused } from './fetch-rows.ts';
import type { ImapConnection } from './imap-connection.ts';
import { MAX_SIZES, MAX_SUMMARY_HEADER_BYTES, MAX_UIDS_PER_COMMAND } from './limits.ts';
import { inPortions } from './uid-set.ts';

const HEADER_FIELDS: Readonly<Record<SummaryFields, string[]>> = {
  trace: ['Message-ID', 'Date', 'From', 'Subject', 'Received'],
  rules: [...RULE_FIELDS],
};
const END_OF_HEADER = Buffer.from('\r\n');

interface Found {
  internalDate?: Date;
  sizeBytes?: number;
  isSeen?: boolean;
  header?: Buffer;
  isHeaderWhole?: boolean;
}

export async function* fetchSummaries(
  connection: ImapConnection,
  uids: readonly Uid[],
  fields: SummaryFields,
): AsyncGenerator<MessageSummary> {
  const headers = HEADER_FIELDS[fields];
  for (const portion of inPortions(uids, MAX_UIDS_PER_COMMAND)) {
    const { trusted } = connection.suspects.split(portion);
    const found = await fetchFound(connection, trusted, { headers });
    const missing = portion.filter((uid) => found.get(uid)?.header === undefined);
    const present = await findPresent(connection, missing);
    // A message that the server can't read must not hide the others.
    for (const uid of present) {
      const alone = (await fetchFound(connection, [uid], { headers })).get(uid);
      const rest = alone?.header === undefined ? (await fetchFound(connection, [uid], {})).get(uid) : {};
      found.set(uid, { ...rest, ...alone });
    }
    for (const uid of missing) if (!present.includes(uid)) found.delete(uid);
    for (const uid of portion) {
      const summary = found.get(uid);
      if (summary === undefined) continue;
      if (summary.sizeBytes !== undefined && connection.sizes.size < MAX_SIZES) {
        connection.sizes.set(uid, summary.sizeBytes);
      }
      yield {
        uid,
        internalDate: summary.internalDate ?? null,
        sizeBytes: summary.sizeBytes ?? 0,
        isSeen: summary.isSeen ?? false,
        header: summary.header ?? END_OF_HEADER,
        isHeaderWhole: summary.isHeaderWhole ?? false,
      };
    }
  }
}

/** Rows received before a refusal count. */
async function fetchFound(
  connection: ImapConnection,
  uids: readonly Uid[],
  query: FetchQueryObject,
): Promise<Map<Uid, Found>> {
  const found = new Map<Uid, Found>();
  try {
    const asked = { internalDate: true, size: true, flags: true, ...query };
    await fetchRows(connection, uids, asked, (row) => {
      const summary = found.get(row.uid) ?? {};
      found.set(row.uid, summary);
      if (row.internalDate instanceof Date) summary.internalDate = row.internalDate;
      if (row.size !== undefined) summary.sizeBytes = row.size;
      if (row.flags !== undefined) summary.isSeen = hasSeen(row.flags);
      if (row.headers === undefined) return;
      summary.header = cut(row.headers);
      summary.isHeaderWhole = row.headers.length <= MAX_SUMMARY_HEADER_BYTES;
    });
  } catch (error) {
    if (!isRefused(error)) throw error;
  }
  return found;
}

/** RFC 9051 §2.3.2: flags are case-insensitive. */
function hasSeen(flags: ReadonlySet<string>): boolean {
  for (const flag of flags) if (flag.toLowerCase() === '\\seen') return true;
  return false;
}

/** A copy, so that the memory of a huge header can be freed. */
function cut(header: Buffer): Buffer {
  if (header.length <= MAX_SUMMARY_HEADER_BYTES) return header;
  return Buffer.concat([header.subarray(0, MAX_SUMMARY_HEADER_BYTES), Buffer.from('\r\n\r\n')]);
}
