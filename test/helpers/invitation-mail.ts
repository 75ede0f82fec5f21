/** Received invitations for tests, as calendar programs send them. */
import { randomUUID } from 'node:crypto';
import { mail } from './inbound-mail.ts';

export interface InvitationFields {
  readonly uid?: string;
  readonly method?: string;
  readonly sequence?: number;
  readonly from?: string;
  readonly organizer?: string;
  readonly attendee?: string;
  /** The text of the email; default: it has none. */
  readonly text?: string;
  /** Further lines of the event. */
  readonly lines?: readonly string[];
  readonly headers?: readonly string[];
}

export function invitationMail(fields: InvitationFields = {}): string {
  const { method = 'REQUEST', text, lines = [], organizer = 'ada@customer.test' } = fields;
  const calendar = [
    'BEGIN:VCALENDAR',
    'VERSION:2.0',
    `METHOD:${method}`,
    'BEGIN:VEVENT',
    `UID:${fields.uid ?? randomUUID()}`,
    `SEQUENCE:${fields.sequence ?? 0}`,
    'DTSTAMP:20260501T070000Z',
    'DTSTART;TZID=W. Europe Standard Time:20260512T100000',
    'DTEND;TZID=W. Europe Standard Time:20260512T110000',
    'SUMMARY:Abnahme Zugspitzplatt',
    'LOCATION:Gletscherrampe',
    `ORGANIZER;CN=Ada:mailto:${organizer}`,
    `ATTENDEE;CN=Sales;PARTSTAT=NEEDS-ACTION;RSVP=TRUE:mailto:${fields.attendee ?? 'sales@example.com'}`,
    ...lines,
    'END:VEVENT',
    'END:VCALENDAR',
  ].join('\r\n');
  const type = `Content-Type: text/calendar; charset=utf-8; method=${method}`;
  const headers = [...(fields.headers ?? []), 'MIME-Version: 1.0'];
  const common = { from: fields.from ?? 'Ada <ada@customer.test>', subject: 'Termin' };
  if (text === undefined) return mail({ ...common, headers: [...headers, type], body: calendar });
  return mail({
    ...common,
    headers: [...headers, 'Content-Type: multipart/alternative; boundary=c'],
    body: [
      '--c',
      'Content-Type: text/plain; charset=utf-8',
      '',
      text,
      '--c',
      type,
      '',
      calendar,
      '--c--',
    ].join('\r\n'),
  });
}
