/**
 * The lines of a calendar by component: unfolding (RFC 5545 §3.1) that also joins lines which programs folded badly, and the nesting
 * of BEGIN and END. Work is bounded by the text's length; properties are read by the library (`calendar-property.ts`).
 */
import ICAL from 'ical.js';
import {
  MAX_COMPONENT_LINES,
  MAX_DEPTH,
  MAX_EVENTS,
  MAX_LINE_CHARS,
  MAX_ZONES,
  MAX_ZONE_RULES,
} from './limits.ts';

export interface CalendarComponent {
  /** Lower case, such as `vevent`. */
  readonly name: string;
  /** Unfolded, of the properties that are read. */
  readonly lines: string[];
  readonly children: CalendarComponent[];
}

export interface CalendarComponents {
  /** VCALENDAR; null when the text is no calendar. */
  readonly root: CalendarComponent | null;
  readonly eventCount: number;
  /** Something was joined, closed or left out that a whole calendar does not have. */
  readonly isDamaged: boolean;
}

/** Properties whose value is a text: a line break in it is part of it. */
const TEXTS = new Set(['SUMMARY', 'DESCRIPTION', 'LOCATION', 'COMMENT']);
const READ = new Set([
  ...TEXTS,
  'METHOD',
  'UID',
  'SEQUENCE',
  'DTSTAMP',
  'RECURRENCE-ID',
  'DTSTART',
  'DTEND',
  'DUE',
  'DURATION',
  'RRULE',
  'STATUS',
  'ORGANIZER',
  'ATTENDEE',
  'TZID',
  'X-LIC-LOCATION',
  'TZOFFSETFROM',
  'TZOFFSETTO',
  'RDATE',
]);

/** Of RFC 7986 and RFC 9074, which the library does not list. */
const NEWER = new Set([
  'NAME',
  'COLOR',
  'IMAGE',
  'CONFERENCE',
  'REFRESH-INTERVAL',
  'SOURCE',
  'ACKNOWLEDGED',
  'PROXIMITY',
]);

/** A property begins a line. */
const isProperty = (name: string): boolean =>
  name === 'BEGIN' ||
  name === 'END' ||
  name.startsWith('X-') ||
  READ.has(name) ||
  NEWER.has(name) ||
  Object.hasOwn(ICAL.design.icalendar.property, name.toLowerCase());

/** From this length on, a line that ends early was folded, as programs do at 75 octets; a shorter one was broken by its text. */
const MIN_FOLDED_CHARS = 60;

export function readComponents(text: string): CalendarComponents {
  const reader = new ComponentReader();
  let line = '';
  let lastChars = 0;
  for (const raw of lines(text)) {
    const isFolded = raw.startsWith(' ') || raw.startsWith('\t');
    if (isFolded) line = join(line, raw.slice(1));
    else if (nameOf(raw) !== null) {
      reader.take(line);
      line = raw;
    } else if (raw.trim() !== '' && line !== '') {
      // Seen in practice: line breaks in texts, and lines that are folded without a space.
      reader.isDamaged = true;
      const isText = TEXTS.has(nameOf(line) ?? '') && lastChars < MIN_FOLDED_CHARS;
      line = join(line, isText ? `\\n${raw}` : raw);
    }
    if (raw !== '') lastChars = raw.length;
  }
  reader.take(line);
  return reader.end();
}

/** One line after the other: an array of all would cost more than the text. */
function* lines(text: string): Generator<string> {
  for (let at = 0; at < text.length;) {
    const end = text.indexOf('\n', at);
    const next = end === -1 ? text.length : end;
    yield text
      .slice(at, next)
      .replace(/\r$/, '')
      .replace(/^\ufeff/, '');
    at = next + 1;
  }
}

/** One character more than is read shows that it is too long. */
const join = (line: string, more: string): string =>
  line.length > MAX_LINE_CHARS ? line : line + more.slice(0, MAX_LINE_CHARS + 1 - line.length);

/** Upper case; null when the line does not begin with the name of a property. */
function nameOf(line: string): string | null {
  const [, name = ''] = /^([A-Za-z][A-Za-z0-9-]{0,40})[;:]/.exec(line) ?? [];
  const upper = name.toUpperCase();
  if (/^(?:begin|end):v/i.test(line)) return upper;
  // In a text, `Location: Berlin` begins no property.
  return name !== '' && name === upper && isProperty(name) ? name : null;
}

class ComponentReader {
  isDamaged = false;
  #root: CalendarComponent | null = null;
  readonly #open: CalendarComponent[] = [];
  readonly #counts = new Map<string, number>();
  /** Components within one that is left out. */
  #leftOut = 0;

  take(line: string): void {
    const name = nameOf(line);
    if (name === null) return;
    const [, value = ''] = /^[^:]*:[ \t]*([\w-]*)/.exec(line) ?? [];
    if (name === 'BEGIN') this.#begin(value.toLowerCase());
    else if (name === 'END') this.#end(value.toLowerCase());
    else if (READ.has(name) && this.#leftOut === 0) this.#add(name, line);
  }

  end(): CalendarComponents {
    if (this.#open.length > 0) this.isDamaged = true;
    const eventCount = (this.#counts.get('vevent') ?? 0) + (this.#counts.get('vtodo') ?? 0);
    return { root: this.#root, eventCount, isDamaged: this.isDamaged };
  }

  #begin(name: string): void {
    const count = (this.#counts.get(name) ?? 0) + 1;
    this.#counts.set(name, count);
    const parent = this.#open.at(-1);
    const isOutside = parent === undefined && (this.#root !== null || name !== 'vcalendar');
    if (this.#leftOut > 0 || isOutside || this.#open.length >= MAX_DEPTH || count > maxOf(name)) {
      this.#leftOut += 1;
      return;
    }
    const component = { name, lines: [], children: [] };
    if (parent === undefined) this.#root = component;
    else parent.children.push(component);
    this.#open.push(component);
  }

  #end(name: string): void {
    if (this.#leftOut > 0) {
      this.#leftOut -= 1;
      return;
    }
    const at = this.#open.findLastIndex((component) => component.name === name);
    // An END that fits nothing ends nothing; one that fits ends what is open within.
    if (at !== this.#open.length - 1) this.isDamaged = true;
    if (at !== -1) this.#open.length = at;
  }

  #add(name: string, line: string): void {
    const component = this.#open.at(-1);
    if (component === undefined) return;
    const isLong = line.length > MAX_LINE_CHARS;
    if (component.lines.length >= MAX_COMPONENT_LINES || (isLong && !TEXTS.has(name))) {
      this.isDamaged = true;
      return;
    }
    // Without half of an escape at its end.
    component.lines.push(isLong ? line.slice(0, MAX_LINE_CHARS).replace(/\\$/, '') : line);
  }
}

function maxOf(name: string): number {
  if (name === 'vtimezone') return MAX_ZONES;
  return name === 'standard' || name === 'daylight' ? MAX_ZONES * MAX_ZONE_RULES : MAX_EVENTS;
}
