/** `client.unsubscribes` */
import type { RequestOptions } from '../options.ts';
import type { Pages } from '../pages.ts';
import { segment, type Transport } from '../transport.ts';
import type { QueryOf, Unsubscribe, UnsubscribeFilter } from '../types.ts';

/** Lists that recipients have left. */
export class Unsubscribes {
  readonly #transport: Transport;

  /** @internal */
  constructor(transport: Transport) {
    this.#transport = transport;
  }

  list(filter: UnsubscribeFilter = {}, options: RequestOptions = {}): Pages<Unsubscribe> {
    return this.#transport.pages(
      filter,
      options,
      (attempt, query: QueryOf<'listUnsubscribes'>) =>
        this.#transport.api.GET('/api/unsubscribes', { ...attempt, params: { query } }),
      (data) => data.unsubscribes,
    );
  }

  /** Not retried automatically: a repeat fails with `unsubscribe_not_found`. */
  async remove(id: string, options: RequestOptions = {}): Promise<Unsubscribe> {
    const path = { id: segment('id', id) };
    return this.#transport.json({ ...options, repeatable: false }, (attempt) =>
      this.#transport.api.DELETE('/api/unsubscribes/{id}', { ...attempt, params: { path } }),
    );
  }
}
