import { describe, expect, it } from 'vitest';
import { joinMbox, splitMbox } from '../../../test/helpers/mbox.ts';

const SEPARATOR = 'From ada@example.com Mon Jan  5 10:00:00 2026';

describe('messages', () => {
  it.each([
    ['none in an empty file', '', []],
    ['one without an empty line at the end', `${SEPARATOR}\nA: 1\n\nx\n`, ['A: 1\n\nx\n']],
    ['the empty line before the end is not theirs', `${SEPARATOR}\nA: 1\n\nx\n\n`, ['A: 1\n\nx\n']],
    ['only one of them', `${SEPARATOR}\nA: 1\n\nx\n\n\n`, ['A: 1\n\nx\n\n']],
    ['two', `${SEPARATOR}\nA: 1\n\n${SEPARATOR}\nB: 2\n`, ['A: 1\n', 'B: 2\n']],
    [
      'with CRLF',
      `${SEPARATOR}\r\nA: 1\r\n\r\nx\r\n\r\n${SEPARATOR}\r\nB: 2\r\n`,
      ['A: 1\r\n\r\nx\r\n', 'B: 2\r\n'],
    ],
    ['without a line end at the end', `${SEPARATOR}\nA: 1\n\nx`, ['A: 1\n\nx']],
    ['empty lines before the first', `\n\r\n${SEPARATOR}\nA: 1\n`, ['A: 1\n']],
    ['a byte order mark before the first', `\xef\xbb\xbf${SEPARATOR}\nA: 1\n`, ['A: 1\n']],
    ['a byte order mark before a message', `${SEPARATOR}\n\xef\xbb\xbfA: 1\n`, ['\xef\xbb\xbfA: 1\n']],
    ['a part of a byte order mark', `\xef\xbb`, ['\xef\xbb']],
    ['that are empty', `${SEPARATOR}\n${SEPARATOR}\nA: 1\n`, ['', 'A: 1\n']],
    ['with an empty line for all they are', `${SEPARATOR}\n\n${SEPARATOR}\nA: 1\n`, ['', 'A: 1\n']],
    ['a lone CR is no empty line', `${SEPARATOR}\nA: 1\n\n\rx\n`, ['A: 1\n\n\rx\n']],
    ['NULs and bytes above 127', `${SEPARATOR}\nA: \0ä\n`, ['A: \0ä\n']],
  ])('%s', (_, file, messages) => {
    expect(splitMbox(file)).toEqual(messages);
  });
});

describe('separators', () => {
  const behind = (separator: string, gap = '\n') =>
    splitMbox(`${SEPARATOR}\nA: 1\n\nx\n${gap}${separator}\nB: 2\n\ny\n`).length;

  it.each([
    ['asctime', 'From ada@example.com Mon Jan  5 10:00:00 2026'],
    ['a null sender', 'From MAILER-DAEMON Fri Jul  8 12:08:34 2011'],
    ['a zone before the year', 'From ada@example.com Mon Jan  5 10:00:00 CET 2026'],
    ['a zone behind the year', 'From ada@example.com Mon Jan 5 10:00:00 2026 +0100'],
    ['Gmail Takeout', 'From 1621412301243@xxx Mon Jan 05 10:00:00 +0000 2026'],
    ['Thunderbird', 'From - Mon Jan 05 10:00:00 2026'],
    ['Eudora', 'From ???@??? Mon Jan 05 10:00:00 2026'],
    ['Pipermail', 'From ada at example.com  Mon Jan  5 10:00:00 2026'],
    ['without seconds', 'From ada@example.com Mon Jan  5 10:00 2026'],
    ['an address in quotes', 'From "ada b"@example.com Mon Jan  5 10:00:00 2026'],
    ['RFC 5322 date', 'From ada@example.com Mon, 5 Jan 2026 10:00:00 +0000'],
    ['git', 'From 9fceb02d0ae598e95dc970b74767f19372d61af8 Mon Sep 17 00:00:00 2001'],
    ['newer Thunderbird', 'From '],
  ])('%s', (_, separator) => {
    expect(behind(separator)).toBe(2);
  });

  it.each([
    ['a sentence', 'From here on everything is new.'],
    ['a sentence with a year', 'From Monday 5 January 2026 on we are closed.'],
    ['a field', 'From: ada@example.com'],
    ['no space', 'From'],
    ['a longer word', 'Fromage Mon Jan  5 10:00:00 2026'],
    ['lower case', 'from ada@example.com Mon Jan  5 10:00:00 2026'],
    ['a space before it', ' From ada@example.com Mon Jan  5 10:00:00 2026'],
    ['too long', `From ${'a'.repeat(1000)} Mon Jan  5 10:00:00 2026`],
  ])('not: %s', (_, line) => {
    expect(behind(line)).toBe(1);
  });

  it('without an empty line before it, only where a header field follows', () => {
    expect(behind(SEPARATOR, '')).toBe(2);
    expect(splitMbox(`${SEPARATOR}\nA: 1\n\nx\n${SEPARATOR}\nis what he wrote\n`)).toHaveLength(1);
    expect(splitMbox(`${SEPARATOR}\nA: 1\n\nx\n\nFrom \nis the word\n`)).toHaveLength(1);
    expect(splitMbox(`${SEPARATOR}\nA: 1\n\nx\nFrom \nB: 2\n`)).toHaveLength(1);
  });

  it('say when the message was delivered', () => {
    const dateOf = (separator: string) => splitMbox.tokens(`${separator}\nA: 1\n`)[0];
    expect(dateOf(SEPARATOR)).toMatchObject({ separator: { date: new Date('2026-01-05T10:00:00Z') } });
    expect(dateOf('From x@y Mon Jan  5 10:00:00 2026 +0100')).toMatchObject({
      separator: { date: new Date('2026-01-05T09:00:00Z') },
    });
    expect(dateOf('From 1@xxx Mon Jan 05 10:00:00 -0100 2026')).toMatchObject({
      separator: { date: new Date('2026-01-05T11:00:00Z') },
    });
    expect(dateOf('From - Mon Jan 45 10:00:00 2026')).toMatchObject({ separator: { date: null } });
  });

  it('are at their offset', () => {
    const file = `${SEPARATOR}\nA: 1\n\n${SEPARATOR}\nB: 2\n`;
    const offsets = splitMbox.tokens(file).flatMap((token) => (token.kind === 'start' ? [token.offset] : []));
    expect(offsets).toEqual([0, file.lastIndexOf('From')]);
    // Read on from there
    const [start] = splitMbox.tokens(file.slice(offsets[1]), offsets[1]);
    expect(start).toMatchObject({ kind: 'start', offset: offsets[1] });
  });
});

describe('quotes', () => {
  it.each([
    ['>From here', 'From here'],
    ['>>From here', '>From here'],
    ['>>>>From ', '>>>From '],
    ['> From here', '> From here'],
    ['>Fro', '>Fro'],
    ['>>>', '>>>'],
    ['> >From here', '> >From here'],
    ['x>From here', 'x>From here'],
  ])('%s becomes %s', (line, expected) => {
    expect(splitMbox(`${SEPARATOR}\nA: 1\n\n${line}\n${line}`)).toEqual([`A: 1\n\n${expected}\n${expected}`]);
  });

  it('are read in any length with the same memory', () => {
    const quotes = '>'.repeat(5_000_000);
    const [message] = splitMbox(`${SEPARATOR}\nA: 1\n\n${quotes}From x\n`);
    expect(message?.length).toBe(quotes.length + 'A: 1\n\nFrom x\n'.length - 1);
  });
});

it('mboxrd comes back as it was', () => {
  const messages = ['A: 1\n\nFrom x\n>From y\n\n', 'B: 2\n'];
  expect(splitMbox(joinMbox(messages))).toEqual(messages);
});
