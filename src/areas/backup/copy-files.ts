/** Copies the files that records name into a vault; files of the previous backup are not read again. */
import { createHash } from 'node:crypto';
import {
  comparePaths,
  isAbsent,
  type AbsentFile,
  type FileEntry,
  type FileLine,
  type FileRecord,
} from '../../core/backup/file-entry.ts';
import type { BlobStore } from '../../platform/files/file-ports.ts';
import type { FileReferences } from '../../platform/files/clean-files.ts';
import { cutPieces, FILES_AT_ONCE, PIECE_BYTES, type Vault } from './vault.ts';

export interface CopyFilesPorts {
  readonly blobs: Pick<BlobStore, 'get'>;
  readonly references: FileReferences;
  readonly vault: Vault;
}

export interface CopyCounts {
  /** Files that were read, and their bytes. */
  copied: number;
  copiedBytes: number;
  /** Files in the backup, and their bytes. */
  count: number;
  contentBytes: number;
  deleted: number;
  missing: number;
}

/**
 * Yields the lines of the list of files, in its order.
 *
 * @param wanted sorted by path
 * @param known of the previous backup, sorted by path
 * @param counts are kept up to date
 */
export async function* copyFiles(
  ports: CopyFilesPorts,
  wanted: AsyncIterable<FileRecord>,
  known: AsyncIterable<FileLine>,
  counts: CopyCounts,
  signal: AbortSignal,
): AsyncGenerator<FileLine> {
  const underWay: Promise<FileLine>[] = [];
  for await (const [file, before] of alongside(wanted, known)) {
    signal.throwIfAborted();
    const line = isSame(file, before) ? Promise.resolve(before) : copyFile(ports, file, counts);
    // Its failure is thrown when its turn comes; the others are awaited.
    line.catch(() => undefined);
    underWay.push(line);
    if (underWay.length >= FILES_AT_ONCE) yield count(await shifted(underWay), counts);
  }
  while (underWay.length > 0) yield count(await shifted(underWay), counts);
}

function shifted(underWay: Promise<FileLine>[]): Promise<FileLine> {
  const [first] = underWay.splice(0, 1);
  if (first === undefined) throw new Error('nothing is under way');
  return first;
}

function count(line: FileLine, counts: CopyCounts): FileLine {
  if (isAbsent(line)) {
    counts[line.absent] += 1;
  } else {
    counts.count += 1;
    counts.contentBytes += line.sizeBytes;
  }
  return line;
}

/** A raw message has no checksum in its record; but its path is never reused. */
function isSame(file: FileRecord, before: FileLine | null): before is FileEntry {
  if (before === null || isAbsent(before) || before.sizeBytes !== file.sizeBytes) return false;
  return file.sha256 === null || file.sha256 === before.sha256;
}

async function copyFile(ports: CopyFilesPorts, file: FileRecord, counts: CopyCounts): Promise<FileLine> {
  const { blobs, vault } = ports;
  const { path, sizeBytes, sha256 } = file;
  // From an interrupted backup, or the same content under another path
  if (sha256 !== null && sizeBytes > 0 && sizeBytes < PIECE_BYTES && (await vault.hasPiece(path, sha256))) {
    return { path, sizeBytes, sha256 };
  }
  const stream = await blobs.get(path);
  if (stream === null) return await absent(ports, path);
  const whole = createHash('sha256');
  const pieces: string[] = [];
  let readBytes = 0;
  for await (const piece of cutPieces(stream as AsyncIterable<Buffer>)) {
    whole.update(piece);
    readBytes += piece.length;
    const hash = createHash('sha256').update(piece).digest('hex');
    await vault.putPiece(path, hash, piece);
    pieces.push(hash);
  }
  counts.copied += 1;
  counts.copiedBytes += readBytes;
  const found = whole.digest('hex');
  if (readBytes !== sizeBytes || (sha256 !== null && found !== sha256)) {
    // Deleted while it was read, or not the recorded file.
    return await absent(ports, path);
  }
  return { path, sizeBytes, sha256: found, ...(pieces.length === 1 ? {} : { pieces }) };
}

async function absent(ports: CopyFilesPorts, path: string): Promise<AbsentFile> {
  return { path, absent: (await isReferenced(ports, path)) ? 'missing' : 'deleted' };
}

async function isReferenced({ references }: CopyFilesPorts, path: string): Promise<boolean> {
  return (await references.findReferenced([{ path, emailId: '' }])).has(path);
}

/** Pairs each of `wanted` with the entry that `known` has under its path; both are sorted. */
async function* alongside(
  wanted: AsyncIterable<FileRecord>,
  known: AsyncIterable<FileLine>,
): AsyncGenerator<readonly [FileRecord, FileLine | null]> {
  const rest = known[Symbol.asyncIterator]();
  try {
    let next = await rest.next();
    for await (const file of wanted) {
      while (next.done !== true && comparePaths(next.value.path, file.path) < 0) next = await rest.next();
      const isThere = next.done !== true && next.value.path === file.path;
      yield [file, isThere ? next.value : null];
    }
  } finally {
    await rest.return?.();
  }
}
