import { expect, it } from 'vitest';
import { parseMessage } from '../mime/parse/parse.ts';
import { readReceivedDate } from './received-date.ts';

const read = (...lines: readonly string[]) =>
  readReceivedDate(parseMessage(Buffer.from([...lines, '', ''].join('\r\n'))).fields)?.toISOString() ?? null;

it('is that of the topmost field that can be read', () => {
  const lower = 'Received: from a.test by b.test; Sun, 1 Mar 2026 12:00:00 +0100';
  expect(
    read('Received: from b.test by c.test', '\tid 4711; Sun,', ' 1 Mar 2026 12:00:05 +0100 (CET)', lower),
  ).toBe('2026-03-01T11:00:05.000Z');
  expect(read('Received: (qmail 4711 invoked by uid 0); 1 Mar 2026 11:00:07 -0000', lower)).toBe(
    '2026-03-01T11:00:07.000Z',
  );
  expect(read('Received: by c.test', 'Received: by c.test; gestern', lower)).toBe('2026-03-01T11:00:00.000Z');
  expect(read('Subject: none')).toBeNull();
  expect(read('Received: by c.test; ')).toBeNull();
});
