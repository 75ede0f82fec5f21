/**
 * A claim is the right of one process to hand an email over once. A direct send, for which its caller waits, is claimed
 * from the start by the process that received the request: its entry in the journal is the claim, and no other process
 * knows of the email. A queued send is claimed by its row in the database.
 */

/** Identifies one claim. */
export interface ClaimRef {
  readonly emailId: string;
  /**
   * UUID of the claim: no other claim ever has it, whatever has happened to the email since. The database makes it; that
   * of a direct send is the email's own.
   */
  readonly claimId: string;
  /**
   * The number of its attempt, from 1. A claim that was given back does not count: the next one gets its number again.
   */
  readonly attempt: number;
}

/** The fields that distinguish a claim from all others. */
export type ClaimKey = Pick<ClaimRef, 'emailId' | 'claimId'>;

/** The claim of a direct send, which is always the first. */
export const directClaim = (emailId: string): ClaimRef => ({ emailId, claimId: emailId, attempt: 1 });

export const isDirect = ({ emailId, claimId }: ClaimKey): boolean => claimId === emailId;
