/**
 * The parts of `Idempotency-Key` besides the send itself: the stored keys, and those that this process works on.
 *
 * A key is claimed before anything of its request is carried out, together with the id that the email will have. It is
 * open until the outcome is stored with it, or until it is released because nothing was tried. An open key that its
 * process no longer works on (after a crash, or when the database became unavailable) is settled by the journal's and the
 * record's evidence about its email; see settle-keys.ts.
 */
import { createActiveSends, type ActiveSends } from './active-sends.ts';
import type { SendOutcome } from './use-cases.ts';

/** A key together with the one request that holds it. */
export interface KeyHold {
  /** 1 to 256 visible ASCII characters. */
  readonly key: string;
  /** The id that the request's email has, or would have had. */
  readonly emailId: string;
  /** The request is for the queue: once its email is recorded, the answer is `queued`, whatever becomes of the email. */
  readonly queued: boolean;
}

/** `taken`: by an earlier request; `outcome` is null unless that request is known to have ended. */
export type ClaimResult =
  | { readonly kind: 'claimed' }
  | { readonly kind: 'taken'; readonly fingerprint: Buffer; readonly outcome: SendOutcome | null };

/** The stored keys. All throw `ServiceError('database_unavailable')` when the database is unavailable. */
export interface IdempotencyKeys {
  /**
   * Takes a free key for a request of this instance, durably; any number of processes may try at the same moment.
   * When it throws, the key may have been taken nevertheless.
   */
  claim(hold: KeyHold, fingerprint: Buffer): Promise<ClaimResult>;
  /** Stores the outcome. Does nothing when the key is not open or is held by another request. */
  complete(hold: KeyHold, outcome: SendOutcome): Promise<void>;
  /** Frees the key. Does nothing when it is not open, is held by another request, or its email is recorded. */
  release(hold: KeyHold): Promise<void>;
  /** The open keys of this instance, those of earlier processes included. */
  listOpen(): Promise<readonly KeyHold[]>;
  /** Deletes up to `limit` expired keys; returns how many. */
  deleteExpired(limit: number): Promise<number>;
}

/**
 * The keys that this process works on. Lost with the process: then the journal and the record have to show what became of
 * them.
 */
export interface KeyWork extends ActiveSends {
  /** Keeps an outcome that could not be stored, and requests settling. */
  keep(hold: KeyHold, outcome: SendOutcome): void;
  /** The outcomes that were kept and not yet forgotten. */
  kept(): readonly { readonly hold: KeyHold; readonly outcome: SendOutcome }[];
  forget(emailId: string): void;
  /** Some key of this instance may be open although no request works on it, or will be when a request ends. */
  needsSettling(): void;
  /** True once after `needsSettling`. */
  takeSettlingRequest(): boolean;
}

export function createKeyWork(): KeyWork {
  const kept = new Map<string, { readonly hold: KeyHold; readonly outcome: SendOutcome }>();
  const { sends, rounds } = createActiveSends();

  return {
    ...sends,
    keep(hold, outcome) {
      kept.set(hold.emailId, { hold, outcome });
      rounds.ask();
    },
    kept: () => [...kept.values()],
    forget: (emailId) => void kept.delete(emailId),
    needsSettling: () => rounds.ask(),
    takeSettlingRequest: () => rounds.take(),
  };
}
