/** Addresses that were seen before, as a recipient field offers them. */
import type { TypedWord } from '../../core/address/typed-address.ts';

export interface AddressesQuery {
  /** At least one. */
  readonly accountIds: readonly string[];
  /** All of them have to match; if empty, the addresses that matter most are returned. */
  readonly words: readonly TypedWord[];
  /** Left out, lower-case. */
  readonly ownAddresses: readonly string[];
  readonly limit: number;
}

export interface KnownAddress {
  /** `local@domain`, ASCII letters lower-case. */
  readonly address: string;
  /** The newest name that can be trusted; empty when there is none. */
  readonly name: string;
  /** By the customer rules for the address; null when no customer has it, or several have. */
  readonly customerId: string | null;
  readonly customerName: string | null;
  /** We have sent an email to it. */
  readonly isWrittenTo: boolean;
  /** The date of the newest email that mentions it. */
  readonly lastAt: Date;
  /** Nothing is sent to it. */
  readonly isSuppressed: boolean;
}

/** All throw `ServiceError('database_unavailable')`. */
export interface KnownAddresses {
  /** In one round trip. Addresses used recently, used often, and written to come first. */
  complete(query: AddressesQuery): Promise<readonly KnownAddress[]>;
}
