import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { formatUnsubscribeMailto, readUnsubscribeSubject } from './mailto.ts';

const ACCOUNT = { name: 'News', localPart: 'news', domain: 'example.com' };
const TOKEN = 'aZ09_-'.repeat(25);

describe('the address to unsubscribe by mail', () => {
  it('has a subject that is read again, as mail programs send it', () => {
    const mailto = formatUnsubscribeMailto(ACCOUNT, TOKEN) ?? '';
    expect(mailto).toBe(`mailto:news@example.com?subject=unsubscribe%20${TOKEN}`);
    const subject = new URL(mailto).searchParams.get('subject') ?? '';
    for (const sent of [subject, `  ${subject}\t`, subject.replace(' ', '\r\n '), `UNSUBSCRIBE  ${TOKEN}`])
      expect(readUnsubscribeSubject(sent)).toBe(TOKEN);
  });

  it('is safe in a header field, whatever the account is called', () => {
    const mailto = formatUnsubscribeMailto({ ...ACCOUNT, localPart: 'a>b?c&d"é %' }, TOKEN) ?? '';
    expect(mailto).toMatch(/^mailto:[\w%.-]+@example\.com\?subject=unsubscribe%20[\w-]+$/);
  });

  it('is left out where a line would be too long', () => {
    expect(formatUnsubscribeMailto({ ...ACCOUNT, localPart: 'ü'.repeat(64) }, 'x'.repeat(900))).toBeNull();
  });
});

describe('the subject of any other mail', () => {
  it.each([
    '',
    'unsubscribe',
    'Please unsubscribe me',
    `Re: unsubscribe ${TOKEN}`,
    `unsubscribe ${TOKEN} now`,
    `unsubscribe ${'x'.repeat(5000)}`,
    `unsubscribe ${TOKEN}=`,
  ])('is none: %s', (subject) => {
    expect(readUnsubscribeSubject(subject)).toBeNull();
  });

  it('is read in time that grows with it', () => {
    fc.assert(
      fc.property(fc.string(), (text) => {
        readUnsubscribeSubject(text);
      }),
    );
    expect(readUnsubscribeSubject(' '.repeat(1_000_000))).toBeNull();
  });
});
