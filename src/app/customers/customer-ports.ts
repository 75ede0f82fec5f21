/** What the customers' rules need from the database. */
import type { CustomerRules } from '../../core/customer/rules.ts';
import type { EmailPage } from '../emails/email-ports.ts';

/**
 * What a rule of a customer does now. `decides`: it gives mail to its customer. `ambiguous`: another customer has the
 * same rule, so neither decides. `overruled`: another customer's rule for the address was set by hand, this one was
 * learned.
 */
export type ClaimStatus = 'decides' | 'ambiguous' | 'overruled';

interface ClaimView {
  readonly status: ClaimStatus;
  /** Other customers that claim the same, at most 20. */
  readonly otherCustomerIds: readonly string[];
}

export interface AddressClaim extends ClaimView {
  readonly address: string;
  /** Set by hand, or taught by a send. */
  readonly origin: 'registered' | 'learned';
}

export interface DomainClaim extends ClaimView {
  /** `example.org`, or `*.example.org`. */
  readonly domain: string;
}

/** Everything that is registered for a customer. */
export interface CustomerRegistration {
  readonly companyId: string | null;
  /** Set by hand first, then by address. */
  readonly addresses: readonly AddressClaim[];
  readonly domains: readonly DomainClaim[];
  /** False: there are more learned addresses than are listed. */
  readonly isComplete: boolean;
}

/** Emails whose customer is another one than before. */
export interface Relinked {
  readonly linked: number;
  readonly moved: number;
  readonly unlinked: number;
}

/** An address or a domain that several customers claim with equal right. */
export interface AmbiguousClaim extends ClaimKey {
  /** At most 20. */
  readonly customerIds: readonly string[];
  readonly customerCount: number;
  /** Emails that have no customer because of it. Counted up to 10,000. */
  readonly emailCount: number;
}

export interface ClaimKey {
  readonly kind: 'address' | 'domain';
  /** Normalised. */
  readonly value: string;
}

export interface AmbiguousEmailsQuery {
  /** null: whatever makes them ambiguous. */
  readonly claim: ClaimKey | null;
  readonly limit: number;
  /** Where the page before ended; null for the first. */
  readonly after: { readonly date: Date; readonly id: string } | null;
}

/** Throws `ServiceError('database_unavailable')` when the database can't be reached or does not answer in time. */
export interface CustomerStore {
  /** An unknown customer has nothing registered. */
  readRegistration(customerId: string): Promise<CustomerRegistration>;
  /**
   * From now on the customer has exactly these rules, and past mail is linked by them; all or nothing. A former rule
   * that is not among them, learned or not, is not learned again.
   *
   * @param keyId the key that does it; null: none
   */
  replaceRegistration(
    customerId: string,
    rules: CustomerRules,
    companyId: string | null,
    keyId?: string | null,
  ): Promise<Relinked>;
  /** Addresses before domains, each by value; at most `limit`. */
  listAmbiguous(after: ClaimKey | null, limit: number): Promise<readonly AmbiguousClaim[]>;
  /** Newest first, at most `limit`. */
  listAmbiguousEmails(query: AmbiguousEmailsQuery): Promise<EmailPage>;
}

/** What sends taught, and what was recorded while rules changed, linked a little later. */
export interface CustomerLinker {
  /** Links some of it; false when nothing is left. */
  linkSome(): Promise<boolean>;
}
