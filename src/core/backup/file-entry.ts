/** The list of the files of a backup: a JSON object on each line, sorted by the bytes of the paths. */
import { BackupError } from './manifest.ts';

/** A file as the database records it. */
export interface FileRecord {
  readonly path: string;
  readonly sizeBytes: number;
  /** In hex; null where the record has none, as for raw messages. */
  readonly sha256: string | null;
}

/** A file in a backup. */
export interface FileEntry {
  readonly path: string;
  readonly sizeBytes: number;
  readonly sha256: string;
  /** SHA-256 of each piece; absent when there is one, which is the file. */
  readonly pieces?: readonly string[];
}

/** A file that a backup does not contain: its record was deleted meanwhile, or the storage had lost it. */
export interface AbsentFile {
  readonly path: string;
  readonly absent: 'deleted' | 'missing';
}

export type FileLine = FileEntry | AbsentFile;

export const isAbsent = (line: FileLine): line is AbsentFile => 'absent' in line;

export const piecesOf = ({ sha256, pieces }: FileEntry): readonly string[] => pieces ?? [sha256];

/** Compressing raw messages is worth the time; most attachments are already compressed. */
export const isCompressed = (path: string): boolean => path.startsWith('_raw/');

export const formatFileLine = (line: FileLine): string => `${JSON.stringify(line)}\n`;

const HASH = /^[0-9a-f]{64}$/;
const isHash = (value: unknown): value is string => typeof value === 'string' && HASH.test(value);

/** Throws BackupError. */
export function parseFileLine(text: string): FileLine {
  let value: Partial<Record<keyof FileEntry | 'absent', unknown>> | null;
  try {
    value = JSON.parse(text) as typeof value;
  } catch (cause) {
    throw new BackupError('a line of the list of files is not JSON', { cause });
  }
  const { path, sizeBytes, sha256, pieces, absent } = value ?? {};
  if (typeof path === 'string' && (absent === 'deleted' || absent === 'missing')) return { path, absent };
  const arePieces = pieces === undefined || (Array.isArray(pieces) && pieces.every(isHash));
  if (typeof path !== 'string' || !Number.isSafeInteger(sizeBytes) || !isHash(sha256) || !arePieces) {
    throw new BackupError('a line of the list of files is damaged');
  }
  return { path, sizeBytes: sizeBytes as number, sha256, ...(pieces === undefined ? {} : { pieces }) };
}

/** The order of the list: by bytes, as PostgreSQL sorts with the collation "C". */
export const comparePaths = (a: string, b: string): number => Buffer.compare(Buffer.from(a), Buffer.from(b));
