/** A result of a check, and the advice about it. */
import type { FindingCode } from '../areas/accounts/account-ports.ts';

/**
 * - `ok`: as it should be.
 * - `warning`: it works, but will stop working, may stop working, or is less safe than it could be.
 * - `problem`: something does not work, or loses mail.
 */
export type Grade = 'ok' | 'warning' | 'problem';

/** In the order of the report. */
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
  /** What it is about, if that is known to programs. */
  readonly code: FindingCode | null;
  /** The result: the beginning of a sentence, with its subject. */
  readonly text: string;
  /** The advice, one sentence; null when nothing needs to be done. */
  readonly advice: string | null;
}

export const ok = (text: string): Finding => ({ grade: 'ok', code: null, text, advice: null });
export const warning = (text: string, advice: string, code: FindingCode | null = null): Finding => ({
  grade: 'warning',
  code,
  text,
  advice,
});
export const problem = (text: string, advice: string, code: FindingCode | null = null): Finding => ({
  grade: 'problem',
  code,
  text,
  advice,
});

export interface Check {
  readonly area: Area;
  /** The subject of the check, named in the finding when the check does not end. */
  readonly name: string;
  /** An error that it throws becomes a problem. @param signal ends its waits */
  run(signal: AbortSignal): Promise<readonly Finding[]>;
}
