/**
 * The findings of a check as people read them: by step, each of a kind for which the page has words. The service has English sentences only;
 * kinds are recognised by the advice, which comes from a short list, and not by what a stranger's server said.
 */
import type { AccountCheck } from 'email-worker-client';

export type Finding = AccountCheck['findings'][number];
export type StepName = Finding['step'];
export type Grade = Finding['grade'];

export type FindingKind =
  | 'works'
  | 'logIn'
  | 'host'
  | 'unreachable'
  | 'expired'
  | 'certificate'
  | 'encryption'
  | 'access'
  | 'noSent'
  | 'outbox'
  | 'consent'
  | 'notTried'
  | 'notArrived'
  | 'notSent'
  | 'notRead'
  | 'other';

/** The first that fits counts. */
const BY_ADVICE: readonly (readonly [advice: RegExp, kind: FindingKind])[] = [
  [/^Correct user and password/, 'logIn'],
  [/^Correct the host/, 'host'],
  [/^See that the server runs/, 'unreachable'],
  [/renew its certificate|renew it: mail stops/, 'expired'],
  [/as its certificate does/, 'certificate'],
  [/^This port does not begin with TLS|^The server offers no TLS|^If the port begins with TLS/, 'encryption'],
  [/refresh token|client_id and client_secret|^Correct scope|token_url|refuses the token/, 'access'],
  [/mail that people send elsewhere|^Correct its name in/, 'noSent'],
  [/^Give smtp_url to send it/, 'outbox'],
  [/ask for the consent/, 'consent'],
  [/^Give smtp_url and imap_url/, 'notTried'],
  [/^Look for it in the folder for spam/, 'notArrived'],
  [/^Correct what the other checks report/, 'notSent'],
  [/^Correct what the check of the mailbox reports/, 'notRead'],
];

export function kindOf({ grade, advice }: Pick<Finding, 'grade' | 'advice'>): FindingKind {
  if (grade === 'ok') return 'works';
  return BY_ADVICE.find(([pattern]) => pattern.test(advice ?? ''))?.[1] ?? 'other';
}

export interface StepResult {
  readonly step: StepName;
  /** The worst of its findings. */
  readonly grade: Grade;
  /** Those that are not `ok`, the worst first. */
  readonly faults: readonly (Finding & { readonly kind: FindingKind })[];
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
        faults: worst
          .filter(({ grade }) => grade !== 'ok')
          .map((finding) => ({ ...finding, kind: kindOf(finding) })),
        works: own.filter(({ grade }) => grade === 'ok'),
      },
    ];
  });
}

/** The field to correct first; null: none of the form would help. */
export function fieldToCorrect(
  steps: readonly StepResult[],
): 'password' | 'smtpPassword' | 'imapHost' | 'smtpHost' | null {
  for (const { step, faults } of steps) {
    const fault = faults.find(({ grade }) => grade === 'problem');
    if (fault === undefined || (step !== 'read' && step !== 'send')) continue;
    if (fault.kind === 'logIn') return step === 'read' ? 'password' : 'smtpPassword';
    if (fault.kind === 'access' || fault.kind === 'other') return null;
    return step === 'read' ? 'imapHost' : 'smtpHost';
  }
  return null;
}
