import { describe, expect, it } from 'vitest';
import { MAX_SUMMARY_SUBJECT_CHARS, summariseHeader } from './header-summary.ts';

const header = (...lines: readonly string[]) => Buffer.from([...lines, '', ''].join('\r\n'));

describe('the summary of a header', () => {
  it('has what it says, decoded', () => {
    const summary = summariseHeader(
      header(
        'From: =?utf-8?q?Anna_M=C3=BCller?= <anna@customer.test>',
        'Subject: =?utf-8?b?UmVjaG51bmcgZsO8ciBNYWk=?=',
        'Date: Mon, 1 Jun 2026 12:00:00 +0200',
      ),
      1234,
    );
    expect(summary).toEqual({
      subject: 'Rechnung für Mai',
      from: { name: 'Anna Müller', localPart: 'anna', domain: 'customer.test' },
      date: new Date('2026-06-01T10:00:00Z'),
      sizeBytes: 1234,
    });
  });

  it('is empty where nothing was given', () => {
    const nothing = { subject: null, from: null, date: null, sizeBytes: null };
    expect(summariseHeader(header(), 0)).toEqual(nothing);
    expect(summariseHeader(Buffer.alloc(0), Number.NaN)).toEqual(nothing);
  });

  it('keeps the text of a stranger short, and on one line', () => {
    const { subject, from } = summariseHeader(
      header(
        `Subject: a\u0000\u001b[2J${'\u{1f600}'.repeat(10_000)}`,
        `From: "${'x'.repeat(20_000)}" <${'y'.repeat(20_000)}@customer.test>`,
      ),
      1,
    );
    expect(subject?.length).toBeLessThanOrEqual(MAX_SUMMARY_SUBJECT_CHARS);
    // oxlint-disable-next-line no-control-regex
    expect(subject).not.toMatch(/[\u0000-\u001f]/);
    expect(subject?.isWellFormed()).toBe(true);
    expect(JSON.stringify(from).length).toBeLessThan(1500);
  });
});
