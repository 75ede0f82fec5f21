/** `client.accounts` */
import type { RequestOptions } from '../options.ts';
import type { Transport } from '../transport.ts';
import type { Account } from '../types.ts';

export class Accounts {
  readonly #transport: Transport;

  /** @internal */
  constructor(transport: Transport) {
    this.#transport = transport;
  }

  /** All accounts, with the state of their mailboxes. */
  async list(options: RequestOptions = {}): Promise<readonly Account[]> {
    const { accounts } = await this.#transport.json({ ...options, repeatable: true }, (attempt) =>
      this.#transport.api.GET('/api/accounts', attempt),
    );
    return accounts;
  }
}
