/** What erasing a person needs from the database. */

/** What was erased, by kind. */
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

/** The record of an erasure: no content, and no address. */
export interface Erasure {
  readonly id: string;
  readonly requestedAt: Date;
  /** Who asked for it. */
  readonly requestedBy: string;
  /** null when an address was named. */
  readonly customerId: string | null;
  /** null while it is under way. */
  readonly finishedAt: Date | null;
  /** So far. */
  readonly erased: Readonly<Record<ErasedKind, number>>;
}

export interface ErasureRequest {
  readonly id: string;
  readonly requestedBy: string;
  /** In lower case; null for a customer. */
  readonly address: string | null;
  readonly customerId: string | null;
  /** Of accounts, in lower case: never erased with a customer. */
  readonly ownAddresses: readonly string[];
}

/** An erasure that this process works on, until its lease ends. */
export interface ClaimedErasure {
  readonly id: string;
  readonly owner: string;
  /** In lower case. */
  readonly addresses: readonly string[];
  readonly customerId: string | null;
  /** Customers that had the address, by their identifiers; none for a customer. */
  readonly candidates: readonly string[];
}

/** `more`: call it again. `waits`: an email is being sent at this moment, or events are being
 * numbered. `done`: nothing of the kind is left. */
export type ErasureStep = 'more' | 'waits' | 'done';

/**
 * Each step is one transaction, writes what it erased into the record of the erasure, and renews the lease; it may be repeated. Throws
 * `ServiceError('database_unavailable')`, and `LeaseEnded` when another process took over.
 */
export interface ErasureStore {
  request(request: ErasureRequest): Promise<Erasure>;
  read(id: string): Promise<Erasure | null>;
  /** One that no process works on; null for none. */
  claim(owner: string): Promise<ClaimedErasure | null>;
  /** Some of the emails of the person, all of them with everything that `DeletionStore` deletes. */
  eraseEmails(erasure: ClaimedErasure): Promise<ErasureStep>;
  /** Rules of customers, suppressions, drafts, and what was set aside. */
  eraseRecords(erasure: ClaimedErasure): Promise<void>;
  /** What the feed says of these emails, and of the addresses. */
  eraseEvents(erasure: ClaimedErasure): Promise<ErasureStep>;
  /** The address is forgotten with it. */
  finish(erasure: ClaimedErasure): Promise<void>;
  /** Another process, or this one, may go on at once. */
  release(erasure: ClaimedErasure): Promise<void>;
}

export class LeaseEnded extends Error {}
