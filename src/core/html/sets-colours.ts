/** Whether safe HTML sets colours of its own. Where it does, it relies on a light background: mail is written on one. */

/**
 * Input: what sanitizeHtml gives, where attributes are in double quotes. Each part of it is looked at once: a match ends at the next quote.
 * Borders count for nothing: they can be seen on any ground.
 */
const COLOUR =
  /\sstyle="(?:[^"]*[;:\s])?(?:color|background(?:-color|-image)?)\s*:|\sbgcolor="|\scolor="|<img\s/i;

/** Images count as well: logos are often dark, on a transparent ground. */
export const setsColours = (safeHtml: string): boolean => COLOUR.test(safeHtml);
