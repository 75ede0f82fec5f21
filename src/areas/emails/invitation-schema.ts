/** The invitation of an email: its schema and its JSON. */
import type { XStatic } from 'typebox/schema';
import type { InvitationView } from './email-ports.ts';
import {
  ATTENDEE_ROLES,
  ATTENDEE_STATUSES,
  INVITATION_COMPONENTS,
  INVITATION_METHODS,
  INVITATION_STATUSES,
  isFromOrganizer,
  type CalendarTime,
} from '../../core/calendar/invitation.ts';
import type { AuthVerdict } from '../../core/message/authentication.ts';
import { AddressObject, record, Timestamp, Uuid } from '../../platform/schemas/schemas.ts';

const CalendarTimeSchema = record('CalendarTime', {
  local: {
    type: 'string',
    description: '`2026-05-12T10:00:00` in its zone, or `2026-05-12` for a whole day.',
  },
  utc: {
    type: ['string', 'null'],
    format: 'date-time',
    description: 'The instant; null for a day, for a time without a zone, and in a zone that is not known.',
  },
  time_zone: { type: ['string', 'null'], description: 'IANA name; null when there is none.' },
  time_zone_name: { type: ['string', 'null'], description: 'The zone as the calendar writes it.' },
});
const NullableCalendarTime = { anyOf: [CalendarTimeSchema, { type: 'null' }] } as const;

const AttendeeStatus = { title: 'AttendeeStatus', type: 'string', enum: ATTENDEE_STATUSES } as const;

const InvitationSchema = record('Invitation', {
  method: {
    type: ['string', 'null'],
    enum: [...INVITATION_METHODS, null],
    description: 'RFC 5546; null for a calendar that names none.',
  },
  component: { type: 'string', enum: INVITATION_COMPONENTS },
  uid: { type: ['string', 'null'] },
  sequence: { type: 'integer', minimum: 0 },
  recurrence_id: {
    ...NullableCalendarTime,
    description: 'The date of a series that it is about; null for the series, and for a single date.',
  },
  summary: { type: 'string' },
  description: { type: ['string', 'null'], description: 'The first 2,000 characters.' },
  location: { type: ['string', 'null'] },
  start: NullableCalendarTime,
  end: {
    ...NullableCalendarTime,
    description: 'Exclusive: an event of one day ends on the next one. For a task: when it is due.',
  },
  all_day: { type: 'boolean' },
  recurrence: {
    type: ['string', 'null'],
    description: 'The value of RRULE (RFC 5545); null for a single date.',
  },
  status: { type: ['string', 'null'], enum: [...INVITATION_STATUSES, null] },
  organizer: { anyOf: [AddressObject, { type: 'null' }] },
  organizer_is_sender: {
    type: 'boolean',
    description:
      'The organizer is the address in From, whose check did not fail. Otherwise an answer goes to another address than the ' +
      'sender’s, and needs it as `organizer`.',
  },
  attendees: {
    type: 'array',
    description: 'The first 500. The address is empty where the calendar names none.',
    items: record('Attendee', {
      name: { type: 'string' },
      address: { type: 'string' },
      status: AttendeeStatus,
      role: { type: 'string', enum: ATTENDEE_ROLES },
      rsvp: { type: 'boolean', description: 'The organizer asks for an answer.' },
    }),
  },
  attendee_count: { type: 'integer', minimum: 0 },
  comment: { type: ['string', 'null'], description: 'What the person who answers wrote.' },
  more_events: {
    type: 'integer',
    minimum: 0,
    description: 'Further events of the calendar, such as moved dates of a series: they are in its file.',
  },
  replaced_by: {
    anyOf: [
      record('InvitationChange', {
        email_id: Uuid,
        method: { type: 'string', enum: ['request', 'cancel'] },
      }),
      { type: 'null' },
    ],
    description: 'The later email in which the organizer changed or cancelled it; null while it is valid.',
  },
  answer: {
    anyOf: [
      record('InvitationAnswered', { email_id: Uuid, status: AttendeeStatus, date: Timestamp }),
      { type: 'null' },
    ],
    description: 'The last answer from the account to it; null when there is none.',
  },
});

export const NullableInvitation = {
  anyOf: [InvitationSchema, { type: 'null' }],
  description:
    'The event or task of a calendar in the email (RFC 5545): an invitation, its change or cancellation, or the answer to one. ' +
    'Its sender wrote all of it. null when there is none.',
} as const;

export function toInvitationJson(
  invitation: InvitationView | null,
  from: string,
  verdict: AuthVerdict | null,
): XStatic<typeof InvitationSchema> | null {
  if (invitation === null) return null;
  const { event, replacedBy, answer } = invitation;
  const { organizer } = event;
  return {
    method: event.method,
    component: event.component,
    uid: event.uid,
    sequence: event.sequence,
    recurrence_id: toTimeJson(event.recurrenceId),
    summary: event.summary,
    description: event.description,
    location: event.location,
    start: toTimeJson(event.start),
    end: toTimeJson(event.end),
    all_day: event.start !== null && !event.start.local.includes('T'),
    recurrence: event.rule,
    status: event.status,
    organizer,
    organizer_is_sender: isFromOrganizer(event, from, verdict),
    attendees: [...event.attendees],
    attendee_count: event.attendeeCount,
    comment: event.comment,
    more_events: event.moreEvents,
    replaced_by: replacedBy === null ? null : { email_id: replacedBy.emailId, method: replacedBy.method },
    answer:
      answer === null
        ? null
        : { email_id: answer.emailId, status: answer.status, date: answer.date.toISOString() },
  };
}

const toTimeJson = (time: CalendarTime | null): XStatic<typeof CalendarTimeSchema> | null =>
  time === null
    ? null
    : { local: time.local, utc: time.utc, time_zone: time.zone, time_zone_name: time.zoneName };
