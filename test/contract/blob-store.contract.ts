/** The contract that every blob store fulfils. */
import { execFile, spawn } from 'node:child_process';
import { createHash, randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { readFile, utimes, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { buffer, text } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { createBlobStore, type BlobStoreOptions } from '../../src/connectors/blob/create.ts';
import type { BlobStore, ByteRange, Content } from '../../src/platform/files/file-ports.ts';
import { makeTempFolder, type TempFolder } from '../helpers/temp-folder.ts';

export interface StoreUnderTest {
  readonly options: BlobStoreOptions;
  /** Makes the storage under the store disappear. */
  takeAway(): Promise<void>;
  close(): Promise<void>;
}

const CHILD = fileURLToPath(new URL('../helpers/blob-child.mjs', import.meta.url));
const TYPE = 'application/octet-stream';
/** Memory that a transfer may take beyond that of a small one: parts under way, and garbage that is not collected yet. */
const FLAT_BYTES = 40 * 1024 * 1024;
/** Long enough for retries, pauses and a slow test machine. */
const AWAY_TIMEOUT_MS = 20_000;

/** @param isAtomic puts of the same path at the same moment are told apart; S3 promises it, s3rver does not always keep it */
export function blobStoreContract(
  name: string,
  isAtomic: boolean,
  start: () => Promise<StoreUnderTest>,
): void {
  describe(`blob store: ${name}`, () => {
    let temp: TempFolder;
    let under: StoreUnderTest;
    let store: BlobStore;
    beforeEach(async () => {
      temp = await makeTempFolder();
      under = await start();
      store = await createBlobStore(under.options);
    });
    afterEach(async () => {
      await store.close();
      await under.close();
      await temp.remove();
    });

    const put = (path: string, content: string | Buffer) =>
      store.put(path, { kind: 'bytes', bytes: Buffer.from(content) }, TYPE);
    const putFile = (path: string, file: Content) => store.put(path, file, TYPE);
    const makeFile = async (bytes: Buffer): Promise<Extract<Content, { kind: 'file' }>> => {
      const path = join(temp.path, randomBytes(8).toString('hex'));
      await writeFile(path, bytes);
      return { kind: 'file', path, sizeBytes: bytes.length };
    };
    const get = async (path: string, range?: ByteRange) => {
      const stream = await store.get(path, range);
      return stream === null ? null : buffer(stream);
    };
    const getText = async (path: string, range?: ByteRange) => (await get(path, range))?.toString();

    it('lists every file with its size and when it was stored, and nothing of its own', async () => {
      const list = async () => {
        const files = [];
        for await (const file of store.list()) files.push(file);
        return files.sort((a, b) => (a.path < b.path ? -1 : 1));
      };
      expect(await list()).toEqual([]);
      await store.check();
      const file = await makeFile(Buffer.from('four'));
      await utimes(file.path, 1, 1);
      const before = Date.now();
      await put('a/b/c.txt', 'x');
      await putFile('a/b.eml', file);
      await put('a/b/d ä#?.txt', '');
      for (let index = 0; index < 20; index += 1) await put(`many/${index}`, 'y');
      const files = await list();
      expect(files).toHaveLength(23);
      expect(files.slice(0, 3).map(({ path, sizeBytes }) => [path, sizeBytes])).toEqual([
        ['a/b.eml', 4],
        ['a/b/c.txt', 1],
        ['a/b/d ä#?.txt', 0],
      ]);
      for (const { storedAt } of files) {
        // S3 reports whole seconds.
        expect(storedAt.getTime()).toBeGreaterThan(before - 2000);
        expect(storedAt.getTime()).toBeLessThan(Date.now() + 2000);
      }
      await store.delete('a/b/c.txt');
      expect(await list()).toHaveLength(22);
    });

    it.each([0, 1, 100_000])('keeps %d bytes, from memory and from a file', async (size) => {
      const bytes = randomBytes(size);
      await put('a/b/memory', bytes);
      const file = await makeFile(bytes);
      await putFile('a/b/file', file);
      expect((await get('a/b/memory'))?.equals(bytes)).toBe(true);
      expect((await get('a/b/file'))?.equals(bytes)).toBe(true);
      expect((await readFile(file.path)).equals(bytes)).toBe(true); // The source is left alone.
    });

    it('keeps 25 MB from memory', async () => {
      const bytes = randomBytes(25 * 1024 * 1024);
      await put('a/b/large', bytes);
      const found = await get('a/b/large');
      expect(found?.equals(bytes)).toBe(true);
    });

    it('stores and reads 64 MB of a file in flat memory', async () => {
      const bytes = randomBytes(64 * 1024 * 1024);
      const file = await makeFile(bytes);
      const { stdout } = await promisify(execFile)(process.execPath, [
        CHILD,
        JSON.stringify(under.options),
        'memory',
        file.path,
      ]);
      const { grownBytes, sha256 } = JSON.parse(stdout) as { grownBytes: number; sha256: string };
      expect(sha256).toBe(createHash('sha256').update(bytes).digest('hex'));
      expect(grownBytes).toBeLessThan(FLAT_BYTES);
    });

    it('replaces a file by a second put, of either kind', async () => {
      await put('a/b/c', 'first, and long');
      await put('a/b/c', 'second');
      expect(await getText('a/b/c')).toBe('second');
      await putFile('a/b/c', await makeFile(Buffer.from('third')));
      expect(await getText('a/b/c')).toBe('third');
      await put('a/b/c', 'fourth');
      expect(await getText('a/b/c')).toBe('fourth');
    });

    it('takes the same file again, as a replay does', async () => {
      const file = await makeFile(Buffer.from('same'));
      await putFile('a/b/c', file);
      await putFile('a/b/c', file);
      expect(await getText('a/b/c')).toBe('same');
      expect(await readFile(file.path, 'utf8')).toBe('same');
    });

    // The first byte alone, and a range of an empty file, are in folder.test.ts and s3.test.ts: s3rver gets both wrong.
    it('gives a range, both ends included', async () => {
      await put('a/b/c', '0123456789');
      expect(await getText('a/b/c', { start: 0, end: 1 })).toBe('01');
      expect(await getText('a/b/c', { start: 3, end: 5 })).toBe('345');
      expect(await getText('a/b/c', { start: 8, end: 9 })).toBe('89');
      expect(await getText('a/b/c', { start: 8, end: 99 })).toBe('89');
      expect(await getText('a/b/c', { start: 10, end: 12 })).toBe('');
    });

    it('gives null for what is not there, ranges included', async () => {
      await put('a/b/c', 'x');
      for (const path of ['a/b/d', 'a/e/c', 'f', 'a/b/c/d', 'a/b', 'a']) {
        expect(await store.get(path)).toBeNull();
        expect(await store.get(path, { start: 0, end: 1 })).toBeNull();
      }
    });

    it('deletes, and does nothing when there is no such file', async () => {
      await put('a/b/c', 'x');
      await put('a/b/d', 'y');
      await store.delete('a/b/c');
      await store.delete('a/b/c');
      await store.delete('nobody/knows/this');
      expect(await store.get('a/b/c')).toBeNull();
      expect(await getText('a/b/d')).toBe('y');
      await store.delete('a/b/d');
      await put('a/b/d', 'again');
      expect(await getText('a/b/d')).toBe('again');
    });

    it.runIf(isAtomic)('lets one of several puts of the same path win as a whole', async () => {
      const versions = Array.from({ length: 12 }, (_, index) => Buffer.alloc(300_000, 65 + index));
      await Promise.all(
        versions.map(async (bytes, index) =>
          index % 2 === 0 ? put('a/b/c', bytes) : putFile('a/b/c', await makeFile(bytes)),
        ),
      );
      const found = await get('a/b/c');
      expect(versions.some((version) => found?.equals(version))).toBe(true);
    });

    it('takes puts and deletes in the same place at the same time', async () => {
      await Promise.all(
        Array.from({ length: 100 }, async (_, index) => {
          await put(`a/b/${index}`, String(index));
          if (index % 2 === 0) await store.delete(`a/b/${index}`);
        }),
      );
      expect(await getText('a/b/51')).toBe('51');
      expect(await getText('a/b/50')).toBeUndefined();
    });

    it.each([
      '报告.pdf',
      '😀 👩‍👩‍👧.png',
      'with  spaces .txt',
      '100%.txt',
      '%2e%2e%2f',
      'a+b.txt',
      'a#b?c=d&e;f.txt',
      'quote\'"<>|*:.txt',
      'ü-composed',
      'ü-decomposed',
      'x'.repeat(200),
      '語'.repeat(66),
      '..hidden',
      '.profile',
      '-rf',
      'line\nbreak',
    ])('keeps the name %j apart from all others', async (file) => {
      await put(`main/id/${file}`, file);
      await put('main/id/other', 'other');
      expect(await getText(`main/id/${file}`)).toBe(file);
      await store.delete(`main/id/${file}`);
      expect(await store.get(`main/id/${file}`)).toBeNull();
      expect(await getText('main/id/other')).toBe('other');
    });

    it.each(['../x', 'a/../../x', '/etc/passwd', 'a//b', 'a/./b', 'a\\..\\b', 'a\0b', '.tmp/x', ''])(
      'refuses the path %j',
      async (path) => {
        await expect(put(path, 'x')).rejects.toThrow('not a storage path');
        await expect(store.get(path)).rejects.toThrow('not a storage path');
        await expect(store.delete(path)).rejects.toThrow('not a storage path');
      },
    );

    it('says content_missing when the file to be stored is gone', async () => {
      const file = { kind: 'file', path: join(temp.path, 'gone'), sizeBytes: 3 } as const;
      await expect(putFile('a/b/c', file)).rejects.toMatchObject({ code: 'content_missing' });
      const large = { ...file, sizeBytes: 30_000_000 };
      await expect(putFile('a/b/c', large)).rejects.toMatchObject({ code: 'content_missing' });
      expect(await store.get('a/b/c')).toBeNull();
    });

    it('never shows half a file, whenever the writer is killed', async () => {
      const bytes = randomBytes(12 * 1024 * 1024);
      const file = await makeFile(bytes);
      const child = spawn(process.execPath, [CHILD, JSON.stringify(under.options), 'puts', file.path], {
        stdio: ['ignore', 'pipe', 'ignore'],
      });
      const output = text(child.stdout);
      await once(child.stdout, 'data');
      setTimeout(() => child.kill('SIGKILL'), 50 + Math.random() * 300);
      await once(child, 'exit');
      const stored = (await output).split('\n').length - 1;

      await store.close();
      store = await createBlobStore(under.options);
      const whole: boolean[] = [];
      for (let n = 1; n <= stored; n++) whole.push((await get(`kill/${n}`))?.equals(bytes) ?? false);
      // The last one may exist or not, but nothing in between.
      const last = await get(`kill/${stored + 1}`);
      whole.push(last === null || last.equals(bytes));
      expect(whole).toEqual(whole.map(() => true));
    });

    it('says storage_unavailable when it is unavailable, and check tells', { timeout: 120_000 }, async () => {
      await put('a/b/c', 'x');
      await store.check();
      await under.takeAway();
      const unavailable = { code: 'storage_unavailable', temporary: true };
      const began = performance.now();
      const file = await makeFile(randomBytes(12_000_000));
      await Promise.all([
        expect(store.check()).rejects.toMatchObject(unavailable),
        expect(put('a/b/d', 'x')).rejects.toMatchObject(unavailable),
        expect(putFile('a/b/e', file)).rejects.toMatchObject(unavailable),
        expect(store.get('a/b/c')).rejects.toMatchObject(unavailable),
        expect(store.delete('a/b/c')).rejects.toMatchObject(unavailable),
      ]);
      expect(performance.now() - began).toBeLessThan(AWAY_TIMEOUT_MS);
    });
  });
}
