import { describe, expect, it } from 'vitest';
import { MAX_RULE_HEADER_BYTES, ruleHeader } from './rule-header.ts';

const of = (...lines: string[]) => ruleHeader(Buffer.from(lines.join('\r\n'), 'latin1'))?.toString('latin1');

describe('ruleHeader', () => {
  it('keeps the fields of the rules with their continued lines, and no other', () => {
    expect(
      of(
        'Received: from mx.test',
        '\tby mail.test',
        'From: ann@example.com',
        'X-To: x@example.com',
        'to: bob@example.com,',
        ' eva@example.com',
        'SENSITIVITY : private',
        'Subject: one',
        '',
        'From: body@example.com',
      ),
    ).toBe(
      'From: ann@example.com\r\nto: bob@example.com,\r\n eva@example.com\r\nSENSITIVITY : private\r\nSubject: one\r\n\r\n',
    );
  });

  it('keeps bytes as they are', () => {
    expect(of('Subject: \xe4\x80\xff', '')).toBe('Subject: \xe4\x80\xff\r\n\r\n');
  });

  it('ends at an empty line of either kind, and needs none', () => {
    expect(ruleHeader(Buffer.from('From: a@x.test\n\nTo: b@x.test\n'))?.toString()).toBe(
      'From: a@x.test\n\r\n',
    );
    expect(ruleHeader(Buffer.from('From: a@x.test'))?.toString()).toBe('From: a@x.test\r\n');
  });

  it('is only the empty line for no message, and for one without such fields', () => {
    for (const text of ['', '\r\n', ' From: a@x.test\r\n\r\n', ':\r\n\r\n', 'no field\r\n\r\n'])
      expect(ruleHeader(Buffer.from(text))?.toString()).toBe('\r\n');
  });

  it('is null for a header that no mail server would be asked for', () => {
    const size = MAX_RULE_HEADER_BYTES - 'To: \r\n\r\n'.length;
    expect(of(`To: ${'a'.repeat(size)}`, '')?.length).toBe(MAX_RULE_HEADER_BYTES);
    expect(ruleHeader(Buffer.from(`To: ${'a'.repeat(size + 1)}\r\n\r\n`))).toBeNull();
  });
});
