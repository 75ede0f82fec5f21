/** Detects safe HTML that sets its own colours. It relies on a light background: mail is written on one. */

/**
 * Input: the result of sanitizeHtml, with attributes in double quotes. Each part of it is scanned once: a match ends at the
 * next quote. Borders do not count: they are visible on any background.
 */
const COLOUR =
  /\sstyle="(?:[^"]*[;:\s])?(?:color|background(?:-color|-image)?)\s*:|\sbgcolor="|\scolor="|<img\s/i;

const IN_SHEET = /[{;](?:color|background[a-z-]*):/;

/** Images count as well: logos are often dark on a transparent background. */
export const setsColours = (safeHtml: string, sheet: string): boolean =>
  COLOUR.test(safeHtml) || IN_SHEET.test(sheet);
