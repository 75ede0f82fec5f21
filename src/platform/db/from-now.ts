/** As a part of a statement: that many milliseconds. @param ms as SQL */
export const inMs = (ms: string): string => `${ms}::float8 * interval '1 millisecond'`;

/** As a part of a statement: that many milliseconds after a moment. @param moment and `ms` as SQL */
export const after = (moment: string, ms: string): string => `${moment} + ${inMs(ms)}`;

/** As a part of a statement: the moment that many milliseconds from now. @param ms as SQL */
export const fromNow = (ms: string): string => after('now()', ms);

/** As a condition: the database's clock is right, as far as it and this process can tell. @param certainUntil as SQL; see `CertainUntil` */
export const isCertain = (certainUntil: string): string =>
  `clock_is_certain() and now() <= ${certainUntil}::timestamptz`;

/**
 * As a condition: the time to give up ran out more than a day ago. Nothing that waits is left alone for that long, unless no process ran, or the
 * database's clock was behind when the time was set. Its time begins anew.
 */
export const isLongOver = (giveUpAt: string): string => `${giveUpAt} <= now() - interval '1 day'`;
