import { readFileSync } from 'node:fs';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { formatReply, toReply } from './compose-answer.ts';
import { readInvitation } from './read-invitation.ts';

const read = (text: string) => {
  const { invitation, isDamaged } = readInvitation(text, null);
  if (invitation === null) throw new Error('no invitation was found');
  expect(isDamaged).toBe(false);
  return invitation;
};
const sample = (name: string) =>
  read(readFileSync(new URL(`../../../test/fixtures/calendars/${name}.ics`, import.meta.url), 'utf8'));
const NOW = new Date('2026-05-05T09:00:00Z');
const accepting = { status: 'accepted', attendee: 'Support@example.com', comment: null } as const;

describe('formatReply', () => {
  it('is the REPLY of RFC 5546 with the one attendee', () => {
    const reply = toReply(sample('outlook-365-request'), {
      ...accepting,
      comment: 'Gern,\nbis dann; Ihr Support',
    });
    expect(formatReply(reply, NOW).split('\r\n')).toEqual([
      'BEGIN:VCALENDAR',
      'PRODID:-//email-worker//email-worker//EN',
      'VERSION:2.0',
      'METHOD:REPLY',
      'BEGIN:VEVENT',
      'UID:040000008200E00074C5B7101A82E00800000000B0A1C2D3E4F5D901000000000000000',
      ' 010000000A1B2C3D4E5F60718293A4B5C6D7E8F90',
      'SEQUENCE:2',
      'DTSTAMP:20260505T090000Z',
      'ORGANIZER;CN=Bo Example:mailto:bo@customer.example',
      'ATTENDEE;CN=Support;PARTSTAT=ACCEPTED:mailto:support@example.com',
      'SUMMARY:Jour fixe',
      'DTSTART:20260512T080000Z',
      'DTEND:20260512T090000Z',
      'COMMENT:Gern\\,\\nbis dann\\; Ihr Support',
      'END:VEVENT',
      'END:VCALENDAR',
      '',
    ]);
  });

  it.each(['exchange-cancel-one-date', 'apple-all-day', 'outlook-counter', 'floating', 'task'])(
    'keeps the date, whatever its form: %s',
    (name) => {
      const reply = toReply(sample(name), accepting);
      const { recurrenceId, start, end, ...rest } = read(formatReply(reply, NOW));
      expect({ ...rest, stamp: null }).toMatchObject({
        uid: reply.uid,
        component: reply.component,
        method: 'reply',
      });
      const inUtc = (time: typeof start) => (time === null ? null : (time.utc ?? time.local));
      expect([recurrenceId, start, end].map(inUtc)).toEqual(
        [reply.recurrenceId, reply.start, reply.end].map(inUtc),
      );
    },
  );

  it('is read back as it was, whatever its texts are', () => {
    const line = fc.string({
      unit: fc.constantFrom(...`ab "':;,\\^nß🎉=\n\t`),
      minLength: 1,
      maxLength: 120,
    });
    const property = fc.property(line, line, line, (summary, name, comment) => {
      const invitation = sample('google-request');
      const organizer = { name, address: 'ann@customer.example' };
      const reply = toReply({ ...invitation, summary, organizer }, { ...accepting, comment });
      const again = read(formatReply(reply, NOW));
      const oneLine = (text: string) => text.replace(/[\n\t]+/g, ' ').trim();
      expect(again.summary).toBe(oneLine(summary));
      expect(again.comment ?? '').toBe(comment.trim());
      expect(again.attendees).toEqual(reply.attendees);
      expect(again.organizer?.address).toBe('ann@customer.example');
    });
    fc.assert(property, { numRuns: 100 });
  });
});
