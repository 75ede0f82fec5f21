/**
 * Settles the claims of this instance that are not being worked on: after a start, and whenever something could not be
 * stored. The journal decides: an attempt in it was, or may have been, handed over; a claim without one certainly was
 * not, because the journal is written first. One exception: a claim that this process gave up itself was not handed
 * over, although its attempt is in the journal.
 */
import { ServiceError } from '../../core/errors.ts';
import type { HeldClaims } from './held-claims.ts';
import type { ClaimRef } from './queue-ports.ts';
import { storeAttempt, toUnseenEnd, type StoreAttemptPorts } from './store-attempt.ts';

/**
 * Goes once over journal and claims. No claim may be asked for meanwhile: it could be taken for a forgotten one.
 *
 * @param isFirst this process has not claimed anything yet: every claim is from a process before it
 * @returns false when something is left that wants another round
 */
export async function settleClaims(
  ports: StoreAttemptPorts,
  held: HeldClaims,
  isFirst: boolean,
): Promise<boolean> {
  let complete = true;
  for await (const { attempt, ended } of ports.attempts.attempts()) {
    const phase = held.phaseOf(attempt);
    if (phase === 'under way') continue;
    if (phase === 'given up') {
      await giveBack(ports, held, attempt);
      continue;
    }
    const { emailId } = attempt;
    try {
      await storeAttempt(ports, ended ?? toUnseenEnd(attempt));
      ports.logger.info({ emailId, attempt: attempt.attempt }, 'an attempt from the journal was stored');
    } catch (err) {
      if (err instanceof ServiceError && err.temporary) throw err;
      complete = false;
      ports.logger.error({ err, emailId }, 'an attempt from the journal can not be stored');
    }
  }
  for (const ref of await ports.queue.claimsOf(ports.owner)) await settleClaim(ports, held, ref, isFirst);
  return complete;
}

async function settleClaim(
  ports: StoreAttemptPorts,
  held: HeldClaims,
  ref: ClaimRef,
  isFirst: boolean,
): Promise<void> {
  const { queue, attempts, owner, logger } = ports;
  const phase = held.phaseOf(ref);
  if (phase === 'given up') {
    await giveBack(ports, held, ref);
    return;
  }
  if (phase === 'under way' || attempts.hasAttempt(ref)) return;
  // Forgotten: claimed by a process before this one, or the answer to the claim was lost.
  if (await queue.release(owner, ref, { evenBegun: isFirst })) {
    logger.info({ emailId: ref.emailId }, 'a claim that was never handed over is back in the queue');
  }
}

/**
 * Gives back a claim that its run has given up: the journal first, so that a process that dies in between leaves a claim
 * without an attempt. May be repeated.
 */
export async function giveBack(ports: StoreAttemptPorts, held: HeldClaims, ref: ClaimRef): Promise<void> {
  await ports.attempts.removeAttempt(ref);
  await ports.queue.release(ports.owner, ref, { evenBegun: true });
  held.end(ref);
}
