/** What a check has found, and what to do about it. */

/**
 * - `ok`: as it should be.
 * - `warning`: it works, and will or may not for ever, or is less safe than it could be.
 * - `problem`: something does not work, or loses mail.
 */
export type Grade = 'ok' | 'warning' | 'problem';

/** In the order in which they are told. */
export const AREAS = [
  'configuration',
  'program',
  'data folder',
  'database',
  'storage',
  'mail servers',
  'DNS',
  'listeners',
  'work',
] as const;

export type Area = (typeof AREAS)[number];

export interface Finding {
  readonly grade: Grade;
  /** What was found: the beginning of a sentence with its subject. */
  readonly text: string;
  /** What to do, one sentence; null when nothing is. */
  readonly advice: string | null;
}

export const ok = (text: string): Finding => ({ grade: 'ok', text, advice: null });
export const warning = (text: string, advice: string): Finding => ({ grade: 'warning', text, advice });
export const problem = (text: string, advice: string): Finding => ({ grade: 'problem', text, advice });

export interface Check {
  readonly area: Area;
  /** What it looks at, for when it does not come to an end. */
  readonly name: string;
  /** What it throws is a problem. @param signal ends what it waits for */
  run(signal: AbortSignal): Promise<readonly Finding[]>;
}
