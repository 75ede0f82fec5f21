/** Bounds of what is read of a calendar. All are ours: above the values of real ones, below those that hurt. */

/** A line after unfolding, in characters: the library takes time by the square of a line's parameters. */
export const MAX_LINE_CHARS = 8000;

/** Components within one another. Real calendars have up to 3. */
export const MAX_DEPTH = 10;

/** Components of a kind that are read; further events are only counted. */
export const MAX_EVENTS = 100;
export const MAX_ZONES = 20;
export const MAX_ZONE_RULES = 20;

/** Lines of one component. An event of 500 people has some 520. */
export const MAX_COMPONENT_LINES = 2000;

/** People of one event that are kept. */
export const MAX_ATTENDEES = 500;

/** A UID in characters; RFC 7986 §5.3 recommends at most 255. */
export const MAX_UID_CHARS = 255;

/** Name, summary, place and zone, in characters. */
export const MAX_CALENDAR_TEXT_CHARS = 500;

/** Description and comment, in characters: Outlook writes the text of the whole mail there. */
export const MAX_DESCRIPTION_CHARS = 2000;

/** An RRULE in characters. */
export const MAX_RULE_CHARS = 500;

/** SEQUENCE: an integer of iCalendar, RFC 5545 §3.3.8. */
export const MAX_SEQUENCE = 2_147_483_647;
