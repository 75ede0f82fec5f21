import fc from 'fast-check';
import { expect, it } from 'vitest';
import { expectCpuBelow } from '../../../test/readers/cpu-time.ts';
import { parseMessage } from '../mime/parse/parse.ts';
import { readBounce } from './bounce.ts';
import { severityOf } from './failure-severity.ts';

/** The components of bounces, in any order. */
const word = fc.oneof(
  fc.constantFrom(
    '<ada@customer.test>',
    'ada@customer.test:',
    '"ada@customer.test"',
    '550 5.1.1',
    '552-5.2.2',
    'user unknown',
    'mailbox full',
    'quota exceeded',
    'blocked',
    'recipient address rejected',
    'the email account that you tried to reach',
    'does not exist',
    'to',
    '...',
    '\n',
    '\n\n',
    '--- Below this line is a copy of the message.',
    'Message-ID: <a@b>',
    '@',
    '<',
    '(',
  ),
  fc.string({ maxLength: 30 }),
  fc.string({ unit: 'binary', maxLength: 10 }),
);
const text = fc.array(word, { maxLength: 200 }).map((words) => words.join(' '));

it('reads any text of a mailer daemon, and says something of each recipient', () => {
  fc.assert(
    fc.property(text, fc.boolean(), (body, isReport) => {
      const raw = isReport
        ? `From: MAILER-DAEMON@x.test\nContent-Type: multipart/report; boundary=b\n\n--b\n\n${body}\n--b\nContent-Type: message/delivery-status\n\n${body}\n--b--\n`
        : `From: MAILER-DAEMON@x.test\nSubject: failure notice\n\n${body}\n`;
      const bounce = readBounce(parseMessage(Buffer.from(raw)));
      expect(bounce?.recipients.length).toBeGreaterThan(0);
      for (const { diagnostic, status } of bounce?.recipients ?? []) {
        expect(diagnostic.length).toBeLessThanOrEqual(1000);
        expect(diagnostic).not.toMatch(/[\r\n\u0000]/);
        expect(status ?? '5.0.0').toMatch(/^[245]\.\d{1,3}\.\d{1,3}$/);
      }
    }),
  );
});

it.each([
  ['spaces', ' '.repeat(1000)],
  ['recipients', 'user '.repeat(200)],
  ['addresses', 'address a.b.c.d '.repeat(60)],
  ['mailboxes', 'mailbox x y z '.repeat(70)],
  ['quotas', 'quota a b c d e f g '.repeat(50)],
  ['dots', `user ${'a.b'.repeat(330)}`],
  ['Empfänger', 'Empfänger x '.repeat(80)],
])('takes no long time over %s', (_, said) => {
  const work = (): void => {
    severityOf('5.0.0', said);
    severityOf(null, `${said} unknow`);
  };
  expectCpuBelow(50, work);
});

it.each([
  ['lines with addresses', '<a@b.test>\n'.repeat(5000)],
  ['one address again and again', 'a@b.test: unknown user\n'.repeat(5000)],
  ['different addresses', Array.from({ length: 5000 }, (__, at) => `<a${at}@b.test>: full\n`).join('')],
  ['long lines', `${'to a@b'.repeat(5000)}\n`.repeat(20)],
  ['signs', `${'<'.repeat(900)}@${'>'.repeat(99)}\n`.repeat(200)],
])('takes no long time over a notice of %s', (_, body) => {
  const message = parseMessage(
    Buffer.from(`From: MAILER-DAEMON@x.test\nSubject: failure notice\n\n${body}\n`),
  );
  expect(readBounce(message)?.recipients.length).toBeLessThanOrEqual(1000);
  expectCpuBelow(1000, () => readBounce(message));
});
