import { describe, expect, it } from 'vitest';
import { parseStoragePath } from './storage-path.ts';

describe('storage path', () => {
  it.each([
    'a',
    '_raw/main/1.eml',
    'main/id/..a',
    'main/id/.profile',
    'm/你好 %+#?.pdf',
    `m/${'é'.repeat(127)}`,
  ])('takes %s', (path) => {
    expect(parseStoragePath(path).join('/')).toBe(path);
  });

  it.each([
    '',
    '/a',
    'a/',
    'a//b',
    '.',
    '..',
    '../a',
    'a/../b',
    'a/./b',
    'a/..',
    'a\\b',
    'a\0b',
    '.tmp/a',
    '.check',
    'a/\ud800',
    `a/${'é'.repeat(128)}`,
    'a/'.repeat(512) + 'a',
  ])('refuses %j', (path) => {
    expect(() => parseStoragePath(path)).toThrow('not a storage path');
  });
});
