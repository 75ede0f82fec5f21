import { readFile, readdir, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { type TempFolder, makeTempFolder } from '../../../test/helpers/temp-folder.ts';
import { loadOrCreateInstanceId } from './instance-id.ts';

describe('the instance id of DATA_DIR', () => {
  let temp: TempFolder;

  beforeEach(async () => {
    temp = await makeTempFolder();
  });
  afterEach(() => temp.remove());

  test('is made once, for its owner only, also after an attempt that was cut short', async () => {
    await writeFile(join(temp.path, 'instance-id.unfinished'), '0');
    const id = await loadOrCreateInstanceId(temp.path);
    expect(id).toMatch(/^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/);
    expect(await readFile(join(temp.path, 'instance-id'), 'utf8')).toBe(`${id}\n`);
    expect((await stat(join(temp.path, 'instance-id'))).mode & 0o777).toBe(0o600);
    expect(await readdir(temp.path)).toEqual(['instance-id']);
    expect(await loadOrCreateInstanceId(temp.path)).toBe(id);
  });

  test('is another one in another folder', async () => {
    const other = await makeTempFolder();
    try {
      const [one, two] = [await loadOrCreateInstanceId(temp.path), await loadOrCreateInstanceId(other.path)];
      expect(one).not.toBe(two);
    } finally {
      await other.remove();
    }
  });

  test.each(['', 'x', '00000000-0000-0000-0000-00000000000g'])('is never guessed from %j', async (text) => {
    await writeFile(join(temp.path, 'instance-id'), text);
    await expect(loadOrCreateInstanceId(temp.path)).rejects.toThrow('instance-id is damaged');
  });
});
