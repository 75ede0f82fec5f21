/**
 * Brings into order what is claimed in this instance's name and not being worked on: after a start, and whenever
 * something could not be stored. The journal decides: an attempt in it was, or may have been, handed over; a claim
 * without one was certainly not, because the journal is written first.
 */
import { ServiceError } from '../core/errors.ts';
import { storeAttempt, toUnseenEnd, type StoreAttemptPorts } from './store-attempt.ts';

/**
 * Goes once over journal and claims. No claim may be asked for meanwhile: it could be taken for a forgotten one.
 *
 * @param isUnderWay whether this process is working on the email right now
 * @returns false when something is left that wants another round
 */
export async function settleClaims(
  ports: StoreAttemptPorts,
  isUnderWay: (emailId: string) => boolean,
): Promise<boolean> {
  let complete = true;
  for await (const { attempt, ended } of ports.attempts.attempts()) {
    const { emailId } = attempt;
    if (isUnderWay(emailId)) continue;
    try {
      await storeAttempt(ports, ended ?? toUnseenEnd(attempt));
      ports.logger.info({ emailId, attempt: attempt.attempt }, 'an attempt from the journal was stored');
    } catch (err) {
      if (err instanceof ServiceError && err.temporary) throw err;
      complete = false;
      ports.logger.error({ err, emailId }, 'an attempt from the journal can not be stored');
    }
  }
  await releaseForgotten(ports, isUnderWay);
  return complete;
}

async function releaseForgotten(
  { queue, attempts, owner, logger }: StoreAttemptPorts,
  isUnderWay: (emailId: string) => boolean,
): Promise<void> {
  for (const ref of await queue.claimsOf(owner)) {
    if (isUnderWay(ref.emailId) || attempts.hasAttempt(ref)) continue;
    // Conditional on the very claim: one that ended while we were reading is not touched.
    await queue.release(owner, ref);
    logger.info({ emailId: ref.emailId }, 'a claim that was never handed over is back in the queue');
  }
}
