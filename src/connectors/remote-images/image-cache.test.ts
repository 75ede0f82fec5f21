import { mkdir, readdir, readFile, stat, symlink, utimes, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { buffer } from 'node:stream/consumers';
import { afterEach, describe, expect, it } from 'vitest';
import { GIF, gifOf, PNG, SVG } from '../../../test/helpers/sample-images.ts';
import { makeTempFolder } from '../../../test/helpers/temp-folder.ts';
import { createImageCache, removeImageCache, type ImageCacheOptions } from './image-cache.ts';

const DAY_MS = 86_400_000;
const at = (name: string) => `https://images.example/${name}.png?for=ann`;
const removing: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const remove of removing.splice(0)) await remove();
});

async function newFolder(): Promise<string> {
  const { path: folder, remove } = await makeTempFolder();
  removing.push(remove);
  return folder;
}

async function open(options: Partial<ImageCacheOptions> = {}) {
  const folder = options.folder ?? path.join(await newFolder(), 'remote-images');
  const time = { now: Date.now() };
  const cache = createImageCache({ clock: () => new Date(time.now), ...options, folder });
  const read = async (name: string) => {
    const image = await cache.get(at(name));
    return image === null ? null : { type: image.type, bytes: await buffer(image.stream) };
  };
  return { folder, time, cache, read };
}

describe('the cache of remote images', () => {
  it('keeps an image for a day after it was fetched, used or not', async () => {
    const { cache, read, time, folder } = await open();
    expect(await read('a')).toBeNull();
    expect(cache.has(at('a'))).toBe(false);
    await cache.put(at('a'), PNG);
    expect(await read('a')).toEqual({ type: 'image/png', bytes: PNG });
    time.now += DAY_MS - 1;
    expect(cache.has(at('a'))).toBe(true);
    expect(await read('a')).toEqual({ type: 'image/png', bytes: PNG });
    expect(await read('b')).toBeNull();
    time.now += 1;
    expect(cache.has(at('a'))).toBe(false);
    expect(await read('a')).toBeNull();
    expect(await readdir(folder)).toEqual([]);
  });

  it('names nothing after the remote address, and lets no other user read it', async () => {
    const { cache, folder } = await open();
    await cache.put(at('a'), PNG);
    const [name = ''] = await readdir(folder);
    expect(name).toMatch(/^[0-9a-f]{64}$/);
    expect((await stat(folder)).mode & 0o777).toBe(0o700);
    expect((await stat(path.join(folder, name))).mode & 0o777).toBe(0o600);
  });

  it('deletes what is old without being asked for it, also of an earlier process', async () => {
    const { cache, folder, time } = await open();
    await cache.put(at('a'), PNG);
    await cache.clean();
    expect(await readdir(folder)).toHaveLength(1);
    time.now += DAY_MS;
    await cache.clean();
    expect(await readdir(folder)).toEqual([]);

    await cache.put(at('b'), PNG);
    const [name = ''] = await readdir(folder);
    const yesterday = new Date(Date.now() - DAY_MS);
    await utimes(path.join(folder, name), yesterday, yesterday);
    await (await open({ folder })).cache.clean();
    expect(await readdir(folder)).toEqual([]);
  });

  it('serves the images of an earlier process, and deletes what that left half written', async () => {
    const first = await open();
    await first.cache.put(at('a'), PNG);
    await writeFile(path.join(first.folder, '7.unfinished'), 'half');
    await mkdir(path.join(first.folder, 'folder'));
    const { read } = await open({ folder: first.folder });
    expect(await read('a')).toEqual({ type: 'image/png', bytes: PNG });
    expect(await readdir(first.folder)).toHaveLength(1);
  });

  it('drops the image that was used longest ago, so that its bound is kept', async () => {
    const { cache, folder, read } = await open({ maxBytes: 30_000 });
    for (const name of ['a', 'b', 'c']) await cache.put(at(name), gifOf(10_000));
    await read('a');
    await cache.put(at('d'), gifOf(10_000));
    expect(await Promise.all(['a', 'b', 'c', 'd'].map(async (name) => (await read(name)) !== null))).toEqual([
      true,
      false,
      true,
      true,
    ]);
    for (let count = 0; count < 20; count += 1) await cache.put(at(`x${count}`), gifOf(9000 + count));
    const sizes = await Promise.all(
      (await readdir(folder)).map(async (name) => (await stat(path.join(folder, name))).size),
    );
    expect(sizes.reduce((sum, size) => sum + size)).toBeLessThanOrEqual(30_000);
    expect(sizes).toHaveLength(3);
  });

  it('keeps its bound with pixels, and when it becomes smaller', async () => {
    const { cache, folder } = await open({ maxBytes: 40_960 });
    for (let count = 0; count < 30; count += 1) await cache.put(at(`x${count}`), GIF);
    expect(await readdir(folder)).toHaveLength(10);
    await (await open({ folder, maxBytes: 8192 })).cache.clean();
    expect(await readdir(folder)).toHaveLength(2);
  });

  it('keeps its bound when many images come at the same moment, also the same one', async () => {
    const { cache, folder } = await open({ maxBytes: 40_960 });
    await Promise.all(Array.from({ length: 60 }, (_, count) => cache.put(at(`x${count % 20}`), GIF)));
    expect((await readdir(folder)).length).toBeLessThanOrEqual(10);
  });

  it('is empty again after a file was deleted or replaced by something else', async () => {
    const { cache, folder, read } = await open();
    await cache.put(at('a'), PNG);
    const [name = ''] = await readdir(folder);
    await writeFile(path.join(folder, name), SVG);
    expect(await read('a')).toBeNull();
    expect(cache.has(at('a'))).toBe(false);
    await cache.put(at('a'), PNG);
    await removeImageCache(folder);
    expect(await read('a')).toBeNull();
    await expect(cache.put(at('a'), PNG)).rejects.toThrow('ENOENT');
    await cache.put(at('a'), PNG);
    expect((await read('a'))?.bytes).toEqual(PNG);
  });

  it('fails with what its folder fails with, and works again afterwards', async () => {
    const folder = path.join(await newFolder(), 'remote-images');
    await writeFile(folder, 'in the way');
    const { cache, read } = await open({ folder });
    await expect(cache.get(at('a'))).rejects.toThrow('EEXIST');
    await expect(cache.put(at('a'), PNG)).rejects.toThrow('EEXIST');
    await removeImageCache(folder);
    await cache.put(at('a'), PNG);
    expect((await read('a'))?.bytes).toEqual(PNG);
  });

  it('leaves the last of the disk to mail, also what it had kept', async () => {
    const { cache, folder } = await open();
    await cache.put(at('a'), PNG);
    const full = await open({ folder, minFreeBytes: 2 ** 60 });
    expect((await full.read('a'))?.bytes).toEqual(PNG);
    await expect(full.cache.put(at('b'), PNG)).rejects.toThrow('are free on the disk');
    expect(await full.read('a')).toBeNull();
    expect(await readdir(folder)).toEqual([]);
  });

  it('follows no link out of its folder when it is removed', async () => {
    const { cache, folder } = await open();
    await cache.put(at('a'), PNG);
    const other = path.join(await newFolder(), 'mail.txt');
    await writeFile(other, 'mail');
    await symlink(other, path.join(folder, 'link'));
    await removeImageCache(folder);
    await removeImageCache(folder);
    expect(await readFile(other, 'utf8')).toBe('mail');
  });
});
