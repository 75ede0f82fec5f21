/**
 * The claims that this process has, by the claim's own id: two claims of one email are two entries, whatever became of
 * the first.
 *
 * A claim is under way from the moment it is made until the journal has forgotten it, or has its outcome for later, or
 * until it is given up. Only the run that works on it gives it up, before the first byte, and a claim given up is never
 * resumed; it stays here until the database has it back. Nothing else may settle or release a claim that is here.
 */
import { createUnderWay } from '../../platform/base/under-way.ts';
import type { ClaimKey, ClaimRef } from './claim.ts';

export interface HeldClaims {
  begin(ref: ClaimRef): void;
  giveUp(ref: ClaimRef): void;
  /** The claim now belongs to the journal, or is free again, or no longer exists. */
  end(key: ClaimKey): void;
  has(key: ClaimKey): boolean;
  givenUp(): readonly ClaimRef[];
  /** Resolves when none is under way. */
  idle(): Promise<void>;
}

export function createHeldClaims(): HeldClaims {
  const underWay = createUnderWay();
  const givenUp = new Map<string, ClaimRef>();

  return {
    begin: ({ claimId }) => underWay.begin(claimId),
    giveUp(ref) {
      givenUp.set(ref.claimId, ref);
      underWay.end(ref.claimId);
    },
    end({ claimId }) {
      givenUp.delete(claimId);
      underWay.end(claimId);
    },
    has: ({ claimId }) => underWay.has(claimId) || givenUp.has(claimId),
    givenUp: () => [...givenUp.values()],
    idle: () => underWay.idle(),
  };
}
