import { expect, it } from 'vitest';
import { absenceSubject } from './out-of-office.ts';

it.each([
  ['Angebot', 'de', 'Automatische Antwort: Angebot'],
  ['Re: AW: Offer', 'en', 'Automatic reply: Offer'],
  ['Ein\r\nBcc: x@y.test', 'de', 'Automatische Antwort: Ein Bcc: x@y.test'],
  ['', 'de', 'Automatische Antwort:'],
] as const)('the subject of the answer to %j in %s is %j', (answered, language, expected) => {
  expect(absenceSubject({ subject: null, language }, answered, 200)).toBe(expected);
});

it('is the one that the account has', () => {
  expect(absenceSubject({ subject: 'Betriebsferien', language: 'de' }, 'Angebot', 200)).toBe(
    'Betriebsferien',
  );
});

it('is cut between characters', () => {
  const subject = absenceSubject({ subject: null, language: 'en' }, '😀'.repeat(50), 30);
  expect(subject.length).toBeLessThanOrEqual(30);
  expect(subject.isWellFormed()).toBe(true);
});
