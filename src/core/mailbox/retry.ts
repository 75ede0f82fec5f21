/** When to try again: an account after a failure, and a message that could not be taken. */
import { DAY_MS } from '../durations.ts';

const SECOND_MS = 1000;
const MINUTE_MS = 60 * SECOND_MS;
const HOUR_MS = 60 * MINUTE_MS;

/**
 * Why an account can't be read. `credentials`: the server refused them; `connection`: it can't be reached;
 * `refused`: it refused a command; `service`: the database or the storage is unavailable, or something of ours failed.
 */
export type AccountFailure = 'credentials' | 'connection' | 'refused' | 'service';

/** The first and the longest delay. */
const ACCOUNT_DELAYS: Readonly<Record<AccountFailure, readonly [number, number]>> = {
  // Only a person can help, and many wrong passwords in a row lock an account.
  credentials: [5 * MINUTE_MS, HOUR_MS],
  // Most interruptions are short; the longer delays do not make an outage worse.
  connection: [SECOND_MS, 5 * MINUTE_MS],
  refused: [30 * SECOND_MS, 15 * MINUTE_MS],
  service: [SECOND_MS, 30 * SECOND_MS],
};

/** Each delay varies by up to this share in either direction, so that accounts do not come back together. */
const JITTER = 0.25;

/** @param failures in a row, this one included @param random from 0 (inclusive) to 1 (exclusive) @returns ms */
export function accountRetryDelay(failure: AccountFailure, failures: number, random: number): number {
  const [first, longest] = ACCOUNT_DELAYS[failure];
  const delayMs = Math.min(longest, first * 2 ** (Math.max(1, failures) - 1));
  return Math.round(delayMs * (1 + JITTER * (2 * random - 1)));
}

/** A message that was in hand when the connection broke, or that failed oddly, is set aside after this many tries. */
export const MAX_MESSAGE_TRIES = 4;

const FIRST_MESSAGE_DELAY_MS = 5 * SECOND_MS;
/** A message that is set aside is tried again, ever more rarely, in case something changes meanwhile. */
const QUARANTINE_DELAYS_MS = [15 * MINUTE_MS, HOUR_MS, 6 * HOUR_MS, DAY_MS];

/**
 * `put_off`: its time has not come yet, which is no failure; `doubtful`: the connection may be at fault;
 * `bad`: the message is at fault.
 */
export type MessageFailure = 'put_off' | 'doubtful' | 'bad';

export interface MessageTries {
  /** Tries that failed and counted. */
  readonly tries: number;
  /**
   * Number of quarantine delays so far, since the message was set aside or since an operator asked for a try; null while it
   * is not set aside.
   */
  readonly quarantineDelays: number | null;
}

export interface MessageRetry extends MessageTries {
  readonly delayMs: number;
}

/** A message that is set aside stays so until it is taken, whatever fails. @param before the state before this failure */
export function messageRetry(failure: MessageFailure, before: MessageTries): MessageRetry {
  if (failure === 'put_off') return { ...before, delayMs: FIRST_MESSAGE_DELAY_MS };
  const tries = before.tries + 1;
  if (before.quarantineDelays === null && failure === 'doubtful' && tries < MAX_MESSAGE_TRIES) {
    return { tries, quarantineDelays: null, delayMs: FIRST_MESSAGE_DELAY_MS * 2 ** before.tries };
  }
  const had = before.quarantineDelays ?? 0;
  const delayMs = QUARANTINE_DELAYS_MS[Math.min(had, QUARANTINE_DELAYS_MS.length - 1)] ?? DAY_MS;
  return { tries, quarantineDelays: had + 1, delayMs };
}
