/** The database operations that the customers' rules need. */
import type { CustomerName } from '../../core/customer/customer-name.ts';
import type { CustomerRules } from '../../core/customer/rules.ts';
import type { EmailPage } from '../emails/email-ports.ts';

/**
 * The current effect of a customer's rule. `decides`: it gives mail to its customer. `ambiguous`: another customer has
 * the same rule, so neither decides. `overruled`: another customer's rule for the address was set by hand, this one was
 * learned.
 */
export type ClaimStatus = 'decides' | 'ambiguous' | 'overruled';

interface ClaimView {
  readonly status: ClaimStatus;
  /** Other customers with the same claim, at most 20. */
  readonly otherCustomerIds: readonly string[];
}

export interface AddressClaim extends ClaimView {
  readonly address: string;
  /** Set by hand, or learned from a send. */
  readonly origin: 'registered' | 'learned';
  /** The accounts in which it counts, when only sends of keys that are limited to accounts taught it; null: all. */
  readonly accountIds: readonly string[] | null;
}

export interface DomainClaim extends ClaimView {
  /** `example.org`, or `*.example.org`. */
  readonly domain: string;
}

/** Everything that is registered for a customer. */
export interface CustomerRegistration {
  /** null: none was given. */
  readonly name: string | null;
  readonly companyId: string | null;
  /** Those set by hand first, then by address. */
  readonly addresses: readonly AddressClaim[];
  readonly domains: readonly DomainClaim[];
  /** False: there are more learned addresses than listed. */
  readonly isComplete: boolean;
}

export interface AddressChange {
  readonly customerId: string;
  readonly address: string;
  readonly act: 'register' | 'remove';
}

/** The registration to make for a customer, as given. */
export interface RegistrationRequest {
  /** UUIDs, lower-case. */
  readonly customerId: string;
  /** undefined: unchanged. */
  readonly name: string | null | undefined;
  /** undefined: unchanged. */
  readonly companyId: string | null | undefined;
  /** New ones as text; claims as they were read. */
  readonly addresses: readonly (string | AddressClaim)[];
  readonly domains: readonly (string | DomainClaim)[];
  /** What the answer said that the lists were read from; null: the caller does not say. */
  readonly isComplete: boolean | null;
  /** Of If-Match, and of the answer that is given back; null: any version. */
  readonly versions: readonly (number | null)[];
}

/** A customer with everything that is known of it. */
export interface CustomerRecord extends CustomerRegistration {
  /** Listed emails and threads; each counted up to MAX_COUNTED. */
  readonly counts: {
    readonly emailsInbound: number;
    readonly emailsOutbound: number;
    readonly threadsOpen: number;
    readonly threadsDone: number;
  };
  /** The dates of its first and newest email; dates in the future do not count as activity. null: none. */
  readonly firstActivityAt: Date | null;
  readonly lastActivityAt: Date | null;
}

/** Emails or threads that are counted for one customer: above it, a page shows "more", and the count stays cheap. */
export const MAX_COUNTED = 10_000;

/** A customer in a list. */
export interface CustomerListing {
  readonly customerId: string;
  readonly name: string | null;
  readonly companyId: string | null;
  /** null: it has no email. */
  readonly lastActivityAt: Date | null;
}

/** The place of a customer in the list: by name, those without one last. */
export interface CustomerPlace {
  readonly isUnnamed: boolean;
  readonly nameKey: string;
  readonly customerId: string;
}

export interface CustomersQuery {
  /** Only customers with mail of these accounts; null: all. */
  readonly within: readonly string[] | null;
  /** null: all. */
  readonly search: CustomerSearch | null;
  readonly limit: number;
  readonly after: CustomerPlace | null;
}

export interface CustomerSearch {
  /** A `tsquery` that the words of a name have to match. Empty: no name can match. */
  readonly words: string;
  /** The beginning of an address or domain, normalised. */
  readonly beginning: string;
}

/** Emails whose customer has changed. */
export interface Relinked {
  readonly linked: number;
  readonly moved: number;
  readonly unlinked: number;
}

/** An address or a domain that is registered for, or was learned for, several customers with equal right. */
export interface AmbiguousRule extends RuleKey {
  /** At most 20. */
  readonly customerIds: readonly string[];
  readonly customerCount: number;
  /** Emails that have no customer because of it. Counted up to 10,000. */
  readonly emailCount: number;
}

/** The key that identifies a rule. */
export interface RuleKey {
  readonly kind: 'address' | 'domain';
  /** Normalised. */
  readonly value: string;
}

export interface AmbiguousEmailsQuery {
  /** null: any rule. */
  readonly rule: RuleKey | null;
  readonly limit: number;
  /** Where the previous page ended; null for the first. */
  readonly after: { readonly date: Date; readonly id: string } | null;
}

export interface ReplaceOptions {
  /** The key that makes the change; null: none. */
  readonly keyId: string | null;
  /** Called with what is registered, before anything changes; nothing does when it throws. */
  readonly check: (stored: CustomerRegistration) => void;
}

/** Throws `ServiceError('database_unavailable')` when the database can't be reached or does not answer in time. */
export interface CustomerStore {
  /** An unknown customer has nothing registered. */
  readRegistration(customerId: string): Promise<CustomerRegistration>;
  /**
   * From now on exactly these rules are registered for the customer, and past mail is linked by them; all or nothing.
   * What sends taught stays.
   *
   * @param companyId undefined: unchanged
   * @param name undefined: unchanged
   */
  replaceRegistration(
    customerId: string,
    rules: CustomerRules,
    companyId: string | null | undefined,
    name: CustomerName | null | undefined,
    options?: ReplaceOptions,
  ): Promise<Relinked>;
  /**
   * Registers one address, or removes it, registered or learned, so that it is not learned again. Past mail is linked by
   * it; all or nothing.
   */
  changeAddress(
    customerId: string,
    address: string,
    act: 'register' | 'remove',
    keyId?: string | null,
  ): Promise<Relinked>;
  /** In one round trip. With `within`, only the mail of these accounts; registrations belong to no account. */
  readCustomer(customerId: string, within: readonly string[] | null): Promise<CustomerRecord>;
  /** By name, at most `limit`. */
  listCustomers(query: CustomersQuery): Promise<readonly (CustomerListing & CustomerPlace)[]>;
  /** Addresses before domains, each by value; at most `limit`. */
  listAmbiguous(after: RuleKey | null, limit: number): Promise<readonly AmbiguousRule[]>;
  /** Newest first, at most `limit`. */
  listAmbiguousEmails(query: AmbiguousEmailsQuery): Promise<EmailPage>;
}

/** Links mail a little later: past mail by rules learned from sends, and emails recorded while rules changed. */
export interface CustomerLinker {
  /** Links some of it; false when nothing is left, or another transaction is changing the rules. */
  linkSome(): Promise<boolean>;
}
