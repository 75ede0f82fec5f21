import { expect, it } from 'vitest';
import { readCms } from './cms.ts';

it('reads nothing of a file with half a character or no time in it, for which the library throws', () => {
  // SEQUENCE of a BMPString, and of a GeneralizedTime, of one byte
  expect(readCms(Buffer.from([0x30, 0x03, 0x1e, 0x01, 0x41]))).toBeNull();
  expect(readCms(Buffer.from([0x30, 0x03, 0x18, 0x01, 0x41]))).toBeNull();
});
