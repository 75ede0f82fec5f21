/** Attempts that a mail server put off, and how long the next one had to wait. */

/** An attempt that the mail server answered with 451, after the message. */
export interface PutOff {
  readonly token: string;
  /** In ms since 1970, by the clock of the mail server. */
  readonly at: number;
}

/** See SEND_RETRY_DELAYS_S of the world; each delay varies by a fifth. */
export const RETRY_DELAY_MS = 400;
const LEAST_MS = RETRY_DELAY_MS * 0.8;
/** The delay begins when the outcome is stored, which is after the reply. */
const TOLERANCE_MS = 20;

/** Attempts that came before their time. */
export function checkRetries(putOff: readonly PutOff[]): readonly string[] {
  const last = new Map<string, number>();
  return putOff.flatMap(({ token, at }) => {
    const before = last.get(token);
    last.set(token, at);
    return before === undefined || at - before >= LEAST_MS - TOLERANCE_MS
      ? []
      : [`I5 ${token} was tried again after ${at - before} ms`];
  });
}
