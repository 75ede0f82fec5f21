/** `client.customers` */
import { readVersion, type RequestOptions, type VersionOptions } from '../options.ts';
import type { Pages } from '../pages.ts';
import { plain, segment, type Transport } from '../transport.ts';
import type {
  AmbiguousClaim,
  AmbiguousEmailFilter,
  Customer,
  CustomerEmailFilter,
  CustomerFilter,
  CustomerListing,
  CustomerRegistered,
  CustomerRegistration,
  CustomerRegistrationRequest,
  Email,
  EmailListing,
  PageFilter,
  QueryOf,
  Schemas,
} from '../types.ts';

/** The customers of emails and threads. Customers are UUIDs of the caller. */
export class Customers {
  readonly #transport: Transport;

  /** @internal */
  constructor(transport: Transport) {
    this.#transport = transport;
  }

  /** Sorted by name, customers without one last; `q` searches names, addresses and domains. */
  list(filter: CustomerFilter = {}, options: RequestOptions = {}): Pages<CustomerListing> {
    return this.#transport.pages(
      filter,
      options,
      (attempt, query: QueryOf<'listCustomers'>) =>
        this.#transport.api.GET('/api/customers', { ...attempt, params: { query } }),
      (data) => data.customers,
    );
  }

  /** The customer's name, registered addresses and domains, counts and activity. For an unknown customer all of these are empty. */
  async get(customerId: string, options: RequestOptions = {}): Promise<Customer> {
    const path = { customerId: segment('customerId', customerId) };
    return this.#transport.json({ ...options, repeatable: true }, (attempt) =>
      this.#transport.api.GET('/api/customer/{customerId}', { ...attempt, params: { path } }),
    );
  }

  /** Newest first. */
  emails(customerId: string, filter: CustomerEmailFilter = {}, options: RequestOptions = {}): Pages<Email> {
    const path = { customerId: segment('customerId', customerId) };
    return this.#transport.pages(
      { ...filter, since: toText(filter.since), until: toText(filter.until) },
      options,
      (attempt, query: QueryOf<'listCustomerEmails'>) =>
        this.#transport.api.GET('/api/customer/{customerId}/emails', { ...attempt, params: { path, query } }),
      (data) => data.emails,
    );
  }

  /** The customer's addresses and domains, including those learned from sends. */
  async addresses(customerId: string, options: RequestOptions = {}): Promise<CustomerRegistration> {
    const path = { customerId: segment('customerId', customerId) };
    return this.#transport.json({ ...options, repeatable: true }, (attempt) =>
      this.#transport.api.GET('/api/customer/{customerId}/addresses', { ...attempt, params: { path } }),
    );
  }

  /** Registers one address; past mail is reassigned before the answer arrives. */
  async addAddress(
    customerId: string,
    address: string,
    options: RequestOptions = {},
  ): Promise<CustomerRegistered> {
    const path = { customerId: segment('customerId', customerId) };
    return this.#transport.json({ ...options, repeatable: true }, (attempt) =>
      this.#transport.api.POST('/api/customer/{customerId}/addresses', {
        ...attempt,
        params: { path },
        body: { address },
      }),
    );
  }

  /** Removes one address, registered or learned; sends do not teach it again. */
  async removeAddress(
    customerId: string,
    address: string,
    options: RequestOptions = {},
  ): Promise<CustomerRegistered> {
    const path = { customerId: segment('customerId', customerId), address: segment('address', address) };
    return this.#transport.json({ ...options, repeatable: true }, (attempt) =>
      this.#transport.api.DELETE('/api/customer/{customerId}/addresses/{address}', {
        ...attempt,
        params: { path },
      }),
    );
  }

  /**
   * Replaces all registered addresses and domains, not what sends taught; past mail is reassigned before the answer arrives. Data that was
   * read can be given back with its `version`: fails with `customer_changed` when it was changed since.
   */
  async setAddresses(
    customerId: string,
    registration: CustomerRegistrationRequest,
    versioned: VersionOptions = {},
  ): Promise<CustomerRegistered> {
    const path = { customerId: segment('customerId', customerId) };
    const { header, options } = readVersion({ version: registration.version, ...versioned });
    const body = plain<Schemas['CustomerRegistrationRequest']>(registration);
    return this.#transport.json(options, (attempt) =>
      this.#transport.api.PUT('/api/customer/{customerId}/addresses', {
        ...attempt,
        params: { path, ...header },
        body,
      }),
    );
  }

  /** Addresses and domains that several customers claim, so that none of them decides. */
  ambiguousClaims(filter: PageFilter = {}, options: RequestOptions = {}): Pages<AmbiguousClaim> {
    return this.#transport.pages(
      filter,
      options,
      (attempt, query: QueryOf<'listAmbiguousClaims'>) =>
        this.#transport.api.GET('/api/customers/ambiguous', { ...attempt, params: { query } }),
      (data) => data.claims,
    );
  }

  /** The emails that have no customer because of such claims. */
  ambiguousEmails(filter: AmbiguousEmailFilter = {}, options: RequestOptions = {}): Pages<EmailListing> {
    return this.#transport.pages(
      filter,
      options,
      (attempt, query: QueryOf<'listAmbiguousEmails'>) =>
        this.#transport.api.GET('/api/customers/ambiguous/emails', { ...attempt, params: { query } }),
      (data) => data.emails,
    );
  }
}

const toText = (moment: string | Date | undefined) =>
  moment instanceof Date ? moment.toISOString() : moment;
