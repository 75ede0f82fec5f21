/** Labels that a stranger made up: each costs about as much as a known one, and causes no exception. */
import { expect, it } from 'vitest';
import { decodeHeaderText } from '../../src/core/mime/text/header-text.ts';
import { bestCpuMs } from './cpu-time.ts';

const WORDS = 20_000;
/** With an exception for each word, the factor is 8 to 10. */
const MAX_FACTOR = 5;

const words = (word: (at: number) => string): string =>
  Array.from({ length: WORDS }, (_, at) => word(at)).join(' ');

const KNOWN = words((at) => (at % 2 === 0 ? '=?utf-8?q?aaaa?=' : '=?iso-8859-2?b?YWFhYQ==?='));

it.each([
  ['unknown charsets, each another one', words((at) => `=?x-${at}?q?aaaa?=`)],
  ['numbers of code pages', words((at) => `=?cp${at}?q?aaaa?=`)],
  ['one charset, spelled in as many ways', words((at) => `=?c-${'-'.repeat(at % 40)}p8${at}-5.0?q?aaaa?=`)],
  [
    'damaged UTF-8, and another charset in turn',
    words((at) => (at % 2 === 0 ? '=?utf-8?q?=ff?=' : '=?gbk?q?a?=')),
  ],
])('%s', (_name, text) => {
  const factor = () =>
    bestCpuMs(3, () => decodeHeaderText(text)) / bestCpuMs(3, () => decodeHeaderText(KNOWN));
  let best = factor();
  for (let tries = 0; best > MAX_FACTOR && tries < 5; tries++) best = Math.min(best, factor());
  expect(best).toBeLessThan(MAX_FACTOR);
});
