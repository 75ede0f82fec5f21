/** `client.blockedSenders` */
import type { RequestOptions } from '../options.ts';
import type { Pages } from '../pages.ts';
import { plain, segment, type Transport } from '../transport.ts';
import type { BlockedSender, BlockedSenderFilter, BlockRequest, QueryOf } from '../types.ts';

/** Senders whose mail is recorded as spam. */
export class BlockedSenders {
  readonly #transport: Transport;

  /** @internal */
  constructor(transport: Transport) {
    this.#transport = transport;
  }

  /** One that is blocked already stays as it is. */
  block(request: BlockRequest, options: RequestOptions = {}): Promise<BlockedSender> {
    return this.#transport.json({ ...options, repeatable: true }, (attempt) =>
      this.#transport.api.POST('/api/blocked-senders', { ...attempt, body: plain(request) }),
    );
  }

  /** The newest first. */
  list(filter: BlockedSenderFilter = {}, options: RequestOptions = {}): Pages<BlockedSender> {
    return this.#transport.pages(
      filter,
      options,
      (attempt, query: QueryOf<'listBlockedSenders'>) =>
        this.#transport.api.GET('/api/blocked-senders', { ...attempt, params: { query } }),
      (data) => data.blocked_senders,
    );
  }

  /** Threads that are spam stay spam. @param id of the entry */
  async unblock(id: string, options: RequestOptions = {}): Promise<BlockedSender> {
    const path = { id: segment('id', id) };
    return this.#transport.json({ ...options, repeatable: false }, (attempt) =>
      this.#transport.api.DELETE('/api/blocked-senders/{id}', { ...attempt, params: { path } }),
    );
  }
}
