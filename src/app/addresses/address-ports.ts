/** Addresses that were seen, as a field for recipients offers them. */
import type { TypedWord } from '../../core/address/typed-address.ts';

export interface AddressesQuery {
  /** At least one. */
  readonly accountIds: readonly string[];
  /** All of them have to fit; none: those that matter most. */
  readonly words: readonly TypedWord[];
  /** Left out, lower-case. */
  readonly ownAddresses: readonly string[];
  readonly limit: number;
}

export interface KnownAddress {
  /** `local@domain`, ASCII letters lower-case. */
  readonly address: string;
  /** The newest one that can be believed; empty when there is none. */
  readonly name: string;
  /** By the rules for its address; null when no customer has it, or several have. */
  readonly customerId: string | null;
  readonly customerName: string | null;
  /** An email went to it from here. */
  readonly isWrittenTo: boolean;
  /** Of the newest email that speaks of it. */
  readonly lastAt: Date;
  /** Nothing is sent to it. */
  readonly isSuppressed: boolean;
}

/** Throws `ServiceError('database_unavailable')`. */
export interface KnownAddresses {
  /** In one round trip: those first that were used lately, often, and written to. */
  complete(query: AddressesQuery): Promise<readonly KnownAddress[]>;
}
