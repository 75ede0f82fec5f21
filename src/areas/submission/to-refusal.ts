/** How failures of a send are answered by SMTP. */
import type { ErrorCode } from '../../core/error-registry.ts';
import { ServiceError } from '../../core/errors.ts';
import { RefusedSubmission, type Refusal } from '../../core/submission/refusal.ts';
import type { Logger } from '../../platform/base/basics.ts';

/** RFC 3463 §3.8 and §3.6 for codes that are about something else than the content. */
const STATUSES: Partial<Readonly<Record<ErrorCode, readonly [code: number, status: string]>>> = {
  too_many_recipients: [550, '5.5.3'],
  recipient_suppressed: [550, '5.7.1'],
  invalid_address: [553, '5.1.3'],
  unknown_account: [550, '5.7.1'],
  loop_suspected: [450, '4.4.6'],
  rate_limited: [450, '4.7.0'],
  disk_full: [452, '4.3.1'],
};

const LATER: Refusal = { code: 451, status: '4.3.0', text: 'can not be accepted now, try again later' };

/** Logs what is not the fault of the client. */
export function toRefusal(error: unknown, logger: Pick<Logger, 'warn'>): Refusal {
  if (error instanceof RefusedSubmission) return error.refusal;
  if (!(error instanceof ServiceError)) {
    logger.warn({ err: error }, 'a submitted message could not be accepted; its client keeps it');
    return LATER;
  }
  const { code, temporary, englishText } = error;
  const [reply, status] = STATUSES[code] ?? (temporary ? [LATER.code, LATER.status] : [550, '5.6.0']);
  if (!temporary || reply === 450) return { code: reply, status, text: englishText };
  logger.warn({ err: error }, 'a submitted message could not be accepted; its client keeps it');
  return { ...LATER, code: reply, status };
}
