/**
 * No bytes make a reader throw, or write far more than it got: random bytes, mails damaged line by line, and mails built from hostile
 * pieces. `npm run fuzz` does the same for hours.
 */
import * as fc from 'fast-check';
import { describe, it } from 'vitest';
import { understand } from '../../src/platform/reading/readings.ts';
import { damageLines } from '../fuzz/damage-lines.ts';
import { randomFrom } from '../fuzz/mutate.ts';
import { BOUNCE_CASES } from '../helpers/bounce-table.ts';
import { EML_FIXTURES } from '../helpers/eml-fixtures.ts';
import { READERS, type ReaderName } from './readers.ts';
import { runs } from '../helpers/runs.ts';

const RUNS = runs(300);
/** Larger inputs are cut to this size, so that a run takes ms. */
const MAX_BYTES = 50_000;
/** Marks of quotes and lists grow with the text, each character of a charset may become three bytes, and the text is in two fields. */
const MAX_GROWTH = 40;
const SLACK_CHARS = 10_000;

const MAILS = [...EML_FIXTURES, ...BOUNCE_CASES].map(({ raw }) => raw.subarray(0, MAX_BYTES));

const damaged = fc
  .tuple(fc.constantFrom(...MAILS), fc.integer(), fc.integer({ min: 1, max: 10 }))
  .map(([raw, seed, times]) => {
    const random = randomFrom(seed);
    let bytes = raw;
    for (let left = times; left > 0; left--) bytes = damageLines(bytes, MAILS, random);
    return bytes.subarray(0, MAX_BYTES);
  });

const junk = fc.constantFrom(
  '"',
  "'",
  ';',
  ',',
  ':',
  '<',
  '>',
  '(',
  ')',
  '\\',
  '=',
  '?=',
  '=?x?q?',
  '=?utf-8?b?',
  '\0',
  '\r',
  '\n ',
  ' ',
  '%',
  '*0*=',
  '@',
  'ü',
  '\ud83d',
);
const value = fc
  .array(fc.oneof(junk, fc.string({ maxLength: 8 })), { maxLength: 30 })
  .map((parts) => parts.join(''));
const fieldName = fc.constantFrom(
  'From',
  'To',
  'Subject',
  'Date',
  'Message-ID',
  'References',
  'Content-Type',
  'Content-Transfer-Encoding',
  'Content-Disposition',
  'Content-ID',
  'Auto-Submitted',
);
const type = fc.constantFrom(
  'text/plain; charset=x-none',
  'text/html; charset=utf-7',
  'text/plain; format=flowed; delsp=yes',
  'text/calendar',
  'multipart/mixed; boundary=b',
  'multipart/report; report-type=delivery-status; boundary=b',
  'multipart/report; report-type=feedback-report; boundary=b',
  'multipart/report; report-type=disposition-notification; boundary=b',
  'message/delivery-status',
  'message/feedback-report',
  'message/disposition-notification',
  'message/rfc822',
  'application/ms-tnef',
  'application/json',
);
const bodyLine = fc.oneof(
  fc.constantFrom(
    '--b',
    '--b--',
    '--b ',
    '',
    'Final-Recipient: rfc822; a@b.example',
    'Action: failed',
    'Status: 5.1.1',
    'Feedback-Type: abuse',
    'Disposition: automatic-action/x; deleted',
    '{"notificationType":"Bounce","bounce":{"bouncedRecipients":[{',
    '{"Message":"{\\"eventType\\":',
    '<ol start=9><li>',
    '<blockquote>',
    '<style>',
    '> x',
    '-- ',
    'On 1 a@b wrote:',
    'From: x',
    'BEGIN:VCALENDAR',
    'BEGIN:VEVENT',
    'END:VEVENT',
    'BEGIN:VTIMEZONE',
    'TZID:own',
    'BEGIN:STANDARD',
    'TZOFFSETFROM:+0200',
    'TZOFFSETTO:+9999',
    'DTSTART;TZID=own:20260512T100000',
    'RRULE:FREQ=YEARLY;BYMONTH=99;BYDAY=9SU',
    'ATTENDEE;CN=":mailto:a',
    'DURATION:P',
    '=3',
    'eJ8+Ig==',
    '\u001b$B',
  ),
  type.map((text) => `Content-Type: ${text}`),
  value,
);
const hostile = fc
  .tuple(fc.array(fc.tuple(fieldName, value), { maxLength: 10 }), type, fc.array(bodyLine, { maxLength: 60 }))
  .map(([fields, contentType, lines]) =>
    Buffer.from(
      [
        ...fields.map(([name, text]) => `${name}: ${text}`),
        `Content-Type: ${contentType}`,
        '',
        ...lines,
      ].join('\r\n'),
    ),
  );

const anything = fc.oneof(
  fc.uint8Array({ maxLength: 2000 }).map((bytes) => Buffer.from(bytes)),
  damaged,
  hostile,
);

describe('no bytes make it throw', () => {
  it.each(Object.keys(READERS) as ReaderName[])('%s', (name) => {
    fc.assert(
      fc.property(anything, (bytes) => READERS[name](bytes)),
      { numRuns: RUNS },
    );
  });
});

it('what is read of a message is no more than a small multiple of it', () => {
  fc.assert(
    fc.property(anything, (bytes) => {
      const { message, replyText } = understand([bytes], {});
      const chars = message.text.length + (message.html?.length ?? 0) + (replyText?.length ?? 0);
      return chars <= MAX_GROWTH * bytes.length + SLACK_CHARS;
    }),
    { numRuns: 3 * RUNS },
  );
});
