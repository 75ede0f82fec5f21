/**
 * Decides what to ask the server about a mailbox, from the recorded progress and the server's state when it is opened
 * (RFC 9051 §2.3.1.1, RFC 7162). Flags do not matter here, so neither does CONDSTORE's mod-sequence on its own.
 *
 * Two numbers suffice for most: UIDNEXT grows with every arrival, and only expunges make EXISTS grow by less. When both are
 * unchanged, the mailbox contains the very same messages, and nothing more is asked.
 */
import { differenceOf, NO_UIDS, type UidSet } from './uid-set.ts';

/** A mailbox as it was when it was last opened and everything that followed was recorded. */
export interface MailboxProgress {
  /** null: the mailbox was never opened; the other fields then mean nothing. */
  readonly uidValidity: number | null;
  /** null when the server did not report it. */
  readonly uidNext: number | null;
  readonly exists: number;
  /** null without QRESYNC or CONDSTORE. */
  readonly highestModSeq: bigint | null;
  /** Messages that the server received before this day are left out; null: none are. */
  readonly since: Date | null;
}

export const NEVER_OPENED: MailboxProgress = {
  uidValidity: null,
  uidNext: null,
  exists: 0,
  highestModSeq: null,
  since: null,
};

/** The present state of a mailbox on the server. */
export interface ServerState {
  readonly uidValidity: number;
  readonly uidNext: number | null;
  readonly exists: number;
  readonly highestModSeq: bigint | null;
  /** Expunged since `highestModSeq` of the progress; null when the server does not report it. */
  readonly vanished: UidSet | null;
}

/**
 * `nothing`: the mailbox is unchanged. `arrivals`: list the UIDs from `from` on; `gone` are gone. `compare`: list all
 * UIDs and compare them with the known ones, of which there are none when UIDVALIDITY has changed (`newGeneration`).
 */
export type SyncPlan =
  | { readonly kind: 'nothing' }
  | { readonly kind: 'arrivals'; readonly from: number; readonly gone: UidSet }
  | { readonly kind: 'compare'; readonly newGeneration: boolean };

/** `since`: the result of sinceOf. */
export function planSync(known: MailboxProgress, server: ServerState, since: Date | null): SyncPlan {
  if (known.uidValidity !== server.uidValidity) return { kind: 'compare', newGeneration: true };
  const compare: SyncPlan = { kind: 'compare', newGeneration: false };
  if (known.since?.getTime() !== since?.getTime()) return compare;
  if (known.uidNext === null || server.uidNext === null) return compare;
  const given = server.uidNext - known.uidNext;
  // RFC 9051 §2.3.1.1: UIDNEXT never shrinks within a UIDVALIDITY. A server that breaks this can't be trusted with more.
  if (given < 0) return compare;
  // Arrivals are at most `given`, so growth by all of them leaves no room for an expunge.
  const nothingGone = server.exists - known.exists === given;
  if (nothingGone && given === 0) return { kind: 'nothing' };
  if (nothingGone) return { kind: 'arrivals', from: known.uidNext, gone: NO_UIDS };
  if (server.vanished === null) return compare;
  return { kind: 'arrivals', from: known.uidNext, gone: server.vanished };
}

export interface MailboxChanges {
  readonly arrived: UidSet;
  readonly gone: UidSet;
}

/** `known`: the recorded UIDs not known to be gone; `listed`: all UIDs that the server has now. */
export function compareUids(known: UidSet, listed: UidSet): MailboxChanges {
  return { arrived: differenceOf(listed, known), gone: differenceOf(known, listed) };
}

/**
 * The day from which on messages are taken: the earliest that was ever configured, so that known messages do not count
 * as gone when the day is set to a later one.
 */
export function sinceOf(known: MailboxProgress, wanted: Date | null): Date | null {
  if (known.uidValidity === null) return wanted;
  if (known.since === null || wanted === null) return null;
  return known.since < wanted ? known.since : wanted;
}
