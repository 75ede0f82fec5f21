/** The time that a certificate is still valid for. */
import { DAY_MS, formatSeconds } from '../core/durations.ts';
import { ok, problem, warning, type Finding } from './finding.ts';

/** Days before the end at which renewal is due. */
const WARNING_DAYS = 14;

/** @param whose the owner, such as `the certificate of mail.example.com` @param advice what to do when it ends */
export function judgeEnd(whose: string, end: Date, advice: string, now = new Date()): Finding {
  const leftMs = end.getTime() - now.getTime();
  if (leftMs <= 0)
    return problem(`${whose} expired on ${end.toISOString().slice(0, 10)}`, advice, 'certificate_expired');
  const text = `${whose} expires in ${formatSeconds(leftMs / 1000)}`;
  return leftMs < WARNING_DAYS * DAY_MS ? warning(text, advice, 'certificate_expired') : ok(text);
}
