/**
 * An event or a task that an email is about: the part of iCalendar (RFC 5545) and iTIP (RFC 5546) that is shown and answered. All of
 * it was written by a stranger; texts are of one line and bounded, except description and comment.
 */

import type { AuthVerdict } from '../message/authentication.ts';

/** The methods of RFC 5546 §1.4, in lower case. */
export const INVITATION_METHODS = [
  'request',
  'cancel',
  'reply',
  'counter',
  'decline_counter',
  'add',
  'refresh',
  'publish',
] as const;
export type InvitationMethod = (typeof INVITATION_METHODS)[number];

export const INVITATION_COMPONENTS = ['event', 'task'] as const;

/** RFC 5545 §3.8.1.11; `needs_action`, `completed` and `in_process` are a task's. */
export const INVITATION_STATUSES = [
  'tentative',
  'confirmed',
  'cancelled',
  'needs_action',
  'completed',
  'in_process',
] as const;

/** RFC 5545 §3.2.12. */
export const ATTENDEE_STATUSES = [
  'needs_action',
  'accepted',
  'declined',
  'tentative',
  'delegated',
  'completed',
  'in_process',
] as const;

/** RFC 5545 §3.2.16. */
export const ATTENDEE_ROLES = ['chair', 'required', 'optional', 'informed'] as const;

/** A moment as the calendar writes it. */
export interface CalendarTime {
  /** `2026-05-12T10:00:00` in its zone, or `2026-05-12` for a whole day. */
  readonly local: string;
  /** The instant, ISO 8601; null for a day, for a time in no zone ("floating"), and in a zone that is not known. */
  readonly utc: string | null;
  /** IANA name; null when there is none. */
  readonly zone: string | null;
  /** The zone as written; null when there is none. */
  readonly zoneName: string | null;
}

export interface CalendarPerson {
  readonly name: string;
  /** Empty when it is no email address. */
  readonly address: string;
}

export interface Attendee extends CalendarPerson {
  readonly status: (typeof ATTENDEE_STATUSES)[number];
  readonly role: (typeof ATTENDEE_ROLES)[number];
  /** The organizer asks for an answer. */
  readonly rsvp: boolean;
}

export interface Invitation {
  /** null when the calendar names none that is known. */
  readonly method: InvitationMethod | null;
  readonly component: (typeof INVITATION_COMPONENTS)[number];
  /** null when it is missing or too long to be quoted. */
  readonly uid: string | null;
  readonly sequence: number;
  /** DTSTAMP, ISO 8601; null when it is missing. */
  readonly stamp: string | null;
  /** The date of a series that it is about; null: the whole series, or no series. */
  readonly recurrenceId: CalendarTime | null;
  readonly summary: string;
  readonly description: string | null;
  readonly location: string | null;
  readonly start: CalendarTime | null;
  /** Exclusive, as in iCalendar: a day ends with the next one. For a task: when it is due. */
  readonly end: CalendarTime | null;
  /** The value of RRULE; null for a single date. */
  readonly rule: string | null;
  readonly status: (typeof INVITATION_STATUSES)[number] | null;
  readonly organizer: CalendarPerson | null;
  /** At most MAX_ATTENDEES. */
  readonly attendees: readonly Attendee[];
  readonly attendeeCount: number;
  /** What the person who answers wrote. */
  readonly comment: string | null;
  /** Further events of the calendar: changed dates of a series, or other events. */
  readonly moreEvents: number;
}

/**
 * The organizer wrote the email, as far as is known: an answer goes where an answer to the email would go.
 *
 * @param verdict of the check of its sender; null: nothing is known
 */
export const isFromOrganizer = (
  { organizer }: Pick<Invitation, 'organizer'>,
  from: string,
  verdict: AuthVerdict | null,
): boolean =>
  organizer !== null && organizer.address.toLowerCase() === from.toLowerCase() && verdict !== 'failed';

/** The event does not take place. */
export const isCancelled = ({ method, status }: Pick<Invitation, 'method' | 'status'>): boolean =>
  method === 'cancel' || status === 'cancelled';
