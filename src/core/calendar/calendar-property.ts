/** The properties of a component, read by ical.js one by one: a broken line loses itself alone. */
import ICAL from 'ical.js';
import type { CalendarComponent } from './calendar-components.ts';

export interface CalendarProperty {
  /** Lower case. */
  readonly name: string;
  /** Such as `date-time`. */
  readonly type: string;
  /** Dates as `2026-05-12` and `2026-05-12T10:00:00`, with a Z for UTC. */
  readonly value: string;
  /** The value as written, still escaped. */
  readonly written: string;
  /** The first value of a parameter, by its lower-case name; empty when it is missing. */
  parameter(name: string): string;
}

export interface CalendarProperties {
  readonly all: readonly CalendarProperty[];
  /** The first one with the name. */
  first(name: string): CalendarProperty | null;
  /** A line could not be read. */
  readonly isDamaged: boolean;
}

export function readProperties({ lines }: CalendarComponent): CalendarProperties {
  const read = lines.map(readProperty);
  const all = read.filter((property) => property !== null);
  return {
    all,
    first: (name) => all.find((property) => property.name === name) ?? null,
    isDamaged: all.length < read.length,
  };
}

/** null when the line can't be read. */
function readProperty(line: string): CalendarProperty | null {
  let property: unknown;
  try {
    property = ICAL.parse.property(line, ICAL.design.icalendar);
  } catch {
    // The library throws plain errors for whatever it does not understand.
    return null;
  }
  if (!Array.isArray(property)) return null;
  const [name, parameters, type, value] = property as readonly unknown[];
  if (typeof name !== 'string' || typeof type !== 'string') return null;
  const given = new Map(Object.entries(parameters ?? {}));
  return {
    name,
    type,
    value: typeof value === 'string' ? value : '',
    written: writtenValue(line),
    parameter(key) {
      const [first] = [given.get(key)].flat(2);
      return typeof first === 'string' ? first : '';
    },
  };
}

/** Behind the first colon outside of quotes. */
function writtenValue(line: string): string {
  let isQuoted = false;
  for (let at = 0; at < line.length; at += 1) {
    if (line[at] === '"') isQuoted = !isQuoted;
    else if (line[at] === ':' && !isQuoted) return line.slice(at + 1);
  }
  return '';
}
