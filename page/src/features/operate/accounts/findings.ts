/** The findings of a check as people read them: by step, each with a code for which the page has words. */
import type { AccountCheck } from 'email-worker-client';

export type Finding = AccountCheck['findings'][number];
export type StepName = Finding['step'];
export type Grade = Finding['grade'];

export interface StepResult {
  readonly step: StepName;
  /** The worst of its findings. */
  readonly grade: Grade;
  /** Those that are not `ok`, the worst first. */
  readonly faults: readonly Finding[];
  readonly works: readonly Finding[];
}

const STEPS: readonly StepName[] = ['read', 'send', 'message', 'dns'];
const WORSE: Readonly<Record<Grade, number>> = { ok: 0, warning: 1, problem: 2 };

/** The steps that were taken, in the order in which people care. */
export function toSteps(findings: readonly Finding[]): readonly StepResult[] {
  return STEPS.flatMap((step): StepResult[] => {
    const own = findings.filter((finding) => finding.step === step);
    if (own.length === 0) return [];
    const worst = own.toSorted((one, other) => WORSE[other.grade] - WORSE[one.grade]);
    return [
      {
        step,
        grade: worst[0]?.grade ?? 'ok',
        faults: worst.filter(({ grade }) => grade !== 'ok'),
        works: own.filter(({ grade }) => grade === 'ok'),
      },
    ];
  });
}

/** Another server, port or encryption may help. */
const OF_SERVER: ReadonlySet<string> = new Set([
  'host_unknown',
  'server_unreachable',
  'tls_mismatch',
  'certificate_refused',
  'certificate_expired',
]);

/** The field to correct first; null: none of the form would help. */
export function fieldToCorrect(
  steps: readonly StepResult[],
): 'password' | 'smtpPassword' | 'imapHost' | 'smtpHost' | null {
  for (const { step, faults } of steps) {
    const fault = faults.find(({ grade }) => grade === 'problem');
    if (fault === undefined || (step !== 'read' && step !== 'send')) continue;
    if (fault.code === 'credentials_refused') return step === 'read' ? 'password' : 'smtpPassword';
    if (fault.code === null || !OF_SERVER.has(fault.code)) return null;
    return step === 'read' ? 'imapHost' : 'smtpHost';
  }
  return null;
}
