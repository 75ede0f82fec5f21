import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { invitationText } from './invitation-text.ts';
import type { CalendarTime, Invitation } from './invitation.ts';
import { readInvitation } from './read-invitation.ts';

const sample = (name: string): string =>
  readFileSync(new URL(`../../../test/fixtures/calendars/${name}.ics`, import.meta.url), 'utf8');

function invitationOf(text: string, method: string | null = null): Invitation {
  const { invitation } = readInvitation(text, method);
  if (invitation === null) throw new Error('no invitation was found');
  return invitation;
}

const berlin = (local: string, utc: string, zoneName: string | null = 'Europe/Berlin'): CalendarTime => ({
  local,
  utc,
  zone: 'Europe/Berlin',
  zoneName,
});
const utc = (local: string): CalendarTime => ({ local, utc: `${local}Z`, zone: 'UTC', zoneName: null });
const calendar = (...lines: readonly string[]): string =>
  [
    'BEGIN:VCALENDAR',
    'METHOD:REQUEST',
    'BEGIN:VEVENT',
    'UID:1',
    ...lines,
    'END:VEVENT',
    'END:VCALENDAR',
  ].join('\r\n');

describe('readInvitation', () => {
  it.each<[string, Partial<Invitation>]>([
    [
      'google-request',
      {
        method: 'request',
        uid: '4k2j6v0m3p9q8r7s5t1u@google.com',
        sequence: 0,
        stamp: '2026-05-04T07:00:00Z',
        summary: 'Angebot besprechen',
        location: 'Berlin, Hauptstr. 1',
        description:
          'Wir besprechen das Angebot.\n\nJoin with Google Meet: https://meet.google.com/abc-defg-hij',
        start: utc('2026-05-12T08:00:00'),
        end: utc('2026-05-12T09:00:00'),
        status: 'confirmed',
        organizer: { name: 'Ann Example', address: 'ann@customer.example' },
        attendees: [
          {
            name: 'Ann Example',
            address: 'ann@customer.example',
            status: 'accepted',
            role: 'required',
            rsvp: true,
          },
          { name: '', address: 'support@example.com', status: 'needs_action', role: 'required', rsvp: true },
        ],
      },
    ],
    [
      'outlook-365-request',
      {
        sequence: 2,
        summary: 'Jour fixe',
        start: berlin('2026-05-12T10:00:00', '2026-05-12T08:00:00Z', 'W. Europe Standard Time'),
        rule: 'FREQ=WEEKLY;UNTIL=20261231T090000Z;INTERVAL=1;BYDAY=TU;WKST=MO',
        description: 'Guten Tag,\n\nbitte Termin bestätigen.',
        location: 'Microsoft Teams-Besprechung',
        attendees: [
          {
            name: 'Support',
            address: 'support@example.com',
            status: 'needs_action',
            role: 'required',
            rsvp: true,
          },
          {
            name: 'Lager; Köln',
            address: 'lager@example.com',
            status: 'needs_action',
            role: 'optional',
            rsvp: false,
          },
        ],
      },
    ],
    [
      'exchange-cancel-one-date',
      {
        method: 'cancel',
        status: 'cancelled',
        recurrenceId: {
          local: '2026-05-19T10:00:00',
          utc: '2026-05-19T17:00:00Z',
          zone: 'America/Los_Angeles',
          zoneName: 'Pacific Standard Time',
        },
      },
    ],
    [
      'apple-all-day',
      {
        summary: 'Messe Köln 🎉',
        start: { local: '2026-05-12', utc: null, zone: null, zoneName: null },
        end: { local: '2026-05-14', utc: null, zone: null, zoneName: null },
        organizer: { name: 'Cy Example', address: 'cy@icloud.example' },
      },
    ],
    // The hour that comes twice: the first one, by the offset before the change.
    [
      'zoom-publish',
      { method: 'publish', attendees: [], start: berlin('2026-10-25T02:30:00', '2026-10-25T00:30:00Z') },
    ],
    [
      'teams-update',
      {
        sequence: 4,
        start: {
          local: '2026-07-13T14:30:00',
          utc: '2026-07-13T12:30:00Z',
          zone: null,
          zoneName: 'Customized Time Zone',
        },
      },
    ],
    [
      'nextcloud-exceptions',
      {
        recurrenceId: null,
        summary: 'Abstimmung',
        start: {
          local: '2026-05-12T09:00:00',
          utc: '2026-05-12T07:00:00Z',
          zone: 'Europe/Vienna',
          zoneName: 'Europe/Vienna',
        },
        end: {
          local: '2026-05-12T10:30:00',
          utc: '2026-05-12T08:30:00Z',
          zone: 'Europe/Vienna',
          zoneName: 'Europe/Vienna',
        },
        attendees: [
          { name: '', address: 'support@example.com', status: 'needs_action', role: 'required', rsvp: true },
        ],
        moreEvents: 1,
      },
    ],
    ['cal-com-request', { end: utc('2026-05-12T08:30:00'), location: 'integrations:daily' }],
    [
      'thunderbird-reply',
      {
        method: 'reply',
        comment: 'Leider verhindert.',
        start: berlin('2026-05-12T10:00:00', '2026-05-12T08:00:00Z', '/mozilla.org/20050126_1/Europe/Berlin'),
        attendees: [
          {
            name: 'Hal Example',
            address: 'hal@customer.example',
            status: 'declined',
            role: 'required',
            rsvp: false,
          },
        ],
      },
    ],
    [
      'outlook-counter',
      {
        method: 'counter',
        comment: 'Lieber eine Stunde später.',
        start: {
          local: '2026-05-12T11:00:00',
          utc: null,
          zone: null,
          zoneName: '(UTC+01:00) Amsterdam, Berlin, Bern',
        },
      },
    ],
    [
      'floating',
      {
        method: null,
        start: { local: '2026-05-12T10:00:00', utc: null, zone: null, zoneName: null },
        organizer: null,
      },
    ],
    [
      'two-events',
      {
        uid: 'flight-1',
        moreEvents: 1,
        end: {
          local: '2026-05-12T09:30:00',
          utc: '2026-05-12T13:30:00Z',
          zone: 'America/New_York',
          zoneName: 'America/New_York',
        },
      },
    ],
    [
      'task',
      {
        component: 'task',
        status: 'needs_action',
        start: null,
        end: {
          local: '2026-05-15T18:00:00',
          utc: '2026-05-15T16:00:00Z',
          zone: 'Europe/Zurich',
          zoneName: 'Europe/Zurich',
        },
      },
    ],
    [
      'unknown-zone',
      { start: { local: '2026-05-12T10:00:00', utc: null, zone: null, zoneName: 'Mars/Olympus' } },
    ],
    [
      'google-cancel',
      {
        method: 'cancel',
        sequence: 1,
        start: { local: '2026-05-12', utc: null, zone: null, zoneName: null },
      },
    ],
  ])('reads %s', (name, expected) => {
    const { invitation, isDamaged } = readInvitation(sample(name), null);
    expect(invitation).toMatchObject(expected);
    expect(isDamaged).toBe(false);
  });

  it('joins lines that a program folded badly, and says so', () => {
    const { invitation, isDamaged } = readInvitation(sample('badly-folded'), null);
    expect(isDamaged).toBe(true);
    expect(invitation).toMatchObject({
      method: 'request',
      summary: 'Ein langer Titel, den ein Programm ohne Leerzeichen am Anfang der nächsten Zeile umbricht',
      description: 'Erste Zeile\nOrt: zweite Zeile\nhttp://customer.example/dritte',
      attendees: [{ name: 'Support', address: 'support@example.com' }],
    });
  });

  it('keeps what can be read of a calendar that is cut off', () => {
    const { invitation, isDamaged } = readInvitation(sample('cut-off'), null);
    expect(isDamaged).toBe(true);
    expect(invitation).toMatchObject({
      uid: 'cut-1',
      summary: 'Abgeschnitten',
      start: null,
      organizer: null,
      sequence: 0,
    });
  });

  it.each([
    ['no calendar', 'Guten Tag', true],
    ['an empty one', 'BEGIN:VCALENDAR\nEND:VCALENDAR', true],
    ['free times', 'BEGIN:VCALENDAR\nBEGIN:VFREEBUSY\nUID:1\nEND:VFREEBUSY\nEND:VCALENDAR', false],
  ])('finds no invitation in %s', (_, text, isDamaged) => {
    expect(readInvitation(text, 'REQUEST')).toEqual({ invitation: null, isDamaged });
  });

  it('takes the method of the content type where the calendar has none', () => {
    expect(invitationOf(sample('floating'), 'request').method).toBe('request');
    expect(invitationOf(sample('google-cancel'), 'REQUEST').method).toBe('cancel');
    expect(invitationOf(sample('floating'), 'constructor').method).toBeNull();
  });

  it('expands no series, and no rule of a zone but those of real ones', () => {
    const rule = 'RRULE:FREQ=SECONDLY;COUNT=2000000000';
    const zone = [
      'BEGIN:VTIMEZONE',
      'TZID:own',
      'BEGIN:STANDARD',
      'DTSTART:00010101T000000',
      'TZOFFSETFROM:+0100',
      'TZOFFSETTO:+0100',
      rule,
    ];
    const text = [
      'BEGIN:VCALENDAR',
      ...zone,
      'END:STANDARD',
      'END:VTIMEZONE',
      'BEGIN:VEVENT',
      'DTSTART;TZID=own:99990101T000000',
      rule,
      'END:VEVENT',
      'END:VCALENDAR',
    ].join('\n');
    expect(invitationOf(text)).toMatchObject({
      rule: 'FREQ=SECONDLY;COUNT=2000000000',
      start: { utc: null, zone: null, zoneName: 'own' },
    });
  });

  it.each([
    ['lines without end', 'A'.repeat(1_000_000)],
    ['parameters without end', calendar(`ATTENDEE${';A=B'.repeat(200_000)}:mailto:a@b.example`)],
    [
      'people without end',
      calendar(...Array.from({ length: 30_000 }, (_, at) => `ATTENDEE:mailto:p${at}@b.example`)),
    ],
    [
      'events without end',
      `BEGIN:VCALENDAR\n${'BEGIN:VEVENT\nUID:1\nEND:VEVENT\n'.repeat(20_000)}END:VCALENDAR`,
    ],
    ['nesting without end', `BEGIN:VCALENDAR\n${'BEGIN:VEVENT\n'.repeat(50_000)}`],
    ['folds without end', calendar(`SUMMARY:a${'\n b'.repeat(300_000)}`)],
    ['breaks without end', calendar(`SUMMARY:a${'\nb'.repeat(300_000)}`)],
  ])('reads %s within its bounds', (_, text) => {
    const { invitation } = readInvitation(text, null);
    expect(JSON.stringify(invitation).length).toBeLessThan(100_000);
  });

  it.each([
    ['SUMMARY:a\\nb\u202ec', { summary: 'a b c' }],
    [
      'ORGANIZER;CN="x^n^\'y^\'":mailto:a@b.example%0D%0Abcc:c@d.example',
      { organizer: { name: 'x "y"', address: '' } },
    ],
    ['ORGANIZER:javascript:alert(1)', { organizer: { name: '', address: '' } }],
    ['__proto__;__proto__=x:y', { summary: '' }],
    ['SUMMARY;constructor=x;__proto__="y":z', { summary: 'z' }],
    ['SUMMARY;VALUE=constructor:z', { summary: 'z' }],
    ['DTSTART;TZID=__proto__:20260512T100000', { start: { utc: null, zoneName: '__proto__' } }],
    ['DTSTART:20261301T100000Z', { start: null }],
    ['SEQUENCE:99999999999', { sequence: 0 }],
    ['DURATION:-P1D\r\nDTSTART:20260512T100000Z', { end: null }],
  ])('is not deceived by %j', (line, expected) => {
    expect(invitationOf(calendar(line))).toMatchObject(expected);
  });
});

describe('invitationText', () => {
  it.each([
    [
      'google-request',
      'Einladung: Angebot besprechen\nWann: Dienstag, 12. Mai 2026, 08:00–09:00 Uhr (UTC)\nWo: Berlin, Hauptstr. 1\nVon: Ann Example <ann@customer.example>',
    ],
    [
      'outlook-365-request',
      'Geänderte Einladung: Jour fixe\nWann: Dienstag, 12. Mai 2026, 10:00–11:00 Uhr (Europe/Berlin)\nWiederholung: wöchentlich\nWo: Microsoft Teams-Besprechung',
    ],
    [
      'exchange-cancel-one-date',
      'Abgesagt: Canceled: Weekly\nWann: Dienstag, 19. Mai 2026, 10:00–10:30 Uhr (America/Los_Angeles)',
    ],
    [
      'apple-all-day',
      'Einladung: Messe Köln 🎉\nWann: Dienstag, 12. Mai 2026 – Mittwoch, 13. Mai 2026\nVon: Cy Example <cy@icloud.example>',
    ],
    ['google-cancel', 'Abgesagt: Angebot besprechen\nWann: Dienstag, 12. Mai 2026\n'],
    [
      'thunderbird-reply',
      'Absage: Besprechung\nWann: Dienstag, 12. Mai 2026, 10:00–11:00 Uhr (Europe/Berlin)\nVon: Hal Example <hal@customer.example>\n\nLeider verhindert.',
    ],
    [
      'outlook-counter',
      'Anderer Vorschlag: Neue Zeit vorgeschlagen: Abnahme\nWann: Dienstag, 12. Mai 2026, 11:00–12:00 Uhr (Zeitzone „(UTC+01:00) Amsterdam, Berlin, Bern“)\nVon: Ida <ida@customer.example>',
    ],
    ['floating', 'Termin: Liefertermin\nWann: Dienstag, 12. Mai 2026, 10:00–11:30 Uhr\nWo: Rampe 3'],
    [
      'two-events',
      'Termin: BER - EWR\nWann: Dienstag, 12. Mai 2026, 07:00 Uhr (Europe/Berlin) – Dienstag, 12. Mai 2026, 09:30 Uhr (America/New_York)',
    ],
    ['task', 'Aufgabe: Unterlagen prüfen\nFällig: Freitag, 15. Mai 2026, 18:00 Uhr (Europe/Zurich)'],
  ])('words %s', (name, beginning) => {
    const text = invitationText(invitationOf(sample(name)));
    expect(text.slice(0, beginning.length)).toBe(beginning);
  });
});
