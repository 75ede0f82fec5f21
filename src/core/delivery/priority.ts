/**
 * The order in which the queue sends. A higher priority always goes first; inside one priority the lanes take turns, so
 * that a lane with ten thousand messages delays another lane's next one by a single message.
 */
import { isOneLine } from '../one-line.ts';

/** From the highest to the lowest. */
export const PRIORITIES = ['high', 'normal', 'low'] as const;
export type Priority = (typeof PRIORITIES)[number];

/** The place of a send in the queue. */
export interface QueuePlace {
  readonly priority: Priority;
  /** 1 to 64 characters in one line. */
  readonly lane: string;
}

/** An email's entry when it is first put into the queue. */
export interface QueuedSend extends QueuePlace {
  /** When it is to go out, as its caller wishes; null: `dueInMs` counts. */
  readonly dueAt: Date | null;
  /** From when it is recorded until it is tried, in ms. */
  readonly dueInMs: number;
  /** When it was accepted, or is to go out: its latency is measured from this moment, and nothing else follows from it. */
  readonly timedFrom: Date;
  /** From when it is first due until it is not tried again, in ms. */
  readonly giveUpAfterMs: number;
}

/** In UTF-16 units. */
export const MAX_LANE_LENGTH = 64;

export const isLane = (text: string): boolean =>
  text !== '' && text.length <= MAX_LANE_LENGTH && isOneLine(text);

/**
 * Answers and new conversations take turns unless the caller says otherwise: a newsletter never delays a reply.
 * `rule` is that of the placement.
 */
export function defaultLane(rule: string): string {
  return rule === 'new' ? 'new' : 'reply';
}
