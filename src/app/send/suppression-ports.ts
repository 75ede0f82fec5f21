/** The database operations that the list of suppressed addresses needs. */
import type { DigestKey } from '../../core/erase/erased-address.ts';
import type { Suppression, SuppressionReason } from '../../core/delivery/suppression.ts';

/** One change of the list. */
export interface SuppressionChange {
  readonly address: string;
  readonly reason: SuppressionReason;
  readonly since: Date;
  /** False: lifted. */
  readonly active: boolean;
  readonly version: number;
}

export interface SuppressionsQuery {
  /** In the form of deliveryAddressKey. */
  readonly address: string | null;
  readonly reason: SuppressionReason | null;
  readonly limit: number;
  /** `version` of the last entry of the previous page; null for the first page. */
  readonly before: number | null;
}

/** An entry of the list, with its sort key: the newest change comes first. */
export type ListedSuppression = Suppression & { readonly version: number };

/**
 * All throw `ServiceError('database_unavailable')` like `ReportStore`. Addresses are in the form of deliveryAddressKey.
 */
export interface SuppressionStore {
  /** Those of the addresses that are on the list now. */
  findSuppressed(addresses: readonly string[]): Promise<readonly Suppression[]>;
  listSuppressions(query: SuppressionsQuery): Promise<readonly ListedSuppression[]>;
  /** Adds it as `manual`; an address that is on the list for another reason gets this reason. */
  suppress(address: string, note: string | null, keyId?: string | null): Promise<Suppression>;
  /** null when it is not on the list. */
  lift(address: string, keyId?: string | null): Promise<{ readonly liftedAt: Date } | null>;
  /** The key by which erased addresses are recognised; see core/erase/erased-address.ts. */
  readDigestKey(): Promise<DigestKey>;
  /** Everything that changed after that version, in order; at most `limit`. 0 for all changes. */
  changesAfter(version: number, limit: number): Promise<readonly SuppressionChange[]>;
}
