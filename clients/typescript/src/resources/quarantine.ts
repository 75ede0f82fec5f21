/** `client.quarantine` */
import type { RequestOptions } from '../options.ts';
import type { Pages } from '../pages.ts';
import { segment, type Transport } from '../transport.ts';
import type { AccountFilter, QuarantinedMessage, QueryOf } from '../types.ts';

/** Messages of mailboxes that could not be taken so far. */
export class Quarantine {
  readonly #transport: Transport;

  /** @internal */
  constructor(transport: Transport) {
    this.#transport = transport;
  }

  /** Newest first. */
  list(filter: AccountFilter = {}, options: RequestOptions = {}): Pages<QuarantinedMessage> {
    return this.#transport.pages(
      filter,
      options,
      (attempt, query: QueryOf<'listQuarantine'>) =>
        this.#transport.api.GET('/api/quarantine', { ...attempt, params: { query } }),
      (data) => data.messages,
    );
  }

  /** Tries one message again now; the answer arrives before the try. */
  async retry(id: string, options: RequestOptions = {}): Promise<QuarantinedMessage> {
    const path = { id: segment('id', id) };
    return this.#transport.json({ ...options, repeatable: true }, (attempt) =>
      this.#transport.api.POST('/api/quarantine/{id}/retry', { ...attempt, params: { path } }),
    );
  }
}
