/**
 * Puts claimed sends of this instance back into the queue when they are certainly not being handed over: claims that
 * their run has given up, and forgotten claims, which an earlier process made, or whose answer was lost. A claim with an
 * entry in the journal is not forgotten (settle-journal.ts handles it); one without was never handed over, because the
 * journal is written first.
 */
import type { Logger } from '../../platform/base/basics.ts';
import type { ClaimRef } from './claim.ts';
import type { HeldClaims } from './held-claims.ts';
import type { Journal } from './journal-ports.ts';
import type { SendQueue } from './queue-ports.ts';

export interface SettleClaimsPorts {
  readonly queue: Pick<SendQueue, 'claimsOf' | 'release'>;
  readonly journal: Pick<Journal, 'owner' | 'has' | 'remove'>;
  readonly held: HeldClaims;
  readonly logger: Logger;
}

/**
 * No claim may be requested meanwhile: it could be mistaken for a forgotten one.
 *
 * @param isFirst this process has not claimed anything yet: every claim is from an earlier process
 */
export async function settleClaims(ports: SettleClaimsPorts, isFirst: boolean): Promise<void> {
  const { queue, journal, held, logger } = ports;
  for (const ref of held.givenUp()) await giveBack(ports, ref);
  for (const ref of await queue.claimsOf(journal.owner)) {
    if (held.has(ref) || journal.has(ref)) continue;
    if (await queue.release(journal.owner, ref, { evenBegun: isFirst })) {
      logger.info({ emailId: ref.emailId }, 'a claim without a hand-over is back in the queue');
    }
  }
}

/**
 * Gives back a claim that its run has given up: the journal first, so that a process that dies in between leaves a claim
 * without an attempt. May be repeated.
 */
export async function giveBack({ queue, journal, held }: SettleClaimsPorts, ref: ClaimRef): Promise<void> {
  await journal.remove(ref);
  await queue.release(journal.owner, ref, { evenBegun: true });
  held.end(ref);
}
