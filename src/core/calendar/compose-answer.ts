/** Answers an invitation: the REPLY of RFC 5546 §3.2.3 as an object, and as the calendar that is sent. */
import ICAL from 'ical.js';
import type { CalendarTime, Invitation } from './invitation.ts';

export const INVITATION_ANSWER_STATUSES = ['accepted', 'tentative', 'declined'] as const;
export type InvitationAnswerStatus = (typeof INVITATION_ANSWER_STATUSES)[number];

interface Answer {
  readonly status: InvitationAnswerStatus;
  /** The address that was invited. */
  readonly attendee: string;
  /** null for none. */
  readonly comment: string | null;
}

/** The answer of one attendee. It has no time of its own yet. */
export function toReply(invitation: Invitation, { status, attendee, comment }: Answer): Invitation {
  const invited = invitation.attendees.find(({ address }) => isSameAddress(address, attendee));
  return {
    ...invitation,
    method: 'reply',
    stamp: null,
    description: null,
    location: null,
    rule: null,
    status: null,
    attendees: [
      {
        name: invited?.name ?? '',
        address: invited?.address ?? attendee,
        status,
        role: 'required',
        rsvp: false,
      },
    ],
    attendeeCount: 1,
    comment,
    moreEvents: 0,
  };
}

export const isSameAddress = (one: string, other: string): boolean =>
  one.toLowerCase() === other.toLowerCase();

const PRODUCT = '-//email-worker//email-worker//EN';

/** iCalendar with CRLF, folded. @param stamp when the answer was given */
export function formatReply(reply: Invitation, stamp: Date): string {
  const { component, uid, sequence, recurrenceId, summary, start, end, organizer, comment } = reply;
  const event = new ICAL.Component(component === 'task' ? 'vtodo' : 'vevent');
  const add = (name: string, value: string | number, parameters: Readonly<Record<string, string>> = {}) => {
    const property = new ICAL.Property(name);
    property.setValue(value);
    for (const [key, parameter] of Object.entries(parameters)) {
      if (parameter !== '') property.setParameter(key, parameter);
    }
    event.addProperty(property);
  };
  const addTime = (name: string, time: CalendarTime | null) => {
    if (time !== null) event.addProperty(toTimeProperty(name, time));
  };
  add('uid', uid ?? '');
  add('sequence', sequence);
  event.addProperty(toTimeProperty('dtstamp', utcTime(stamp)));
  addTime('recurrence-id', recurrenceId);
  if (organizer !== null) add('organizer', `mailto:${organizer.address}`, { cn: organizer.name });
  for (const { name, address, status } of reply.attendees) {
    add('attendee', `mailto:${address}`, { cn: name, partstat: status.replace('_', '-').toUpperCase() });
  }
  if (summary !== '') add('summary', summary);
  addTime('dtstart', start);
  addTime(component === 'task' ? 'due' : 'dtend', end);
  if (comment !== null) add('comment', comment);

  const calendar = new ICAL.Component('vcalendar');
  calendar.updatePropertyWithValue('prodid', PRODUCT);
  calendar.updatePropertyWithValue('version', '2.0');
  calendar.updatePropertyWithValue('method', 'REPLY');
  calendar.addSubcomponent(event);
  return `${calendar.toString()}\r\n`;
}

const utcTime = (time: Date): CalendarTime => {
  const local = time.toISOString().slice(0, 19);
  return { local, utc: `${local}Z`, zone: 'UTC', zoneName: null };
};

/** In UTC where that is known: a zone by name needs its definition beside it. */
function toTimeProperty(name: string, { local, utc, zoneName }: CalendarTime): ICAL.Property {
  const isDay = !local.includes('T');
  const property = new ICAL.Property(name);
  if (isDay) property.resetType('date');
  property.setValue(isDay ? ICAL.Time.fromDateString(local) : ICAL.Time.fromDateTimeString(utc ?? local));
  if (!isDay && utc === null && zoneName !== null) property.setParameter('tzid', zoneName);
  return property;
}
