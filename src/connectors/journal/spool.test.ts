import { readdir, readFile, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { setImmediate as turn } from 'node:timers/promises';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { withTinyDisk } from '../../../test/helpers/tiny-disk.ts';
import { makeTempFolder, type TempFolder } from '../../../test/helpers/temp-folder.ts';
import { createSpool } from './spool.ts';

describe('spool', () => {
  let temp: TempFolder;
  let root: string;
  beforeEach(async () => {
    temp = await makeTempFolder();
    root = join(temp.path, 'spool');
  });
  afterEach(() => temp.remove());

  it('touches the disk with the first file only', async () => {
    const folder = createSpool(root).create();
    await folder.remove();
    await expect(stat(root)).rejects.toThrow('ENOENT');
  });

  it('writes what the source gives and tells its size', async () => {
    const folder = createSpool(root).create();
    const one = await folder.write(chunks('ab', '', 'c'));
    const two = await folder.write(chunks());
    await folder.sync();
    expect(one).toMatchObject({ kind: 'file', sizeBytes: 3 });
    expect(two.sizeBytes).toBe(0);
    expect(await readFile(one.path, 'utf8')).toBe('abc');
    expect((await stat(one.path)).mode & 0o777).toBe(0o600);
    expect((await stat(folder.path)).mode & 0o777).toBe(0o700);
  });

  it('takes several files at once', async () => {
    const folder = createSpool(root).create();
    const files = await Promise.all(['a', 'b', 'c'].map((text) => folder.write(chunks(text))));
    expect(new Set(files.map((file) => file.path)).size).toBe(3);
    expect(await Promise.all(files.map((file) => readFile(file.path, 'utf8')))).toEqual(['a', 'b', 'c']);
  });

  it('asks the source for no more than one chunk ahead of the disk', async () => {
    const folder = createSpool(root).create();
    let given = 0;
    let highest = 0;
    const file = folder.write(
      (async function* () {
        for (; given < 20; given++) {
          const written = (await stat(join(folder.path, '1'))).size;
          highest = Math.max(highest, given * 1000 - written);
          yield Buffer.alloc(1000);
        }
      })(),
    );
    expect((await file).sizeBytes).toBe(20_000);
    expect(highest).toBeLessThanOrEqual(1000);
  });

  it('passes a failure of the source on and leaves no half file', async () => {
    const folder = createSpool(root).create();
    const failing = (async function* () {
      yield Buffer.from('half');
      await turn();
      throw new Error('client went away');
    })();
    await expect(folder.write(failing)).rejects.toThrow('client went away');
    expect(await readdir(folder.path)).toEqual([]);
  });

  it('removes everything, and a second time does nothing', async () => {
    const folder = createSpool(root).create();
    await folder.write(chunks('x'));
    await folder.remove();
    await folder.remove();
    expect(await readdir(root)).toEqual([]);
  });

  it('keeps the folder once it was handed over', async () => {
    const folder = createSpool(root).create();
    await folder.write(chunks('x'));
    folder.handOver();
    await folder.remove();
    expect(await readdir(root)).toEqual([folder.name]);
  });

  it('sweeps all folders but the named ones, and nothing that is not a spool folder', async () => {
    const spool = createSpool(root);
    const [kept, stale] = [spool.create(), spool.create()];
    await Promise.all([kept.write(chunks('x')), stale.write(chunks('x'))]);
    const other = createSpool(join(root, 'other'));
    await other.create().write(chunks('x'));
    expect(await createSpool(root).sweep(new Set([kept.name]))).toBe(1);
    expect((await readdir(root)).sort()).toEqual([kept.name, 'other'].sort());
  });

  it.each(['../x', '..', '/etc', 'a/b'])('resolves no path that leads out: %s', (name) => {
    const spool = createSpool(root);
    expect(() => spool.resolve('0'.repeat(24), name)).toThrow('not a file of the spool');
    expect(() => spool.resolve(name, '1')).toThrow('not a file of the spool');
  });

  it('says disk_full when there is no room, and leaves no half file', async (context) => {
    await withTinyDisk(context, 1024 * 1024, async (disk) => {
      const folder = createSpool(join(disk, 'spool')).create();
      const large = Array.from({ length: 40 }, () => 'x'.repeat(65_536));
      await expect(folder.write(chunks(...large))).rejects.toMatchObject({ code: 'disk_full' });
      expect(await readdir(folder.path)).toEqual([]);
      await expect(folder.write(chunks('small'))).resolves.toMatchObject({ sizeBytes: 5 });
    });
  });
});

async function* chunks(...texts: readonly string[]): AsyncIterable<Buffer> {
  for (const text of texts) {
    await turn();
    yield Buffer.from(text);
  }
}
