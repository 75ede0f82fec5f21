/** As a part of a statement: the moment that many milliseconds from now. @param ms as SQL */
export const fromNow = (ms: string): string => `now() + ${ms}::float8 * interval '1 millisecond'`;
