/** Reads an invitation from the text of a calendar: RFC 5545 and RFC 5546, leniently. A series is never expanded. */
import { cutText } from '../cut-text.ts';
import ICAL from 'ical.js';
import { isOneLine, toOneLine } from '../one-line.ts';
import { readComponents, type CalendarComponent } from './calendar-components.ts';
import { readProperties, type CalendarProperties, type CalendarProperty } from './calendar-property.ts';
import {
  ATTENDEE_STATUSES,
  INVITATION_METHODS,
  INVITATION_STATUSES,
  type Attendee,
  type CalendarPerson,
  type CalendarTime,
  type Invitation,
} from './invitation.ts';
import {
  MAX_ATTENDEES,
  MAX_CALENDAR_TEXT_CHARS,
  MAX_DESCRIPTION_CHARS,
  MAX_RULE_CHARS,
  MAX_SEQUENCE,
  MAX_UID_CHARS,
} from './limits.ts';
import { findZone } from './time-zone.ts';

export interface ReadCalendar {
  /** null when the calendar has no event and no task. */
  readonly invitation: Invitation | null;
  /** Something in it could not be read, or was mended. */
  readonly isDamaged: boolean;
}

/** @param methodParameter `method` of the content type; the calendar's own METHOD counts before it (RFC 6047 §2.4) */
export function readInvitation(text: string, methodParameter: string | null): ReadCalendar {
  const { root, eventCount, isDamaged } = readComponents(text);
  if (root === null) return { invitation: null, isDamaged: true };
  const events = root.children
    .filter(({ name }) => name === 'vevent' || name === 'vtodo')
    .map((component) => ({ component, properties: readProperties(component) }));
  // A series stands before its changed dates, wherever its program wrote it.
  const shown = events.find(({ properties }) => properties.first('recurrence-id') === null) ?? events[0];
  // A calendar of free times, a journal, or a zone alone is whole without an event.
  if (shown === undefined) return { invitation: null, isDamaged: isDamaged || root.children.length === 0 };
  const { component, properties } = shown;
  const reader = new EventReader(properties, root.children);
  const method = readProperties(root).first('method')?.value ?? methodParameter;
  const invitation: Invitation = {
    ...reader.read(component.name === 'vtodo'),
    method: INVITATION_METHODS.find((one) => one.replace('_', '') === method?.trim().toLowerCase()) ?? null,
    moreEvents: eventCount - 1,
  };
  return { invitation, isDamaged: isDamaged || properties.isDamaged || reader.isDamaged };
}

class EventReader {
  isDamaged = false;
  readonly #properties: CalendarProperties;
  readonly #components: readonly CalendarComponent[];

  constructor(properties: CalendarProperties, components: readonly CalendarComponent[]) {
    this.#properties = properties;
    this.#components = components;
  }

  read(isTask: boolean): Omit<Invitation, 'method' | 'moreEvents'> {
    const start = this.#time('dtstart');
    const attendees = this.#properties.all.filter(({ name }) => name === 'attendee');
    return {
      component: isTask ? 'task' : 'event',
      uid: this.#uid(),
      sequence: this.#sequence(),
      stamp: this.#time('dtstamp')?.utc ?? null,
      recurrenceId: this.#time('recurrence-id'),
      summary: this.#line('summary') ?? '',
      description: this.#text('description'),
      location: this.#line('location'),
      start,
      end: this.#end(start, isTask),
      rule: this.#rule(),
      status: INVITATION_STATUSES.find((status) => status === enumOf(this.#value('status'))) ?? null,
      organizer: toPerson(this.#properties.first('organizer')),
      attendees: attendees.slice(0, MAX_ATTENDEES).map(toAttendee),
      attendeeCount: attendees.length,
      comment: this.#text('comment'),
    };
  }

  #value(name: string): string {
    return this.#properties.first(name)?.value ?? '';
  }

  #uid(): string | null {
    const uid = this.#value('uid').trim();
    return uid === '' || uid.length > MAX_UID_CHARS || !isOneLine(uid) ? null : uid;
  }

  /** The library gives integers as numbers, so the value is read as written. */
  #sequence(): number {
    const written = this.#properties.first('sequence')?.written.trim() ?? '0';
    const sequence = /^\d{1,10}$/.test(written) ? Number(written) : Number.NaN;
    if (sequence <= MAX_SEQUENCE) return sequence;
    this.isDamaged = true;
    return 0;
  }

  #line(name: string): string | null {
    const line = cut(toOneLine(this.#value(name)), MAX_CALENDAR_TEXT_CHARS);
    return line === '' ? null : line;
  }

  #text(name: string): string | null {
    const text = this.#value(name)
      .replace(/\r\n?/g, '\n')
      .replace(/[\u0000-\u0008\u000b-\u001f\u007f-\u009f]/g, '')
      .trim();
    return text === '' ? null : cut(text, MAX_DESCRIPTION_CHARS);
  }

  #rule(): string | null {
    const property = this.#properties.first('rrule');
    if (property === null) return null;
    const rule = property.written.trim();
    if (rule.length <= MAX_RULE_CHARS && /^[\w=;,+:-]+$/.test(rule)) return rule;
    this.isDamaged = true;
    return null;
  }

  #time(name: string): CalendarTime | null {
    const property = this.#properties.first(name);
    if (property === null) return null;
    const time = toTime(property, this.#components);
    if (time === null) this.isDamaged = true;
    return time;
  }

  /** RFC 5545 §3.6.1: without an end, a day lasts a day, and a moment has no length. */
  #end(start: CalendarTime | null, isTask: boolean): CalendarTime | null {
    const end = this.#time(isTask ? 'due' : 'dtend');
    if (end !== null || start === null) return end;
    const duration = this.#value('duration');
    const isDay = !start.local.includes('T');
    if (duration === '') return isDay && !isTask ? later(start, DAY_SECONDS) : null;
    const seconds = secondsOf(duration);
    if (seconds !== null && seconds >= 0) return later(start, seconds);
    this.isDamaged = true;
    return null;
  }
}

const DAY_SECONDS = 86_400;

/** null for a duration that can't be read. */
function secondsOf(duration: string): number | null {
  try {
    const seconds = ICAL.Duration.fromString(duration).toSeconds();
    return Number.isSafeInteger(seconds) ? seconds : null;
  } catch {
    // The library throws plain errors for whatever it does not understand.
    return null;
  }
}

/** null where a date would be beyond what a date can be. */
function later(start: CalendarTime, seconds: number): CalendarTime | null {
  const isDay = !start.local.includes('T');
  const local = plus(isDay ? `${start.local}T00:00:00Z` : `${start.local}Z`, seconds);
  const utc = start.utc === null ? null : plus(start.utc, seconds);
  if (local === null) return null;
  return { ...start, local: local.slice(0, isDay ? 10 : 19), utc };
}

function plus(instant: string, seconds: number): string | null {
  const time = new Date(Date.parse(instant) + seconds * 1000);
  return Number.isNaN(time.getTime()) || time.getUTCFullYear() > 9999 ? null : withoutMs(time);
}

const withoutMs = (time: Date): string => time.toISOString().replace('.000Z', 'Z');

const DATE = /^\d{4}-\d\d-\d\d$/;
const DATE_TIME = /^(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d)(Z?)$/;

function toTime(
  { value, parameter }: CalendarProperty,
  components: readonly CalendarComponent[],
): CalendarTime | null {
  if (DATE.test(value)) {
    return isDate(`${value}T00:00:00`) ? { local: value, utc: null, zone: null, zoneName: null } : null;
  }
  const [, written = '', z = ''] = DATE_TIME.exec(value) ?? [];
  // RFC 5545 §3.3.12: a leap second counts as the second before.
  const local = written.replace(/:60$/, ':59');
  if (!isDate(local)) return null;
  if (z !== '') return { local, utc: `${local}Z`, zone: 'UTC', zoneName: null };
  const zoneName = cut(toOneLine(parameter('tzid')), MAX_CALENDAR_TEXT_CHARS);
  if (zoneName === '') return { local, utc: null, zone: null, zoneName: null };
  const zone = findZone(zoneName, components);
  const offset = zone?.offset(local) ?? null;
  const utc = offset === null ? null : plus(`${local}Z`, -offset);
  return { local, utc, zone: zone?.name ?? null, zoneName };
}

/** False for 31 February, too. */
function isDate(local: string): boolean {
  const time = new Date(`${local}Z`);
  return !Number.isNaN(time.getTime()) && time.getUTCFullYear() > 0 && withoutMs(time) === `${local}Z`;
}

const enumOf = (value: string): string => value.trim().toLowerCase().replaceAll('-', '_');

const ROLES = new Map([
  ['chair', 'chair'],
  ['opt_participant', 'optional'],
  ['non_participant', 'informed'],
] as const);

function toAttendee(property: CalendarProperty): Attendee {
  const status = enumOf(property.parameter('partstat'));
  return {
    ...(toPerson(property) ?? NO_PERSON),
    status: ATTENDEE_STATUSES.find((one) => one === status) ?? 'needs_action',
    role: [...ROLES].find(([name]) => name === enumOf(property.parameter('role')))?.[1] ?? 'required',
    rsvp: property.parameter('rsvp').trim().toLowerCase() === 'true',
  };
}

const NO_PERSON: CalendarPerson = { name: '', address: '' };

/**
 * Apple writes the address into EMAIL, and a path of its server as value. The library cuts a value behind a parameter with both a colon and an
 * escape, so the written one counts.
 */
function toPerson(property: CalendarProperty | null): CalendarPerson | null {
  if (property === null) return null;
  const address = toAddress(property.written) || toAddress(property.parameter('email'));
  const name = cut(
    toOneLine(property.parameter('cn')).replace(/^(["'])(.*)\1$/, '$2'),
    MAX_CALENDAR_TEXT_CHARS,
  );
  return { name: name === address ? '' : name, address };
}

/** Empty when it is none. */
function toAddress(value: string): string {
  const text = value.trim().replace(/^mailto:/i, '');
  const address = text.includes('%') ? decoded(text) : text;
  return /^[^\s<>"(),:;\\@]{1,64}@[^\s<>"(),:;\\@]{1,255}$/.test(address) && !/[\p{Cc}\p{Cf}]/u.test(address)
    ? address
    : '';
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    // A single `%` is no escape.
    return text;
  }
}

/** With a sign that something is left out. */
function cut(text: string, maxChars: number): string {
  const whole = text.toWellFormed();
  return whole.length <= maxChars ? whole : `${cutText(whole, maxChars - 1)}…`;
}
