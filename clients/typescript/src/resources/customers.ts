/** `client.customers` */
import type { RequestOptions } from '../options.ts';
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

/** Whose mail it is. Customers are UUIDs of the caller. */
export class Customers {
  readonly #transport: Transport;

  /** @internal */
  constructor(transport: Transport) {
    this.#transport = transport;
  }

  /** By name, those without one last; `q` searches names, addresses and domains. */
  list(filter: CustomerFilter = {}, options: RequestOptions = {}): Pages<CustomerListing> {
    return this.#transport.pages(
      filter,
      options,
      (attempt, query: QueryOf<'listCustomers'>) =>
        this.#transport.api.GET('/api/customers', { ...attempt, params: { query } }),
      (data) => data.customers,
    );
  }

  /** Its name, what is registered for it, counts and activity. An unknown customer has nothing of it. */
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

  /** The addresses and domains that are the customer's, those that sends taught too. */
  async addresses(customerId: string, options: RequestOptions = {}): Promise<CustomerRegistration> {
    const path = { customerId: segment('customerId', customerId) };
    return this.#transport.json({ ...options, repeatable: true }, (attempt) =>
      this.#transport.api.GET('/api/customer/{customerId}/addresses', { ...attempt, params: { path } }),
    );
  }

  /** Replaces everything that is registered; past mail follows before the answer comes. */
  async setAddresses(
    customerId: string,
    registration: CustomerRegistrationRequest,
    options: RequestOptions = {},
  ): Promise<CustomerRegistered> {
    const path = { customerId: segment('customerId', customerId) };
    const body = plain<Schemas['CustomerRegistrationRequest']>(registration);
    return this.#transport.json({ ...options, repeatable: true }, (attempt) =>
      this.#transport.api.PUT('/api/customer/{customerId}/addresses', { ...attempt, params: { path }, body }),
    );
  }

  /** Addresses and domains that several customers claim, so that they decide nothing. */
  ambiguousClaims(filter: PageFilter = {}, options: RequestOptions = {}): Pages<AmbiguousClaim> {
    return this.#transport.pages(
      filter,
      options,
      (attempt, query: QueryOf<'listAmbiguousClaims'>) =>
        this.#transport.api.GET('/api/customers/ambiguous', { ...attempt, params: { query } }),
      (data) => data.claims,
    );
  }

  /** The emails that have no customer for that reason. */
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
