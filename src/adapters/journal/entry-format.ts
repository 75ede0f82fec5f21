/**
 * How an entry looks in the journal: `[version, value]`, encoded as MessagePack, which keeps Dates and Buffers.
 * Files are named relative to the spool, so that a moved data folder stays readable.
 */
import { basename, dirname } from 'node:path';
import type { Content } from '../../app/files/file-ports.ts';
import type { JournalEntry, SettledResult } from '../../app/send/journal-ports.ts';
import type { DiskSpool, DiskSpoolFolder } from './spool.ts';

/** Raise it when a reader of the version before would misunderstand an entry; then read both. */
const FORMAT_VERSION = 1;

/** What stands in the database under an email's id. */
export type Stored<T> = readonly [version: number, value: T];

type StoredContent = { readonly bytes: Buffer } | { readonly file: string; readonly sizeBytes: number };

interface StoredEntry extends Omit<JournalEntry, 'raw' | 'attachments' | 'result'> {
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
  const { raw, attachments, result: _, ...rest } = entry;
  return [
    FORMAT_VERSION,
    {
      ...rest,
      raw: toStored(raw),
      attachments: attachments.map(toStored),
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
  const { raw, attachments, folder, ...rest } = valueOf(stored) as StoredEntry;
  if (rest.record?.id !== id || !Array.isArray(attachments)) throw new Error('not a journal entry');
  const fromStored = (content: StoredContent): Content => {
    if ('bytes' in content) return { kind: 'bytes', bytes: content.bytes };
    if (folder === null) throw new Error('a file without a spool folder');
    return {
      kind: 'file',
      path: spool.resolve(folder, content.file),
      sizeBytes: content.sizeBytes,
    };
  };
  return {
    ...rest,
    raw: fromStored(raw),
    attachments: attachments.map(fromStored),
    result: storedResult === undefined ? null : (valueOf(storedResult) as SettledResult),
  };
}

export function toStoredResult(result: SettledResult): Stored<SettledResult> {
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
