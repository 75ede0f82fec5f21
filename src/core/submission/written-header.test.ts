import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { parseHeaderBlock } from '../mime/parse/header-fields.ts';
import { RefusedSubmission } from './refusal.ts';
import { formatWrittenHeader, hasWholeHeader, readWrittenHeader } from './written-header.ts';

const read = (lines: readonly string[], isUtf8Allowed = false) =>
  readWrittenHeader(Buffer.from(`${lines.join('\r\n')}\r\n\r\nbody`, 'latin1'), isUtf8Allowed);

const statusOf = (work: () => unknown): string | null => {
  try {
    work();
    return null;
  } catch (error) {
    if (!(error instanceof RefusedSubmission)) throw error;
    return error.refusal.status;
  }
};

describe('the header of a submitted message', () => {
  it('keeps every octet of its fields', () => {
    const lines = ['From: a@b.test', 'Subject:  a', '\tb ', 'X-Empty:', 'X-Empty:'];
    const header = read(lines);
    expect(header.fields.map(({ name }) => name)).toEqual(['from', 'subject', 'x-empty', 'x-empty']);
    expect(header.isChanged).toBe(false);
    expect(formatWrittenHeader(header, []).toString()).toBe(`${lines.join('\r\n')}\r\n\r\n`);
  });

  it('loses blind recipients, and what only a delivery means', () => {
    const header = read(['BCC: a@b.test,', ' c@d.test', 'From: a@b.test', 'Return-Path: <x@y.test>', 'bcc:']);
    expect(header.isChanged).toBe(true);
    expect(formatWrittenHeader(header, ['X-More: 1']).toString()).toBe('From: a@b.test\r\nX-More: 1\r\n\r\n');
  });

  it('has the size that it came with', () => {
    const text = 'Bcc: a@b.test\r\nFrom: a@b.test\r\n\r\n';
    expect(readWrittenHeader(Buffer.from(`${text}\r\nbody\r\n\r\n`), false).sizeBytes).toBe(text.length);
    expect(hasWholeHeader(Buffer.from(text.slice(0, -1)))).toBe(false);
  });

  it.each([
    ['without From', ['Subject: x'], '5.6.0'],
    ['with two From', ['From: a@b.test', 'FROM: c@d.test'], '5.6.0'],
    ['with two Subject', ['From: a@b.test', 'Subject: x', 'Subject: y'], '5.6.0'],
    ['with white space before a colon', ['From: a@b.test', 'From : c@d.test'], '5.6.0'],
    ['that begins with a continued line', [' x', 'From: a@b.test'], '5.6.0'],
    ['with a line of white space', ['From: a@b.test', ' ', 'Subject: x'], '5.6.0'],
    ['with the line of an mbox', ['From a@b.test Fri Nov 27', 'From: a@b.test'], '5.6.0'],
    ['with a line that is no field', ['From: a@b.test', 'Hello'], '5.6.0'],
    ['with a control character', ['From: a@b.test', 'Subject: \u0007'], '5.6.0'],
    ['with too many fields', ['From: a@b.test', ...Array<string>(1000).fill('X-A: 1')], '5.6.0'],
    ['that was sent again', ['From: a@b.test', 'Resent-To: c@d.test'], '5.7.1'],
    ['with the mark of a relay', ['From: a@b.test', 'X-Google-Original-Message-ID: <x@y>'], '5.7.1'],
    ['with other characters than ASCII', ['From: a@b.test', 'Subject: \u00c3\u00bc'], '5.6.9'],
  ])('is refused %s', (_, lines, status) => {
    expect(statusOf(() => read(lines))).toBe(status);
  });

  it('may be UTF-8 for a client that asked for it', () => {
    expect(statusOf(() => read(['From: a@b.test', 'Subject: \u00c3\u00bc'], true))).toBeNull();
    expect(statusOf(() => read(['From: a@b.test', 'Subject: \u00fc'], true))).toBe('5.6.9');
  });

  it('is refused when it has no end', () => {
    expect(statusOf(() => readWrittenHeader(Buffer.from('From: a@b.test\r\n'), false))).toBe('5.6.0');
    expect(statusOf(() => readWrittenHeader(Buffer.alloc(1_000_000, 'a'), false))).toBe('5.3.4');
  });

  it('has the fields that the reader of received mail finds, or is refused', () => {
    const piece = fc.constantFrom('From', 'Bcc', 'X-A', ':', ' ', '\t', '\r\n', 'a@b.test', '--b', '\u00fc');
    fc.assert(
      fc.property(fc.array(piece, { maxLength: 16 }), (pieces) => {
        const block = Buffer.from(`From: a@b.test\r\n${pieces.join('')}\r\n\r\nx`, 'latin1');
        let fields: readonly string[] | null = null;
        const status = statusOf(() => {
          fields = readWrittenHeader(block, false).fields.map(({ name }) => name);
        });
        if (status !== null) return;
        const read = parseHeaderBlock(block.subarray(0, block.indexOf('\r\n\r\n') + 4));
        expect(read).toMatchObject({ malformed: false, bodyStart: null });
        expect(fields).toEqual(read.fields.map(({ name }) => name).filter((name) => name !== 'bcc'));
      }),
      { numRuns: 2000 },
    );
  });
});
