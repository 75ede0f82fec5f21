/**
 * The zone of a time: by IANA name, also within a longer identifier, by the name of Windows, or by the calendar's own definition
 * (VTIMEZONE, RFC 5545 §3.6.5). A known name counts before a definition: programs write old rules below the right name.
 */
import ICAL from 'ical.js';
import { findIana } from 'windows-iana';
import { isTimeZone } from '../reply/quote.ts';
import type { CalendarComponent } from './calendar-components.ts';
import { readProperties } from './calendar-property.ts';
import { MAX_ZONE_RULES } from './limits.ts';

export interface CalendarZone {
  /** IANA name; null for a zone that only the calendar defines. */
  readonly name: string | null;
  /** The offset of a local time from UTC in seconds; null when it can't be told. */
  offset(local: string): number | null;
}

/** null when the zone is unknown. @param definitions the components of a calendar */
export function findZone(written: string, definitions: readonly CalendarComponent[]): CalendarZone | null {
  const known = ianaName(written);
  if (known !== null) return { name: known, offset: (local) => offsetOf(known, local) };
  for (const component of definitions) {
    if (component.name !== 'vtimezone') continue;
    const properties = readProperties(component);
    if (properties.first('tzid')?.value !== written) continue;
    const location = ianaName(properties.first('x-lic-location')?.value ?? '');
    if (location !== null) return { name: location, offset: (local) => offsetOf(location, local) };
    return definedZone(component);
  }
  return null;
}

/** Outlook, and programs that put a path before the name: `/freeassociation.sourceforge.net/Europe/Berlin`. */
function ianaName(written: string): string | null {
  const name = written.trim();
  if (name === '' || name.length > 200) return null;
  const [, inPath] = /^\/.*\/([A-Za-z_]+\/[A-Za-z_+-]+(?:\/[A-Za-z_]+)?)$/.exec(name) ?? [];
  const [fromWindows] = findIana(name);
  return [fromWindows, inPath, name].find((one) => one !== undefined && isTimeZone(one)) ?? null;
}

const DAY_MS = 86_400_000;

/** RFC 5545 §3.3.5: of an hour that comes twice the first one, and of one that does not exist the offset before the change. */
function offsetOf(zone: string, local: string): number | null {
  const wanted = Date.parse(`${local}Z`);
  if (Number.isNaN(wanted)) return null;
  const before = offsetAt(zone, wanted - DAY_MS);
  const after = offsetAt(zone, wanted + DAY_MS);
  return [before, after].find((offset) => offsetAt(zone, wanted - offset * 1000) === offset) ?? before;
}

/** The offset of a zone at an instant in ms, in seconds. */
function offsetAt(zone: string, instant: number): number {
  const parts = new Intl.DateTimeFormat('en-US', {
    timeZone: zone,
    hourCycle: 'h23',
    year: 'numeric',
    month: 'numeric',
    day: 'numeric',
    hour: 'numeric',
    minute: 'numeric',
    second: 'numeric',
  }).formatToParts(new Date(instant));
  const of = (type: Intl.DateTimeFormatPartTypes) => Number(parts.find((part) => part.type === type)?.value);
  const shown = Date.UTC(of('year'), of('month') - 1, of('day'), of('hour'), of('minute'), of('second'));
  return Math.round((shown - instant) / 1000);
}

/** Years in which a definition of a calendar counts. The library expands the rules from their first year to that of the time. */
const FIRST_YEAR = 1970;
const LAST_YEAR = 2100;

/** The parts of rules that real definitions have: a day of a month. Any other rule would be expanded into thousands of changes. */
const YEARLY_PART =
  /^(?:FREQ=YEARLY|INTERVAL=1|BYMONTH=\d{1,2}|BYDAY=[+-]?\d?[A-Z]{2}|BYMONTHDAY=-?\d{1,2}(?:,-?\d{1,2}){0,6}|WKST=[A-Z]{2}|UNTIL=\d{8}(?:T\d{6}Z?)?)$/;

function isYearly(rule: string): boolean {
  const parts = rule.split(';');
  const has = (name: string) => parts.some((part) => part.startsWith(name));
  return (
    parts.length <= 6 && parts.every((part) => YEARLY_PART.test(part)) && has('FREQ=') && has('BYMONTH=')
  );
}

function definedZone({ children }: CalendarComponent): CalendarZone | null {
  const rules = children
    .filter(({ name }) => name === 'standard' || name === 'daylight')
    .slice(0, MAX_ZONE_RULES)
    .map(toRule);
  if (rules.length === 0 || rules.includes(null)) return null;
  const component = new ICAL.Component(['vtimezone', [], rules]);
  const zone = new ICAL.Timezone({ component, tzid: 'own' });
  return {
    name: null,
    offset(local) {
      const year = Number(local.slice(0, 4));
      if (!(year >= FIRST_YEAR && year <= LAST_YEAR)) return null;
      try {
        return zone.utcOffset(ICAL.Time.fromDateTimeString(local));
      } catch {
        // The library throws plain errors for values that it does not understand.
        return null;
      }
    },
  };
}

/** As jCal (RFC 7265); null when it can't be expanded within bounds. */
function toRule(component: CalendarComponent): unknown {
  const properties = readProperties(component);
  const start = properties.first('dtstart');
  const from = properties.first('tzoffsetfrom');
  const to = properties.first('tzoffsetto');
  const rule = properties.first('rrule');
  if (start === null || from === null || to === null || start.type !== 'date-time') return null;
  if (![from, to].every(({ value }) => /^[+-]\d\d:?\d\d/.test(value))) return null;
  if (!/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d/.test(start.value)) return null;
  // Outlook begins in 1601: the rule is the same for every year.
  const year = Math.max(FIRST_YEAR - 1, Number(start.value.slice(0, 4)));
  const begin = rule === null ? start.value : `${year}${start.value.slice(4)}`;
  const line = (name: string, type: string, value: unknown) => [name, {}, type, value];
  const dates = properties.all.filter(({ name }) => name === 'rdate');
  if (dates.some(({ type }) => type !== 'date-time')) return null;
  if (rule !== null && !isYearly(rule.written)) return null;
  return [
    component.name,
    [
      line('dtstart', 'date-time', begin),
      line('tzoffsetfrom', 'utc-offset', from.value),
      line('tzoffsetto', 'utc-offset', to.value),
      ...dates.map(({ value }) => line('rdate', 'date-time', value)),
      ...(rule === null ? [] : [line('rrule', 'recur', ICAL.Recur.fromString(rule.written).toJSON())]),
    ],
    [],
  ];
}
