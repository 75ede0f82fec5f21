import { readFile, readdir, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { type TempFolder, makeTempFolder } from '../../../test/helpers/temp-folder.ts';
import { loadOrCreateSecret } from './api-secret.ts';

describe('the API secret of DATA_DIR', () => {
  let temp: TempFolder;

  beforeEach(async () => {
    temp = await makeTempFolder();
  });
  afterEach(() => temp.remove());

  test('is made once, of 256 random bits, for its owner only', async () => {
    const made = await loadOrCreateSecret(temp.path);
    expect(made.path).toBe(join(temp.path, 'api-secret'));
    expect(Buffer.from(made.secret, 'base64url')).toHaveLength(32);
    expect(made.secret).toMatch(/^[\w-]{43}$/);
    expect(await readFile(made.path, 'utf8')).toBe(`${made.secret}\n`);
    expect((await stat(made.path)).mode & 0o777).toBe(0o600);
    expect(await readdir(temp.path)).toEqual(['api-secret']);
    expect(await loadOrCreateSecret(temp.path)).toEqual(made);
  });

  test('is made although an earlier attempt was cut short', async () => {
    await writeFile(join(temp.path, 'api-secret.unfinished'), 'half');
    const made = await loadOrCreateSecret(temp.path);
    expect(made.secret).toHaveLength(43);
    expect(await readdir(temp.path)).toEqual(['api-secret']);
  });

  test('may be put there by the operator, with or without a line end', async () => {
    await writeFile(join(temp.path, 'api-secret'), '  chosen by hand \r\n');
    expect((await loadOrCreateSecret(temp.path)).secret).toBe('chosen by hand');
  });

  test.each(['', ' \n'])('is never empty: %j', async (text) => {
    await writeFile(join(temp.path, 'api-secret'), text);
    await expect(loadOrCreateSecret(temp.path)).rejects.toThrow('api-secret is empty');
  });
});
