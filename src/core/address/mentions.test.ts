import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { runs } from '../../../test/helpers/runs.ts';
import { addressWords, MAX_MENTIONS, mentionsOf, type MentioningEmail } from './mentions.ts';
import { typedAddress } from './typed-address.ts';

const ADA = { name: 'Ada', address: 'Ada@Acme.test' };
const BOB = { name: 'Bob', address: 'bob@acme.test' };
const OWN = (address: string) => address === 'sales@example.com';

const email = (change: Partial<MentioningEmail> = {}): MentioningEmail => ({
  direction: 'inbound',
  from: ADA,
  recipients: [{ name: '', address: 'Sales@Example.com' }, BOB],
  isListed: true,
  isAutomatic: false,
  verdict: null,
  ...change,
});
const kinds = (change: Partial<MentioningEmail>) =>
  mentionsOf(email(change), OWN).map(({ address, kind }) => `${address} ${kind}`);

describe('mentionsOf', () => {
  it.each([
    ['a received email: its sender and the others', {}, ['ada@acme.test 2', 'bob@acme.test 1']],
    ['a proven sender', { verdict: 'passed' as const }, ['ada@acme.test 3', 'bob@acme.test 1']],
    ['nothing of a forgery', { verdict: 'failed' as const }, []],
    ['nothing of automatic mail', { isAutomatic: true }, []],
    ['nothing of automatic answers', { direction: 'outbound' as const, isAutomatic: true }, []],
    ['nothing of what did not go out', { direction: 'outbound' as const, isListed: false }, []],
    ['whom we wrote to', { direction: 'outbound' as const, recipients: [ADA, ADA] }, ['ada@acme.test 4']],
    ['nobody of whom nothing is known', { from: {}, recipients: [{ address: null }] }, []],
    ['no machines', { from: { address: 'no-reply@acme.test' }, recipients: [] }, []],
    [
      'a machine that we wrote to',
      { direction: 'outbound' as const, recipients: [{ address: 'noreply@a.test' }] },
      ['noreply@a.test 4'],
    ],
  ])('takes %s', (_, change, expected) => {
    expect(kinds(change)).toEqual(expected);
  });

  it.each([
    '',
    '@',
    'a@',
    '@a.test',
    'a b@c.test',
    'a\n@c.test',
    '<a@c.test>',
    `${'a'.repeat(300)}@c.test`,
    'a\u202e@c.test',
  ])('takes %j for no address', (address) => {
    expect(mentionsOf(email({ from: { name: '', address }, recipients: [] }), OWN)).toEqual([]);
  });

  it('takes no address for a name, and no more than it shows', () => {
    const nameOf = (name: string) =>
      mentionsOf(email({ from: { name, address: 'ada@acme.test' } }), OWN)[0]?.name;
    expect(nameOf('boss@acme.test')).toBe('');
    expect(nameOf('Boss <boss@acme.test>')).toBe('');
    expect(nameOf('Ada\u202e\u0000 Lovelace')).toBe('Ada Lovelace');
    expect([...(nameOf('x'.repeat(10_000)) ?? '')]).toHaveLength(200);
  });

  it('takes the first recipients of a mailing', () => {
    const recipients = Array.from({ length: 5000 }, (_, index) => ({
      name: '',
      address: `a${index}@acme.test`,
    }));
    expect(mentionsOf(email({ direction: 'outbound', recipients }), OWN)).toHaveLength(MAX_MENTIONS);
  });
});

describe('what is typed', () => {
  const words = addressWords('ada.lovelace@mail.acme.co.test', 'Ada Müller-Søren');
  const isFound = (text: string) => {
    const typed = typedAddress(text);
    return (
      typed.length > 0 &&
      typed.every((forms) => forms.some((form) => words.some((word) => word.startsWith(form))))
    );
  };

  it.each([
    'a',
    'ada',
    'ADA.LOVE',
    'lovelace',
    'ada.lovelace@mail',
    '@acme',
    '@mail.acme',
    'acme.co',
    'mull',
    'müller',
    'muell',
    'soren',
    'mü ada',
    'ada, lovelace',
    'mail',
    '<ada',
  ])('finds it by %j', (text) => {
    expect(isFound(text)).toBe(true);
  });

  it.each(['', ' ', '@', '.', '%', 'da', 'ove', '@ada', 'ada@acme', 'ada xyz', 'mülle r'])(
    'does not by %j',
    (text) => {
      expect(isFound(text)).toBe(false);
    },
  );

  it('is taken whatever it is', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary', maxLength: 60 }), (text) => {
        for (const forms of typedAddress(text)) {
          expect(forms.length).toBeLessThanOrEqual(2);
          for (const form of forms) expect(form).not.toMatch(/^$|[\s]/);
        }
      }),
      { numRuns: runs(500) },
    );
  });
});
