import { chmod, mkdir, readdir, rename, stat, symlink, utimes, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import type { BlobStore, Content } from '../../platform/files/file-ports.ts';
import { makeTempFolder, type TempFolder } from '../../../test/helpers/temp-folder.ts';
import { withTinyDisk } from '../../../test/helpers/tiny-disk.ts';
import { FolderBlobStore } from './folder.ts';

const TYPE = 'text/plain';

describe('folder blob store', () => {
  let temp: TempFolder;
  let root: string;
  let store: BlobStore;
  beforeEach(async () => {
    temp = await makeTempFolder();
    root = join(temp.path, 'files');
    store = await FolderBlobStore.open(root);
  });
  afterEach(() => temp.remove());

  const put = (path: string, content: string) =>
    store.put(path, { kind: 'bytes', bytes: Buffer.from(content) }, TYPE);
  const getText = async (path: string) => {
    const stream = await store.get(path);
    return stream === null ? null : text(stream);
  };
  const makeFile = async (path: string, content: string): Promise<Content> => {
    await writeFile(path, content);
    return { kind: 'file', path, sizeBytes: content.length };
  };
  const unavailable = { code: 'storage_unavailable' };

  it('gives the first byte alone, and of an empty file nothing', async () => {
    await put('a/b', 'xyz');
    await put('a/empty', '');
    expect(await text((await store.get('a/empty', { start: 0, end: 0 }))!)).toBe('');
    expect(await text((await store.get('a/b', { start: 0, end: 0 }))!)).toBe('x');
  });

  it('lets no other user read, and leaves nothing in its temporary folder', async () => {
    await put('a/b/c', 'x');
    await put('a/b/c', 'y');
    const file = await makeFile(join(temp.path, 'source'), 'z');
    await store.put('a/b/c', file, TYPE);
    await store.put('a/b/c', file, TYPE);
    await put('a/b/d', 'x');
    expect((await stat(join(root, 'a/b/d'))).mode & 0o777).toBe(0o600);
    expect((await stat(join(root, 'a/b'))).mode & 0o777).toBe(0o700);
    expect(await readdir(join(root, '.tmp'))).toEqual([]);
  });

  it('stores a file of the same file system as a second link, not as a copy', async () => {
    const file = await makeFile(join(temp.path, 'source'), 'x');
    await store.put('a/b/new', file, TYPE);
    await put('a/b/old', 'y');
    await store.put('a/b/old', file, TYPE);
    const { ino } = await stat(join(temp.path, 'source'));
    expect((await stat(join(root, 'a/b/new'))).ino).toBe(ino);
    expect((await stat(join(root, 'a/b/old'))).ino).toBe(ino);
  });

  it('copies a file of another file system', async (context) => {
    await withTinyDisk(context, 1024 * 1024, async (disk) => {
      const file = await makeFile(join(disk, 'source'), 'from afar');
      await store.put('a/b/c', file, TYPE);
      await store.put('a/b/c', file, TYPE);
      expect(await getText('a/b/c')).toBe('from afar');
      expect(await readdir(join(root, '.tmp'))).toEqual([]);
    });
  });

  it('clears its temporary folder when it opens', async () => {
    await put('a/b', 'x');
    await writeFile(join(root, '.tmp', 'half'), 'written');
    store = await FolderBlobStore.open(root);
    expect(await readdir(join(root, '.tmp'))).toEqual([]);
    expect(await getText('a/b')).toBe('x');
  });

  it('leaves there what another process may be writing, and clears away what none has touched for a day', async () => {
    for (const name of ['new', 'old']) await writeFile(join(root, '.tmp', name), 'written');
    const yesterday = new Date(Date.now() - 25 * 3_600_000);
    await utimes(join(root, '.tmp', 'old'), yesterday, yesterday);
    await FolderBlobStore.open(root, true);
    expect(await readdir(join(root, '.tmp'))).toEqual(['new']);
    // The clock of this process may be wrong; that of the file system dates the files.
    vi.useFakeTimers({ toFake: ['Date'], now: Date.now() + 40 * 86_400_000 });
    try {
      await FolderBlobStore.open(root, true);
    } finally {
      vi.useRealTimers();
    }
    expect(await readdir(join(root, '.tmp'))).toEqual(['new']);
  });

  it('removes a folder with its last file, and can make it again', async () => {
    await put('a/b/c', 'x');
    await put('a/d', 'y');
    await store.delete('a/b/c');
    expect(await readdir(join(root, 'a'))).toEqual(['d']);
    await store.delete('a/d');
    expect(await readdir(root)).toEqual(['.tmp']);
    await put('a/b/c', 'again');
    expect(await getText('a/b/c')).toBe('again');
  });

  it('makes a folder again that another process removed', async () => {
    await put('a/b/c', 'x');
    await rename(join(root, 'a'), join(temp.path, 'away'));
    await put('a/b/d', 'y');
    await store.put('a/b/e', await makeFile(join(temp.path, 'source'), 'z'), TYPE);
    expect((await readdir(join(root, 'a/b'))).sort()).toEqual(['d', 'e']);
  });

  it('works below a symbolic link, but follows none inside', async () => {
    await symlink(root, join(temp.path, 'link'));
    store = await FolderBlobStore.open(join(temp.path, 'link'));
    await put('a/b/c', 'x');
    expect(await getText('a/b/c')).toBe('x');

    const outside = join(temp.path, 'outside');
    await mkdir(join(outside, 'b'), { recursive: true });
    await writeFile(join(outside, 'b', 'secret'), 'secret');
    await symlink(outside, join(root, 'evil'));
    await symlink(join(outside, 'b', 'secret'), join(root, 'a', 'b', 'file'));
    for (const path of ['evil/b/secret', 'a/b/file']) {
      await expect(store.get(path)).rejects.toMatchObject(unavailable);
    }
    await expect(put('evil/b/new', 'x')).rejects.toMatchObject(unavailable);
    await expect(store.delete('evil/b/secret')).rejects.toMatchObject(unavailable);
    await put('a/b/file', 'replaces the link');
    expect(await getText('a/b/file')).toBe('replaces the link');
    expect(await readdir(join(outside, 'b'))).toEqual(['secret']);
  });

  it('gives nothing but files', async () => {
    await put('a/b/c', 'x');
    expect(await store.get('a/b')).toBeNull();
  });

  it('does not write into the empty folder of a disk that is not mounted', async () => {
    const file = await makeFile(join(temp.path, 'source'), 'z');
    await rename(root, join(temp.path, 'disk'));
    await mkdir(root);
    await expect(put('a/b/c', 'x')).rejects.toMatchObject(unavailable);
    await expect(store.put('a/b/c', file, TYPE)).rejects.toMatchObject(unavailable);
    await expect(store.check()).rejects.toMatchObject(unavailable);
    expect(await readdir(root)).toEqual([]);
  });

  it('says so when it may not write', async (context) => {
    if (process.getuid?.() === 0) context.skip('root may write everywhere');
    await chmod(root, 0o500);
    await expect(put('a/b/c', 'x')).rejects.toMatchObject(unavailable);
    await chmod(root, 0o700);
  });

  it('says disk_full, shows nothing of what did not fit, and goes on when there is room', async (context) => {
    await withTinyDisk(context, 1024 * 1024, async (disk) => {
      store = await FolderBlobStore.open(join(disk, 'files'));
      await put('a/first', 'x'.repeat(400_000));
      await expect(put('a/large', 'x'.repeat(800_000))).rejects.toMatchObject({ code: 'disk_full' });
      const source = await makeFile(join(temp.path, 'source'), 'x'.repeat(800_000));
      await expect(store.put('a/large', source, TYPE)).rejects.toMatchObject({ code: 'disk_full' });
      expect(await getText('a/large')).toBeNull();
      expect(await readdir(join(disk, 'files', '.tmp'))).toEqual([]);
      await writeFile(join(disk, 'filler'), Buffer.alloc(2_000_000)).catch(() => undefined);
      await expect(store.check()).rejects.toMatchObject({ code: 'disk_full' });
      await store.delete('a/first');
      await put('a/small', 'fits');
      expect(await getText('a/small')).toBe('fits');
    });
  });
});
