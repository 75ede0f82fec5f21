/**
 * How an entry looks in the journal: `[version, value]`, encoded as MessagePack, which keeps Dates and Buffers.
 * Files are named relative to the spool, so that a moved data folder stays readable.
 */
import { basename, dirname } from 'node:path';
import type { Content, JournalEntry, TransportResult } from '../../app/ports.ts';
import type { DiskSpool, DiskSpoolFolder } from './spool.ts';

/** Raise it when a reader of the version before would misunderstand an entry; then read both. */
const FORMAT_VERSION = 1;

/** What stands in the database under an email's id. */
export type Stored<T> = readonly [version: number, value: T];

type StoredContent = { readonly bytes: Buffer } | { readonly file: string; readonly sizeBytes: number };

interface StoredEntry {
  readonly record: JournalEntry['record'];
  readonly envelope: JournalEntry['envelope'];
  readonly raw: StoredContent;
  readonly attachments: readonly StoredContent[];
  /** null when nothing is in the spool. */
  readonly folder: string | null;
}

/** The entry without its result, which has a place of its own. Throws when a file is not in `folder`. */
export function toStoredEntry(entry: JournalEntry, folder: DiskSpoolFolder): Stored<StoredEntry> {
  const toStored = (content: Content): StoredContent => {
    if (content.kind === 'bytes') return { bytes: content.bytes };
    if (dirname(content.path) !== folder.path) throw new Error('a file of the entry is not in its folder');
    return { file: basename(content.path), sizeBytes: content.sizeBytes };
  };
  return [
    FORMAT_VERSION,
    {
      record: entry.record,
      envelope: entry.envelope,
      raw: toStored(entry.raw),
      attachments: entry.attachments.map(toStored),
      folder: folder.used ? folder.name : null,
    },
  ];
}

/** The way back. Throws for a version or a shape that this program does not know. */
export function fromStoredEntry(
  stored: unknown,
  storedResult: unknown,
  id: string,
  spool: DiskSpool,
): JournalEntry {
  const value = valueOf(stored) as StoredEntry;
  if (value.record?.id !== id || !Array.isArray(value.attachments)) throw new Error('not a journal entry');
  const fromStored = (content: StoredContent): Content => {
    if ('bytes' in content) return { kind: 'bytes', bytes: content.bytes };
    if (value.folder === null) throw new Error('a file without a spool folder');
    return {
      kind: 'file',
      path: spool.resolve(value.folder, content.file),
      sizeBytes: content.sizeBytes,
    };
  };
  return {
    record: value.record,
    envelope: value.envelope,
    raw: fromStored(value.raw),
    attachments: value.attachments.map(fromStored),
    result: storedResult === undefined ? null : (valueOf(storedResult) as TransportResult),
  };
}

export function toStoredResult(result: TransportResult): Stored<TransportResult> {
  return [FORMAT_VERSION, result];
}

function valueOf(stored: unknown): object {
  if (!Array.isArray(stored) || stored[0] !== FORMAT_VERSION) {
    throw new Error(`unknown format version ${Array.isArray(stored) ? String(stored[0]) : '(none)'}`);
  }
  const value: unknown = stored[1];
  if (typeof value !== 'object' || value === null) throw new Error('not an object');
  return value;
}
