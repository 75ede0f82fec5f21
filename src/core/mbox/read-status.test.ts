import { expect, it } from 'vitest';
import { readStatus } from './read-status.ts';

it.each<readonly [string, boolean | null]>([
  ['Subject: a\nStatus: RO\nX-Status: \n\nb', true],
  ['Status: R', true],
  ['Status:\tOR\r\nSubject: a\r\n\r\nb', true],
  ['status : RO\n', true],
  ['Subject: a\nStatus: O\n\nb', false],
  ['Subject: a\nStatus:\nReceived: R\n\nb', false],
  ['Subject: a\n\nStatus: RO\n', null],
  ['Subject: a\n Status: RO\nX-Status: R\nStatus-X: R\n\n', null],
  ['Status: RO\nSubject: a\nStatus: O\n\n', false],
  ['', null],
])('reads of %j: %j', (header, isRead) => {
  expect(readStatus(Buffer.from(header))).toBe(isRead);
});
