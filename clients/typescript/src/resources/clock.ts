/** `client.clock` */
import type { RequestOptions } from '../options.ts';
import type { Transport } from '../transport.ts';
import type { Clock as ClockState } from '../types.ts';

/** The clocks of the service and of its database. */
export class Clock {
  readonly #transport: Transport;

  /** @internal */
  constructor(transport: Transport) {
    this.#transport = transport;
  }

  /** Both clocks, measured now. */
  async get(options: RequestOptions = {}): Promise<ClockState> {
    return this.#transport.json({ ...options, repeatable: true }, (attempt) =>
      this.#transport.api.GET('/api/clock', attempt),
    );
  }

  /** The time of the database is right after a jump: what waited for it goes on. */
  async confirm(options: RequestOptions = {}): Promise<ClockState> {
    return this.#transport.json({ ...options, repeatable: true }, (attempt) =>
      this.#transport.api.POST('/api/clock/confirm', attempt),
    );
  }
}
