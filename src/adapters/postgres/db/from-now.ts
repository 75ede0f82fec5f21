/** As a part of a statement: that many milliseconds after a moment. @param moment and `ms` as SQL */
export const after = (moment: string, ms: string): string =>
  `${moment} + ${ms}::float8 * interval '1 millisecond'`;

/** As a part of a statement: the moment that many milliseconds from now. @param ms as SQL */
export const fromNow = (ms: string): string => after('now()', ms);
