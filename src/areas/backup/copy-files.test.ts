import { createHash, randomBytes } from 'node:crypto';
import path from 'node:path';
import { Readable } from 'node:stream';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { makeTempFolder, type TempFolder } from '../../../test/helpers/temp-folder.ts';
import { FolderBlobStore } from '../../connectors/blob/folder.ts';
import { comparePaths, isAbsent, type FileLine, type FileRecord } from '../../core/backup/file-entry.ts';
import { copyFiles } from './copy-files.ts';
import { cutPieces, PIECE_BYTES, Vault } from './vault.ts';

const hashOf = (bytes: Buffer) => createHash('sha256').update(bytes).digest('hex');

async function* each<T>(values: readonly T[]): AsyncGenerator<T> {
  for (const value of values) yield value;
}

describe('copying files', () => {
  let folder: TempFolder;
  let vault: Vault;
  const stored = new Map<string, Buffer>();
  const referenced = new Set<string>();
  let reads: string[];
  beforeEach(async () => {
    folder = await makeTempFolder();
    vault = new Vault(
      {
        backups: await FolderBlobStore.open(path.join(folder.path, 'backups')),
        files: await FolderBlobStore.open(path.join(folder.path, 'files')),
      },
      null,
    );
    stored.clear();
    referenced.clear();
    reads = [];
  });
  afterEach(() => folder.remove());

  const put = (name: string, bytes: Buffer, fields: Partial<FileRecord> = {}): FileRecord => {
    stored.set(name, bytes);
    return { path: name, sizeBytes: bytes.length, sha256: hashOf(bytes), ...fields };
  };

  async function copy(wanted: readonly FileRecord[], known: readonly FileLine[] = []) {
    const counts = { copied: 0, copiedBytes: 0, count: 0, contentBytes: 0, deleted: 0, missing: 0 };
    const lines: FileLine[] = [];
    const ports = {
      vault,
      blobs: {
        get: async (name: string) => {
          reads.push(name);
          const bytes = stored.get(name);
          return bytes === undefined ? null : Readable.from([bytes]);
        },
      },
      references: {
        findReferenced: async (files: readonly { readonly path: string }[]) =>
          new Set(files.flatMap((file) => (referenced.has(file.path) ? [file.path] : []))),
      },
    };
    const sorted = wanted.toSorted((a, b) => comparePaths(a.path, b.path));
    for await (const line of copyFiles(
      ports,
      each(sorted),
      each(known),
      counts,
      new AbortController().signal,
    ))
      lines.push(line);
    return { lines, counts };
  }

  async function readBack(line: FileLine | undefined): Promise<Buffer> {
    if (line === undefined || isAbsent(line)) throw new Error('it is not in the backup');
    const pieces: Buffer[] = [];
    for await (const piece of vault.readFile(line)) pieces.push(piece);
    return Buffer.concat(pieces);
  }

  it('keeps any size and any name, in the order of the bytes', async () => {
    const contents: readonly (readonly [string, Buffer])[] = [
      ['a/b/\u{1f600}.bin', randomBytes(PIECE_BYTES + 1)],
      ['a/b/\uffee.bin', randomBytes(PIECE_BYTES)],
      ['a/b/empty', Buffer.alloc(0)],
      ['_raw/a/b.eml', Buffer.from('Subject: x\r\n'.repeat(1000))],
      ['a/b/one', Buffer.from('1')],
    ];
    const { lines, counts } = await copy(contents.map(([name, bytes]) => put(name, bytes)));
    expect(lines.map((line) => line.path)).toEqual(contents.map(([name]) => name).toSorted(comparePaths));
    expect(counts).toMatchObject({ count: 5, copied: 5, deleted: 0, missing: 0 });
    for (const [name, bytes] of contents) {
      const back = await readBack(lines.find((line) => line.path === name));
      expect(back.equals(bytes), name).toBe(true);
    }
  });

  it('reads nothing again that a backup before has, and everything that is another', async () => {
    const same = put('a/b/same', Buffer.from('same'));
    const raw = put('_raw/a/b.eml', Buffer.from('raw'), { sha256: null });
    const changed = put('a/b/changed', Buffer.from('before'));
    const before = await copy([same, raw, changed]);
    reads = [];
    const after = await copy(
      [same, raw, put('a/b/changed', Buffer.from('behind')), put('a/b/zz', Buffer.from('new'))],
      before.lines,
    );
    expect(reads).toEqual(['a/b/changed', 'a/b/zz']);
    expect(after.counts).toMatchObject({ count: 4, copied: 2 });
    // The vault already has the same content under another name.
    reads = [];
    await copy([put('a/c/copy', Buffer.from('same'))]);
    expect(reads).toEqual([]);
  });

  it('tells what was deleted meanwhile from what is lost', async () => {
    const record = (name: string): FileRecord => ({
      path: name,
      sizeBytes: 3,
      sha256: hashOf(Buffer.from('abc')),
    });
    referenced.add('a/b/lost');
    stored.set('a/b/other', Buffer.from('xyz'));
    referenced.add('a/b/other');
    const { lines, counts } = await copy([record('a/b/deleted'), record('a/b/lost'), record('a/b/other')]);
    expect(lines).toEqual([
      { path: 'a/b/deleted', absent: 'deleted' },
      { path: 'a/b/lost', absent: 'missing' },
      { path: 'a/b/other', absent: 'missing' },
    ]);
    expect(counts).toMatchObject({ count: 0, deleted: 1, missing: 2 });
  });
});

it('pieces are the same bytes, however they come', async () => {
  const bytes = randomBytes(2 * PIECE_BYTES + 5);
  for (const sizes of [
    [bytes.length],
    [1, PIECE_BYTES - 1, PIECE_BYTES + 5],
    [0, 10, PIECE_BYTES, PIECE_BYTES - 5],
  ]) {
    const chunks: Buffer[] = [];
    let at = 0;
    for (const size of sizes) chunks.push(bytes.subarray(at, (at += size)));
    const pieces: Buffer[] = [];
    for await (const piece of cutPieces(each(chunks))) pieces.push(piece);
    expect(pieces.slice(0, -1).every((piece) => piece.length === PIECE_BYTES)).toBe(true);
    expect(Buffer.concat(pieces).equals(bytes.subarray(0, at))).toBe(true);
  }
});
