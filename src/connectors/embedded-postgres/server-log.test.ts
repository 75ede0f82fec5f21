import { readFile, writeFile } from 'node:fs/promises';
import { closeSync, openSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { silentLogger } from '../../../test/helpers/silent-logger.ts';
import { type TempFolder, makeTempFolder } from '../../../test/helpers/temp-folder.ts';
import { bound, createServerLog } from './server-log.ts';

describe('the log of the server', () => {
  let temp: TempFolder;
  let path: string;

  beforeEach(async () => {
    temp = await makeTempFolder();
    path = join(temp.path, 'server.log');
  });
  afterEach(() => temp.remove());

  test('stays small: what is too much moves to a second file, and the server goes on writing', async () => {
    const fd = openSync(path, 'a');
    try {
      for (const round of ['first', 'second', 'third']) {
        writeSync(fd, `${round} ${'x'.repeat(100)}\n`);
        await bound(path, 100);
        writeSync(fd, `after ${round}\n`);
      }
      expect(await readFile(`${path}.1`, 'utf8')).toBe(`after second\nthird ${'x'.repeat(100)}\n`);
      expect(await readFile(path, 'utf8')).toBe('after third\n');
    } finally {
      closeSync(fd);
    }
  });

  test('shows its end after a position, also when it was cut meanwhile, and when it is not there', async () => {
    const log = createServerLog(path, silentLogger);
    try {
      expect(await log.size()).toBe(0);
      expect(await log.tail(0)).toContain('ENOENT');
      await writeFile(path, 'old\nnew\n');
      expect(await log.tail(4)).toBe('new');
      expect(await log.tail(1000)).toBe('old\nnew');
      await writeFile(path, `${'x'.repeat(10_000)}end`);
      expect(await log.tail(0)).toMatch(/^x{4093}end$/);
    } finally {
      log.close();
    }
  });
});
