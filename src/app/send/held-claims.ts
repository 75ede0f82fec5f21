/**
 * The claims that this process has, by the claim's own id: two claims of one email are two entries, whatever became of the
 * first.
 *
 * A claim is under way from the moment it is made until its outcome is stored or in the journal, or until it is given up.
 * It is given up only by the run that works on it, before the first byte, and never taken up again; it stays here until
 * the database has it back. Nothing else may release a claim that is here.
 */
import type { ClaimRef } from './queue-ports.ts';

type ClaimId = Pick<ClaimRef, 'claimId'>;

export interface HeldClaims {
  begin(ref: ClaimId): void;
  giveUp(ref: ClaimId): void;
  /** The claim belongs to the journal now, or is free again. */
  end(ref: ClaimId): void;
  phaseOf(ref: ClaimId): ClaimPhase | null;
}

export type ClaimPhase = 'under way' | 'given up';

export function createHeldClaims(): HeldClaims {
  const phases = new Map<string, ClaimPhase>();
  return {
    begin: ({ claimId }) => void phases.set(claimId, 'under way'),
    giveUp: ({ claimId }) => void phases.set(claimId, 'given up'),
    end: ({ claimId }) => void phases.delete(claimId),
    phaseOf: ({ claimId }) => phases.get(claimId) ?? null,
  };
}
