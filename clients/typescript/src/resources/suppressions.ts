/** `client.suppressions` */
import { readVersion, type RequestOptions, type VersionOptions } from '../options.ts';
import type { Pages } from '../pages.ts';
import { plain, segment, type Transport } from '../transport.ts';
import type {
  LiftedSuppression,
  QueryOf,
  Schemas,
  SuppressRequest,
  Suppression,
  SuppressionFilter,
} from '../types.ts';

/** Addresses to which nothing is sent. */
export class Suppressions {
  readonly #transport: Transport;

  /** @internal */
  constructor(transport: Transport) {
    this.#transport = transport;
  }

  list(filter: SuppressionFilter = {}, options: RequestOptions = {}): Pages<Suppression> {
    return this.#transport.pages(
      filter,
      options,
      (attempt, query: QueryOf<'listSuppressions'>) =>
        this.#transport.api.GET('/api/suppressions', { ...attempt, params: { query } }),
      (data) => data.suppressions,
    );
  }

  /** Fails with `suppression_not_found` when the address is not suppressed. */
  async get(address: string, options: RequestOptions = {}): Promise<Suppression> {
    const path = { address: segment('address', address) };
    return this.#transport.json({ ...options, repeatable: true }, (attempt) =>
      this.#transport.api.GET('/api/suppressions/{address}', { ...attempt, params: { path } }),
    );
  }

  async add(
    address: string,
    request: SuppressRequest = {},
    versioned: VersionOptions = {},
  ): Promise<Suppression> {
    const path = { address: segment('address', address) };
    const { header, options } = readVersion(versioned);
    const body = plain<Schemas['SuppressRequest']>(request);
    return this.#transport.json(options, (attempt) =>
      this.#transport.api.PUT('/api/suppressions/{address}', {
        ...attempt,
        params: { path, ...header },
        body,
      }),
    );
  }

  /** Not retried automatically: a repeat fails with `suppression_not_found`. */
  async lift(address: string, versioned: VersionOptions = {}): Promise<LiftedSuppression> {
    const path = { address: segment('address', address) };
    const { header, options } = readVersion(versioned);
    return this.#transport.json({ ...options, repeatable: false }, (attempt) =>
      this.#transport.api.DELETE('/api/suppressions/{address}', { ...attempt, params: { path, ...header } }),
    );
  }
}
