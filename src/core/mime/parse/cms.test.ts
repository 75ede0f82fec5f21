import { expect, it } from 'vitest';
import { readCms } from './cms.ts';

it('reads nothing of a file with a text of half a character, for which the library throws', () => {
  // SEQUENCE of a BMPString of one byte
  expect(readCms(Buffer.from([0x30, 0x03, 0x1e, 0x01, 0x41]))).toBeNull();
});
