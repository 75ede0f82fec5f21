/** `client.retention` */
import type { RequestOptions } from '../options.ts';
import { plain, type Transport } from '../transport.ts';
import type { Retention as RetentionState, RetentionConfirmation, Schemas } from '../types.ts';

/** What is deleted because it is kept no longer. */
export class Retention {
  readonly #transport: Transport;

  /** @internal */
  constructor(transport: Transport) {
    this.#transport = transport;
  }

  /** What is due, and what may be deleted in this hour. */
  async get(options: RequestOptions = {}): Promise<RetentionState> {
    return this.#transport.json({ ...options, repeatable: true }, (attempt) =>
      this.#transport.api.GET('/api/retention', attempt),
    );
  }

  /** Lets that many emails go at once, for good. With `dry_run` nothing changes. */
  async confirm(
    { dry_run = false, ...request }: RetentionConfirmation & { readonly dry_run?: boolean },
    options: RequestOptions = {},
  ): Promise<RetentionState> {
    const body = plain<Schemas['RetentionConfirmation']>(request);
    return this.#transport.json({ ...options, repeatable: false }, (attempt) =>
      this.#transport.api.POST('/api/retention/confirm', {
        ...attempt,
        params: { query: { dry_run } },
        body,
      }),
    );
  }
}
