/** The database operations that erasing a person needs. */

/** The kinds of things that are erased. */
export const ERASED_KINDS = [
  'emails',
  'files',
  'drafts',
  'customer_rules',
  'suppressions',
  'unsubscribes',
  'quarantined',
  'decisions',
  'idempotency_keys',
  'events',
  'webhook_deliveries',
] as const;
export type ErasedKind = (typeof ERASED_KINDS)[number];

export type Erased = Readonly<Record<ErasedKind, number>>;

/** The record of an erasure: no content, and no address. */
export interface Erasure {
  readonly id: string;
  readonly requestedAt: Date;
  /** The author of the request. */
  readonly requestedBy: string;
  /** null when an address was named. */
  readonly customerId: string | null;
  /** The account that was deleted with its mail; null: a person is erased. */
  readonly accountId: string | null;
  /** null while it is under way. */
  readonly finishedAt: Date | null;
  /** Nothing is left but emails that are being sent: it goes on once they are. */
  readonly isWaiting: boolean;
  /** The counts so far. */
  readonly erased: Erased;
}

export interface ErasureRequest {
  readonly id: string;
  readonly requestedBy: string;
  /** In lower case; null for a customer. */
  readonly address: string | null;
  readonly customerId: string | null;
  /** The addresses of accounts, in lower case: never erased with a customer. */
  readonly ownAddresses: readonly string[];
}

/** An erasure that this process works on, until its lease ends. */
export interface ClaimedErasure {
  readonly id: string;
  readonly owner: string;
  /** In lower case. */
  readonly addresses: readonly string[];
  readonly customerId: string | null;
  /** null: a person is erased. */
  readonly accountId: string | null;
  /** Identifiers of customers that had the address; empty when a customer is erased. */
  readonly candidates: readonly string[];
}

/** `more`: call it again. `waits`: an email is being sent at this moment, or events are being
 * numbered. `done`: nothing of the kind is left. */
export type ErasureStep = 'more' | 'waits' | 'done';

/**
 * Each step is one transaction, which adds what it erased to the record of the erasure and renews the lease; it may be
 * repeated. Throws `ServiceError('database_unavailable')`, and `LeaseEnded` when another process took over.
 */
export interface ErasureStore {
  request(request: ErasureRequest): Promise<Erasure>;
  read(id: string): Promise<Erasure | null>;
  /** What an erasure would erase; nothing is changed. */
  check(request: ErasureRequest): Promise<Erased>;
  /** An erasure that no process works on; null for none. */
  claim(owner: string): Promise<ClaimedErasure | null>;
  /** Erases some of the person's emails, each with everything that `DeletionStore` deletes. */
  eraseEmails(erasure: ClaimedErasure): Promise<ErasureStep>;
  /** Erases rules of customers, suppressions, drafts, and messages that were set aside. */
  eraseRecords(erasure: ClaimedErasure): Promise<void>;
  /** Erases the data in events about these emails and addresses. */
  eraseEvents(erasure: ClaimedErasure): Promise<ErasureStep>;
  /** Also forgets the address. */
  finish(erasure: ClaimedErasure): Promise<void>;
  /** Another process, or this one, may continue at once. */
  release(erasure: ClaimedErasure): Promise<void>;
}

export class LeaseEnded extends Error {}
