/** The use cases of customers that the edges call. */
import type { PageRequest } from '../base/paging.ts';
import type { AccountFilter } from '../base/account-filter.ts';
import type {
  AddressClaim,
  AmbiguousRule,
  CustomerListing,
  CustomerRecord,
  CustomerRegistration,
  DomainClaim,
  Relinked,
} from './customer-ports.ts';
import type { EmailsPage } from '../emails/use-cases.ts';

export interface AddressChange {
  readonly customerId: string;
  readonly address: string;
  readonly act: 'register' | 'remove';
  /** The key that makes the change; null: none. */
  readonly authorKeyId?: string | null;
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
  /** The key that registers it; null: none. */
  readonly authorKeyId?: string | null;
}

export interface AmbiguousClaimsPage {
  readonly claims: readonly AmbiguousRule[];
  /** null on the last page. */
  readonly nextCursor: string | null;
}

export interface AmbiguousEmailsRequest extends PageRequest {
  /** As given; at most one of the two. null: all. */
  readonly address: string | null;
  readonly domain: string | null;
}

export interface CustomersRequest extends PageRequest, Pick<AccountFilter, 'within'> {
  /** As typed; null: all. */
  readonly q: string | null;
}

export interface CustomersPage {
  readonly customers: readonly CustomerListing[];
  /** null on the last page. */
  readonly nextCursor: string | null;
}

export interface CustomerUseCases {
  /** An unknown customer has nothing. `within`: only the mail of these accounts. */
  readCustomer(
    request: { readonly customerId: string } & Pick<AccountFilter, 'within'>,
  ): Promise<CustomerRecord>;
  /** By name, those without one last. Throws `invalid_cursor`. */
  listCustomers(request: CustomersRequest): Promise<CustomersPage>;
  readCustomerRegistration(customerId: string): Promise<CustomerRegistration>;
  /**
   * Replaces everything that is registered for a customer and links past mail by it; what sends taught stays. Throws `invalid_address`,
   * `invalid_domain`, `header_injection`, `public_domain`, `too_many_entries`; for lists that were read `list_incomplete`, and
   * `invalid_request` when an entry differs from what is stored.
   */
  registerCustomer(
    request: RegistrationRequest,
  ): Promise<{ readonly registration: CustomerRegistration; readonly relinked: Relinked }>;
  /**
   * Registers one address, or removes it, registered or learned, so that sends do not teach it again. Throws
   * `invalid_address`, `header_injection`.
   */
  changeCustomerAddress(
    request: AddressChange,
  ): Promise<{ readonly registration: CustomerRegistration; readonly relinked: Relinked }>;
  /** Addresses and domains that several customers claim. Throws `invalid_cursor`. */
  listAmbiguousClaims(request: PageRequest): Promise<AmbiguousClaimsPage>;
  /**
   * Emails that have no customer because several claim them, newest first. Throws `invalid_cursor`, `invalid_request`,
   * `invalid_address`, `invalid_domain`, `header_injection`.
   */
  listAmbiguousEmails(request: AmbiguousEmailsRequest): Promise<EmailsPage>;
}
