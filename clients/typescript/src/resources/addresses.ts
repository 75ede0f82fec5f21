/** `client.addresses` */
import type { RequestOptions } from '../options.ts';
import { plain, type Transport } from '../transport.ts';
import type { AddressFilter, KnownAddress, QueryOf } from '../types.ts';

/** Addresses that mail came from or was sent to. */
export class Addresses {
  readonly #transport: Transport;

  /** @internal */
  constructor(transport: Transport) {
    this.#transport = transport;
  }

  /** The suggestions of a recipient field for `q`, the best first. */
  async complete(filter: AddressFilter = {}, options: RequestOptions = {}): Promise<readonly KnownAddress[]> {
    const query = plain<QueryOf<'completeAddresses'>>(filter);
    const { addresses } = await this.#transport.json({ ...options, repeatable: true }, (attempt) =>
      this.#transport.api.GET('/api/addresses', { ...attempt, params: { query } }),
    );
    return addresses;
  }
}
